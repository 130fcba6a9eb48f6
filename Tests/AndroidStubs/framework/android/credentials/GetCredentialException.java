package android.credentials;

public class GetCredentialException extends Exception {
    public static final String TYPE_USER_CANCELED = "android.credentials.GetCredentialException.TYPE_USER_CANCELED";

    public GetCredentialException(String type) { throw new UnsupportedOperationException(); }
    public String getType() { throw new UnsupportedOperationException(); }
}
