package android.credentials;

public final class GetCredentialResponse {
    public GetCredentialResponse(Credential credential) { throw new UnsupportedOperationException(); }
    public Credential getCredential() { throw new UnsupportedOperationException(); }
}
