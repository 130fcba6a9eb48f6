package android.os;

import androidx.annotation.Nullable;

public final class Looper {
    Looper() {}
    public static Looper getMainLooper() { throw new UnsupportedOperationException(); }
    public static @Nullable Looper myLooper() { throw new UnsupportedOperationException(); }
}
