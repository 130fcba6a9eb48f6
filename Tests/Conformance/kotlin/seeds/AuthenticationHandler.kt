// The first Kotlin passage of seed 001, word for word: what an app does with the code of a failed login. Three dots, which are no
// Kotlin, are comments. `KotlinClientTests` compiles it.

package org.sojourn.seeds

import org.sojourn.events.ResultEvent

/** Stands in for `androidx.biometric.BiometricPrompt`, with its numbers. */
object BiometricPrompt {
    const val ERROR_CANCELED = 5
    const val ERROR_LOCKOUT = 7
    const val ERROR_VENDOR = 8
    const val ERROR_LOCKOUT_PERMANENT = 9
    const val ERROR_USER_CANCELED = 10
    const val ERROR_NO_BIOMETRICS = 11
    const val ERROR_NEGATIVE_BUTTON = 13
}

/** What the passage finds around it in an app. */
class AuthenticationHandler {
    fun handle(eventFrameworkEvent: ResultEvent): Int {
        // Begin of the passage.
/**
Biometry errors will be returned with the result of failed logins
(for example SetAuthorisationCodeResultEvent or OfflineLoginResultEvent with StatusType == FAILED).
Because the error is returned by MC they will be delivered trough a SubSystem of MC.
Biometric errors will be returned as an error of Subsystem 802, meaning that
for example androidx.biometric.BiometricPrompt.ERROR_LOCKOUT (7) will be returned as 802000007.

Because biometric errors will never arrive trough another SubSystem
it is safe to just subtract 802000000 from the received code in order to
get the corresponding value of androidx.biometric.BiometricPrompt.
Example when MC returns 802000007:
802000007 - 802000000 = 7 = androidx.biometric.BiometricPrompt.ERROR_LOCKOUT
*/

// or alternatively we can just take the last two digits of the error code and handle it as androidx.biometric.BiometricPrompt error
val biometryError = eventFrameworkEvent.errorCode.toString().takeLast(2).toInt()

when (biometryError) {
BiometricPrompt.ERROR_LOCKOUT -> {
// ...
// Too many failed attempts! Biometry locked! You can either retry with Biometry by unlocking it with your device PIN, or temporarily switch to authentication mode password."
// ...
}
BiometricPrompt.ERROR_NEGATIVE_BUTTON,
BiometricPrompt.ERROR_USER_CANCELED,
BiometricPrompt.ERROR_CANCELED -> {
// ...
// Biometry prompt was canceled. Do you want to change authentication mode to password?"
// ...
}
BiometricPrompt.ERROR_NO_BIOMETRICS -> {
// ...
// Fingerprint is not configured. Do you want to enroll biometry now, or use authentication mode password?"
// ...
}
BiometricPrompt.ERROR_LOCKOUT_PERMANENT -> {
// ...
// Too many failed attempts! Biometry locked! You can either retry with Biometry by unlocking it with your device PIN, or switch to authentication mode password."
// ...
}
BiometricPrompt.ERROR_VENDOR -> {
// ...
// Manufacturer specific error. Do you want to change authentication mode to password?",
// ...
}
}
        // End of the passage.
        return biometryError
    }
}
