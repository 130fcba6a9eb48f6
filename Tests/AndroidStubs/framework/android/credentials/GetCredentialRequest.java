package android.credentials;

import android.os.Bundle;

public final class GetCredentialRequest {
    GetCredentialRequest() {}

    public static final class Builder {
        public Builder(Bundle data) { throw new UnsupportedOperationException(); }
        public Builder addCredentialOption(CredentialOption credentialOption) { throw new UnsupportedOperationException(); }
        public GetCredentialRequest build() { throw new UnsupportedOperationException(); }
    }
}
