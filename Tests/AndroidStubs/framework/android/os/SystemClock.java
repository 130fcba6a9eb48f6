package android.os;

public final class SystemClock {
    SystemClock() {}
    public static long elapsedRealtime() { throw new UnsupportedOperationException(); }
}
