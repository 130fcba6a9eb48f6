package android.system;

public final class OsConstants {
    public static final int O_RDONLY = 0;

    OsConstants() {}
}
