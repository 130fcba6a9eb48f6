package android.credentials;

import android.os.Bundle;

public final class CreateCredentialResponse {
    public CreateCredentialResponse(Bundle data) { throw new UnsupportedOperationException(); }
    public Bundle getData() { throw new UnsupportedOperationException(); }
}
