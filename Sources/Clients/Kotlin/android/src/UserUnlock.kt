package org.sojourn.android

import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import android.content.IntentFilter
import android.os.UserManager

/** Whether the user has unlocked the device since it started, and the moment at which that happens. */
internal interface UserUnlock {
    val isUnlocked: Boolean

    fun observe(observer: () -> Unit): AutoCloseable
}

internal class SystemUserUnlock(private val context: Context) : UserUnlock {
    /** Once true, this stays true until the device starts anew. */
    @Volatile private var wasUnlocked = false

    override val isUnlocked: Boolean
        get() {
            if (!wasUnlocked) wasUnlocked = context.getSystemService(UserManager::class.java)?.isUserUnlocked != false
            return wasUnlocked
        }

    override fun observe(observer: () -> Unit): AutoCloseable {
        if (isUnlocked) return AutoCloseable {}
        val receiver = object : BroadcastReceiver() {
            override fun onReceive(context: Context, intent: Intent) = observer()
        }
        context.registerReceiver(receiver, IntentFilter(Intent.ACTION_USER_UNLOCKED))
        return AutoCloseable { context.unregisterReceiver(receiver) }
    }
}
