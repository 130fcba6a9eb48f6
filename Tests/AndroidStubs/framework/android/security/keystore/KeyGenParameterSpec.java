package android.security.keystore;

import java.security.spec.AlgorithmParameterSpec;

/** The one stand-in that does something: the tests' provider of keys reads it. */
public final class KeyGenParameterSpec implements AlgorithmParameterSpec {
    private final String alias;
    private boolean isAuthenticated;

    private KeyGenParameterSpec(String alias) { this.alias = alias; }
    public String getKeystoreAlias() { return alias; }
    public boolean isUserAuthenticationRequired() { return isAuthenticated; }

    public static final class Builder {
        private final KeyGenParameterSpec spec;

        public Builder(String keystoreAlias, int purposes) { spec = new KeyGenParameterSpec(keystoreAlias); }
        public KeyGenParameterSpec build() { return spec; }
        public Builder setAlgorithmParameterSpec(AlgorithmParameterSpec spec) { return this; }
        public Builder setBlockModes(String... blockModes) { return this; }
        public Builder setDigests(String... digests) { return this; }
        public Builder setEncryptionPaddings(String... paddings) { return this; }
        public Builder setInvalidatedByBiometricEnrollment(boolean invalidateKey) { return this; }
        public Builder setUserAuthenticationParameters(int timeout, int type) { return this; }
        public Builder setUserAuthenticationRequired(boolean required) { spec.isAuthenticated = required; return this; }
    }
}
