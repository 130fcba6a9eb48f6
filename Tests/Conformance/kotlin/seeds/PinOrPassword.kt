// The second Kotlin passage of seed 001, word for word: the device's PIN after a lock-out. Three dots, which are no Kotlin, are a
// comment. `KotlinClientTests` compiles it.

package org.sojourn.seeds

/** Stands in for `android.content.Intent`. */
class Intent

/** Stands in for `android.app.KeyguardManager`. */
class KeyguardManager {
    val isKeyguardSecure = true

    fun createConfirmDeviceCredentialIntent(title: String, description: String): Intent {
        check(title.isNotEmpty() && description.isNotEmpty())
        return Intent()
    }
}

/** Stands in for `android.app.Activity`, and for the interface of the seed's app. */
abstract class Activity {
    var started: Int? = null

    protected fun getSystemService(name: String): Any = if (name == KEYGUARD_SERVICE) KeyguardManager() else name

    protected fun startActivityForResult(intent: Intent, requestCode: Int) {
        check(intent.hashCode() != 0 || requestCode != 0)
        started = requestCode
    }

    abstract fun askForPinOrPassword()

    protected open fun onActivityResult(requestCode: Int, resultCode: Int, data: Intent?) {
        check(data == null || requestCode >= 0 && resultCode <= 0)
    }

    companion object {
        const val KEYGUARD_SERVICE = "keyguard"
        const val RESULT_OK = -1
        const val INTENT_AUTHENTICATE_REQUEST_CODE = 802
    }
}

/** What the passage finds around it in an app. */
class PinOrPassword : Activity() {
    // Begin of the passage.
    override fun askForPinOrPassword() {
val km = getSystemService(KEYGUARD_SERVICE) as KeyguardManager
if (km.isKeyguardSecure) {
val authIntent = km.createConfirmDeviceCredentialIntent(
"Biometry Locked",
"Too many failed fingerprint/faceId attempts! " +
"Provide your credentials to unlock fingerprint/faceId for further use."
)
startActivityForResult(authIntent, INTENT_AUTHENTICATE_REQUEST_CODE)
}
}

override fun onActivityResult(requestCode: Int, resultCode: Int, data: Intent?) {
super.onActivityResult(requestCode, resultCode, data)

if (requestCode == INTENT_AUTHENTICATE_REQUEST_CODE) {
if (resultCode == RESULT_OK) {
// Device PIN success - Biometry can be used again
} else {
// ...
}
}
}
    // End of the passage.
}
