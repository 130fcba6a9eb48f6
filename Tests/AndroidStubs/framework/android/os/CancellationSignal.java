package android.os;

public final class CancellationSignal {
    public CancellationSignal() {}
    public void cancel() { throw new UnsupportedOperationException(); }
}
