package android.os;

public class Handler {
    public Handler(Looper looper) { throw new UnsupportedOperationException(); }
    public boolean post(Runnable r) { throw new UnsupportedOperationException(); }
    public boolean postDelayed(Runnable r, long delayMillis) { throw new UnsupportedOperationException(); }
}
