package android.credentials;

import android.os.Bundle;

public final class CreateCredentialRequest {
    CreateCredentialRequest() {}

    public static final class Builder {
        public Builder(String type, Bundle credentialData, Bundle candidateQueryData) { throw new UnsupportedOperationException(); }
        public CreateCredentialRequest build() { throw new UnsupportedOperationException(); }
    }
}
