package org.sojourn.android

import android.content.ActivityNotFoundException
import android.content.Context
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import org.sojourn.SojournException

private const val CUSTOM_TAB_SESSION = "android.support.customtabs.extra.SESSION"

/**
 * Opens the login page of `beginSignIn` in the user's browser, as a tab above the app where the browser has such tabs.
 *
 * The answer comes to the activity with the intent filter of the redirect URI, perhaps in a new process: what the login needs is in
 * the record by then.
 */
fun openLoginPage(context: Context, url: String) {
    val intent = Intent(Intent.ACTION_VIEW, Uri.parse(url)).addCategory(Intent.CATEGORY_BROWSABLE)
    // An empty session asks for a tab; browsers without tabs ignore it.
    intent.putExtras(Bundle().apply { putBinder(CUSTOM_TAB_SESSION, null) })
    try {
        context.startActivity(intent)
    } catch (_: ActivityNotFoundException) {
        throw SojournException.Misconfigured("no_browser", "no app on this device opens web pages")
    }
}

/** The address that the login page has come back with, for `signInByCallback`; null if the intent is another one. */
fun loginCallback(intent: Intent?, redirectURI: String): String? {
    val text = intent?.takeIf { it.action == Intent.ACTION_VIEW }?.dataString ?: return null
    return text.takeIf { it.substringBefore('?').substringBefore('#') == redirectURI }
}
