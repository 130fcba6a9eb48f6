package android.credentials;

import android.content.Context;
import android.os.CancellationSignal;
import android.os.OutcomeReceiver;
import androidx.annotation.Nullable;
import java.util.concurrent.Executor;

public final class CredentialManager {
    CredentialManager() {}
    public void createCredential(Context context, CreateCredentialRequest request, @Nullable CancellationSignal cancellationSignal, Executor executor, OutcomeReceiver<CreateCredentialResponse, CreateCredentialException> callback) { throw new UnsupportedOperationException(); }
    public void getCredential(Context context, GetCredentialRequest request, @Nullable CancellationSignal cancellationSignal, Executor executor, OutcomeReceiver<GetCredentialResponse, GetCredentialException> callback) { throw new UnsupportedOperationException(); }
}
