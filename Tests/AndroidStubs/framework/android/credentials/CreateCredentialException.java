package android.credentials;

public class CreateCredentialException extends Exception {
    public static final String TYPE_USER_CANCELED = "android.credentials.CreateCredentialException.TYPE_USER_CANCELED";

    public CreateCredentialException(String type) { throw new UnsupportedOperationException(); }
    public String getType() { throw new UnsupportedOperationException(); }
}
