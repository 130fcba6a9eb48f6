package android.content;

import android.net.Uri;
import android.os.Bundle;
import androidx.annotation.Nullable;

public class Intent {
    public static final String ACTION_USER_UNLOCKED = "android.intent.action.USER_UNLOCKED";
    public static final String ACTION_VIEW = "android.intent.action.VIEW";
    public static final String CATEGORY_BROWSABLE = "android.intent.category.BROWSABLE";

    public Intent(String action, Uri uri) { throw new UnsupportedOperationException(); }
    public Intent addCategory(String category) { throw new UnsupportedOperationException(); }
    public @Nullable String getAction() { throw new UnsupportedOperationException(); }
    public @Nullable String getDataString() { throw new UnsupportedOperationException(); }
    public Intent putExtras(Bundle extras) { throw new UnsupportedOperationException(); }
}
