package android.app;

public class KeyguardManager {
    KeyguardManager() {}
    public boolean isDeviceSecure() { throw new UnsupportedOperationException(); }
}
