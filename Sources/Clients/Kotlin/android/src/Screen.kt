package org.sojourn.android

import android.app.Activity
import android.app.Application
import android.content.Context
import android.os.Bundle
import android.os.Handler
import android.os.Looper
import java.lang.ref.WeakReference
import java.util.concurrent.CopyOnWriteArraySet

/** The screen of the app, as far as a prompt is concerned. */
internal interface Screen {
    /** Whether an activity of the app has the user's attention. Only then can a prompt be answered (rule 18). */
    val isResumed: Boolean

    /** Whether the caller's thread is the one that draws, which a prompt must not block. */
    val isMainThread: Boolean

    /** Calls [observer] once the activity that is resumed now has stopped. */
    fun onStop(observer: () -> Unit): AutoCloseable

    /** Runs [body] on the thread that draws, after so many milliseconds. */
    fun post(delay: Long, body: () -> Unit)
}

/** Follows the activities of an app. An app makes it in `Application.onCreate`, before the first of them. */
internal class ActivityScreen(context: Context) : Screen, Application.ActivityLifecycleCallbacks {
    private class StopObserver(val activity: Activity?, val call: () -> Unit)

    private val handler = Handler(Looper.getMainLooper())
    private val observers = CopyOnWriteArraySet<StopObserver>()
    @Volatile private var resumed = WeakReference<Activity>(null)

    init {
        (context.applicationContext as? Application)?.registerActivityLifecycleCallbacks(this)
    }

    /** The activity that has the user's attention. */
    val activity: Activity? get() = resumed.get()

    override val isResumed get() = activity != null

    override val isMainThread get() = Looper.myLooper() == Looper.getMainLooper()

    override fun onStop(observer: () -> Unit): AutoCloseable {
        val entry = StopObserver(activity, observer)
        observers += entry
        return AutoCloseable { observers -= entry }
    }

    override fun post(delay: Long, body: () -> Unit) {
        handler.postDelayed(Runnable(body), delay)
    }

    override fun onActivityResumed(activity: Activity) {
        resumed = WeakReference(activity)
    }

    override fun onActivityPaused(activity: Activity) {
        if (this.activity === activity) resumed = WeakReference(null)
    }

    override fun onActivityStopped(activity: Activity) {
        for (observer in observers) if (observer.activity === activity) observer.call()
    }

    override fun onActivityCreated(activity: Activity, savedInstanceState: Bundle?) {}

    override fun onActivityStarted(activity: Activity) {}

    override fun onActivitySaveInstanceState(activity: Activity, outState: Bundle) {}

    override fun onActivityDestroyed(activity: Activity) {}
}
