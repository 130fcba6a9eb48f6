package android.os;

import androidx.annotation.Nullable;

public final class Bundle extends BaseBundle {
    public Bundle() { throw new UnsupportedOperationException(); }
    public void putBinder(@Nullable String key, @Nullable IBinder value) { throw new UnsupportedOperationException(); }
    public void putBundle(@Nullable String key, @Nullable Bundle value) { throw new UnsupportedOperationException(); }
    public void putCharSequence(@Nullable String key, @Nullable CharSequence value) { throw new UnsupportedOperationException(); }
}
