package android.content;

import android.content.pm.PackageManager;
import androidx.annotation.Nullable;
import java.io.File;
import java.util.concurrent.Executor;

public class Context {
    public Context() {}
    public Context getApplicationContext() { throw new UnsupportedOperationException(); }
    public Executor getMainExecutor() { throw new UnsupportedOperationException(); }
    public File getNoBackupFilesDir() { throw new UnsupportedOperationException(); }
    public PackageManager getPackageManager() { throw new UnsupportedOperationException(); }
    public <T> T getSystemService(Class<T> serviceClass) { throw new UnsupportedOperationException(); }
    public @Nullable Intent registerReceiver(BroadcastReceiver receiver, IntentFilter filter) { throw new UnsupportedOperationException(); }
    public void startActivity(Intent intent) { throw new UnsupportedOperationException(); }
    public void unregisterReceiver(BroadcastReceiver receiver) { throw new UnsupportedOperationException(); }
}
