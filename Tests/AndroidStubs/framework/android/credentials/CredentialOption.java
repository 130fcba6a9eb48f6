package android.credentials;

import android.os.Bundle;

public final class CredentialOption {
    CredentialOption() {}

    public static final class Builder {
        public Builder(String type, Bundle credentialRetrievalData, Bundle candidateQueryData) { throw new UnsupportedOperationException(); }
        public CredentialOption build() { throw new UnsupportedOperationException(); }
    }
}
