package android.credentials;

import android.os.Bundle;

public final class Credential {
    public Credential(String type, Bundle data) { throw new UnsupportedOperationException(); }
    public Bundle getData() { throw new UnsupportedOperationException(); }
}
