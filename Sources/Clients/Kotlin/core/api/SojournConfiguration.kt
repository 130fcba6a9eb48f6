package org.sojourn

import java.util.concurrent.Executor

/** How a session is renewed. A session keeps the way with which it began. */
enum class Renewing {
    /** By a refresh token alone. */
    REFRESH_TOKEN,

    /** By a refresh token that is bound to the device key (RFC 9449). Recommended. */
    BOUND_REFRESH_TOKEN,

    /** By the device key alone (RFC 7523), for a client without the refresh grant. No refresh token is stored. */
    DEVICE_KEY,
}

/**
 * The settings of a [Sojourn]. Times are in seconds.
 *
 * - [server]: the public URL, equal to its `server.issuer`: `https`, or `http` on a loopback address.
 * - [slot]: one user is signed in per slot.
 * - [deviceID]: of the app's own; null: the SDK makes one and keeps it. [deviceName] is for the user's list of devices.
 * - [platform], [appVersion]: each login and each renewal names them.
 * - [language]: of mails to users without a language of their own.
 * - [scope], [resources]: to ask for at a login; null and none: what the client may have.
 * - [mayRenew]: whether this process renews. A second process of the app may leave that to the first.
 * - [patience]: how long one attempt may take. [renewalWait]: how long a call waits for a due renewal with a good token.
 * - [unlockLasts]: how long an unlock lasts; null: until `lock()` or the end of the process.
 * - [presenceFailuresMax]: after how many failures in a row the user is asked how to go on.
 * - [presenceAdvice]: the app's own next step after a failure; null: that of the table.
 * - [readyForUser]: asked before every prompt; false gives the prompt up.
 * - [clearProviderCookies]: called after a login and after a sign-out.
 * - [log]: lines without tokens.
 */
class SojournConfiguration(
    val server: String,
    val clientID: String = "mobile",
    val slot: String = "default",
    val renewal: Renewing = Renewing.BOUND_REFRESH_TOKEN,
    val deviceID: String? = null,
    val deviceName: String? = null,
    val platform: String? = null,
    val appVersion: String? = null,
    val language: String? = null,
    val scope: String? = null,
    val resources: List<String> = emptyList(),
    val mayRenew: Boolean = true,
    val patience: Double = 20.0,
    val renewalWait: Double = 3.0,
    val unlockLasts: Double? = null,
    val presenceFailuresMax: Int = 3,
    val presenceAdvice: (PresenceException, failures: Int) -> PresenceAdvice? = { _, _ -> null },
    val readyForUser: () -> Boolean = { true },
    val clearProviderCookies: () -> Unit = {},
    val log: (String) -> Unit = {},
) {
    /** A name for the storage of this server, client and slot: letters, digits, `-`, `_`, `@`, dots and escapes alone. */
    val storageName: String
        get() {
            val place = server.substringAfter("://").trimEnd('/')
            return fileName("$clientID@${place.lowercase()}") + "/" + fileName(slot)
        }

    private fun fileName(text: String): String = text.toByteArray().mapIndexed { index, byte ->
        val character = byte.toInt().toChar()
        val isPlain = character in 'a'..'z' || character in 'A'..'Z' || character in '0'..'9' || character in "-_@" ||
            character == '.' && index > 0
        if (isPlain) character.toString() else "%%%02X".format(byte)
    }.joinToString("")
}

/**
 * The parts of a platform: its store and its keys, a [gate] for the mode `BIOMETRIC` (null: that mode cannot be used), and what has
 * a default. [background] runs renewals and what sign-outs owe; null: daemon threads of the SDK.
 */
class SojournPlatform(
    val store: SessionStore,
    val keys: DeviceKeyring,
    val gate: PresenceGate? = null,
    val clock: ClientClock = SystemClock(),
    val transport: Transport = UrlTransport(),
    val background: Executor? = null,
)
