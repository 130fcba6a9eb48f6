package android.hardware.biometrics;

public class BiometricManager {
    public static final int BIOMETRIC_SUCCESS = 0;

    public interface Authenticators {
        public static final int BIOMETRIC_STRONG = 15;
        public static final int DEVICE_CREDENTIAL = 32768;
    }

    BiometricManager() {}
    @Deprecated
    public int canAuthenticate() { throw new UnsupportedOperationException(); }
    public int canAuthenticate(int authenticators) { throw new UnsupportedOperationException(); }
}
