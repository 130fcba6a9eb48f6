package android.os;

import androidx.annotation.Nullable;

public class BaseBundle {
    BaseBundle() {}
    public @Nullable String getString(String key) { throw new UnsupportedOperationException(); }
    public void putString(@Nullable String key, @Nullable String value) { throw new UnsupportedOperationException(); }
}
