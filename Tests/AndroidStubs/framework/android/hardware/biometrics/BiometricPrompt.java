package android.hardware.biometrics;

import android.content.Context;
import android.content.DialogInterface;
import android.os.CancellationSignal;
import java.util.concurrent.Executor;
import javax.crypto.Cipher;

public class BiometricPrompt {
    BiometricPrompt() {}
    public void authenticate(CancellationSignal cancel, Executor executor, AuthenticationCallback callback) { throw new UnsupportedOperationException(); }
    public void authenticate(CryptoObject crypto, CancellationSignal cancel, Executor executor, AuthenticationCallback callback) { throw new UnsupportedOperationException(); }

    public abstract static class AuthenticationCallback {
        public AuthenticationCallback() {}
        public void onAuthenticationError(int errorCode, CharSequence errString) {}
        public void onAuthenticationSucceeded(AuthenticationResult result) {}
    }

    public static class AuthenticationResult {
        AuthenticationResult() {}
    }

    public static final class CryptoObject {
        public CryptoObject(Cipher cipher) { throw new UnsupportedOperationException(); }
    }

    public static class Builder {
        public Builder(Context context) { throw new UnsupportedOperationException(); }
        public BiometricPrompt build() { throw new UnsupportedOperationException(); }
        public Builder setAllowedAuthenticators(int authenticators) { throw new UnsupportedOperationException(); }
        public Builder setDescription(CharSequence description) { throw new UnsupportedOperationException(); }
        @Deprecated
        public Builder setDeviceCredentialAllowed(boolean allowed) { throw new UnsupportedOperationException(); }
        public Builder setNegativeButton(CharSequence text, Executor executor, DialogInterface.OnClickListener listener) { throw new UnsupportedOperationException(); }
        public Builder setTitle(CharSequence title) { throw new UnsupportedOperationException(); }
    }
}
