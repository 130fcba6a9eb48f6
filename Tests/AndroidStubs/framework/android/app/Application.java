package android.app;

import android.content.Context;
import android.os.Bundle;
import androidx.annotation.Nullable;

public class Application extends Context {
    public interface ActivityLifecycleCallbacks {
        void onActivityCreated(Activity activity, @Nullable Bundle savedInstanceState);
        void onActivityStarted(Activity activity);
        void onActivityResumed(Activity activity);
        void onActivityPaused(Activity activity);
        void onActivityStopped(Activity activity);
        void onActivitySaveInstanceState(Activity activity, Bundle outState);
        void onActivityDestroyed(Activity activity);
    }

    public Application() {}
    public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks callback) { throw new UnsupportedOperationException(); }
}
