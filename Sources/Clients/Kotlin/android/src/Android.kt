// The parts of a session on Android: record and keys in the Keystore, prompts of the framework, the clock that runs in sleep.
//
// Owns: what needs a class of `android.*`. Must not know: what a server's answer means, which is decided in `core`.
// Reading order: Keystore.kt (three answers), SafeFolder.kt, KeystoreStore.kt and KeystoreKeyring.kt, PromptTurn.kt (one prompt),
// BiometricGate.kt, FrameworkPrompts.kt and Screen.kt (the system's side), and for apps LoginBrowser.kt, CredentialPasskeys.kt and
// SojournInterceptor.kt.

package org.sojourn.android

import android.content.Context
import android.os.Build
import android.os.SystemClock
import org.sojourn.ClientClock
import org.sojourn.SojournPlatform
import java.io.File

/**
 * The platform of an app. To be made once, in `Application.onCreate`, before the first activity, so that prompts know the activity
 * is in front.
 *
 * - [name]: of the folder of the session; an app with two sessions has two, such as `configuration.storageName`.
 * - [usePassword]: the text of the button that leaves a prompt, which reports 802000013.
 */
fun android(context: Context, name: String = "default", usePassword: String = "Use the password"): SojournPlatform {
    val app = context.applicationContext ?: context
    // No backup holds this folder.
    val files = SafeFolder(File(app.noBackupFilesDir, "sojourn/$name"))
    val keystore = Keystore()
    val unlock = SystemUserUnlock(app)
    val gate = if (Build.VERSION.SDK_INT < Build.VERSION_CODES.P) null else {
        val screen = ActivityScreen(app)
        val prompts = FrameworkPrompts(app, screen, usePassword)
        BiometricGate(files, keystore, prompts, screen, Build.VERSION.SDK_INT >= Build.VERSION_CODES.R)
    }
    return SojournPlatform(
        KeystoreStore(files, keystore, unlock), KeystoreKeyring(files, keystore, unlock), gate, AndroidClock())
}

/** The clocks of Android. `System.nanoTime` may stand still while the device sleeps. */
internal class AndroidClock : ClientClock {
    override fun wall() = System.currentTimeMillis() / 1000.0

    override fun uptime() = SystemClock.elapsedRealtime() / 1000.0
}
