// The PIN of the app: a second factor of logins on other devices. It proves no presence, and unlocks nothing on this device. The device
// stores nothing of it; the server counts wrong ones.

package org.sojourn

import java.text.Normalizer

/** The PIN as the server has it: the tries that are left at all logins together, and when it was set, in Unix seconds. */
data class PinStatus(val attemptsLeft: Int, val isLocked: Boolean, val changedAt: Long)

private const val PIN_ROUNDS = 600_000

/** The PIN of this session; null: none is set. */
fun Sojourn.pinStatus(): PinStatus? =
    try {
        pinStatus(call(AccountCall("GET", "/v1/me/pin")))
    } catch (error: SojournException.Refused) {
        if (error.refusal.code != "not_found") throw error
        null
    }

/** Sets a PIN of four characters or more, or another one in place of a forgotten or locked one. The password shows the user. */
fun Sojourn.setPin(pin: String, password: String): PinStatus = setPin(pin, membersOf("password" to password))

/** Sets a PIN, or another one in place of a forgotten or locked one. Asks the user for biometry, once. */
fun Sojourn.setPinByBiometry(pin: String, reason: String = PresencePrompt.REASON): PinStatus {
    val session = living()
    val id = session.gateID ?: throw SojournException.PresenceRequired(PresenceRequirement(listOf("password")))
    val opened = prompt { it.unlock(id, reason) }
    val signed = try {
        storing { assertion(opened, session) }
    } finally {
        opened.close()
    }
    return setPin(pin, membersOf("user_assertion" to signed))
}

/** Changes the PIN with the old one. A wrong old PIN is `refused` with `wrong_pin`, and counts as one at a login. */
fun Sojourn.changePin(old: String, new: String): PinStatus = setPin(new, membersOf("old_pin" to loginMac(old)))

/** Removes the PIN. */
fun Sojourn.removePin() {
    call(AccountCall("DELETE", "/v1/me/pin"))
}

/** What the server gets for a PIN at a login. */
internal fun Sojourn.loginMac(pin: String): String =
    macOf(pin, makesKey = false) ?: throw SojournException.refused("pin_not_set")

private fun Sojourn.setPin(pin: String, proof: Members): PinStatus {
    val mac = macOf(pin, makesKey = true) ?: throw SojournException.refused("pin_not_set")
    return pinStatus(call(AccountCall("PUT", "/v1/me/pin", proof.with("pin" to mac), needsUserItself = true)))
}

private fun pinStatus(answer: HttpAnswer): PinStatus {
    val members = answer.members()
    val left = members.number("attempts_left")
    val isLocked = members.bool("locked")
    val changedAt = members.number("changed_at")
    if (left == null || isLocked == null || changedAt == null) throw SojournException.notAnAnswer(answer)
    return PinStatus(left.toInt(), isLocked, changedAt)
}

/**
 * The MAC of a PIN for this client, user and device: by the secret of a key of the keyring and its own public half, over the PIN
 * stretched by PBKDF2, so that neither this store nor the server's database can test one. Null if the device has no key for it.
 */
private fun Sojourn.macOf(pin: String, makesKey: Boolean): String? {
    val session = living()
    val device = deviceIdentity().deviceID
    val key = storing { if (makesKey) keys.makeKey(KeyName.PIN) else keys.key(KeyName.PIN) } ?: return null
    val typed = prepared(pin)
    val length = typed.codePointCount(0, typed.length)
    if (length < 4 || typed.toByteArray().size > 128) throw SojournException.refused("invalid_pin", "pin")
    val place = "sojourn pin\n${configuration.clientID}\n${session.account.userID}\n$device\n".toByteArray()
    val stretched = stretch(typed, sha256(place), PIN_ROUNDS)
    return storing { base64url(hmac(key.agree(key.publicKey), place + stretched)) }
}

/** The PIN as the server counts it: the digits of every script as those of ASCII, and composed letters (NFC). */
private fun prepared(pin: String): String {
    val text = StringBuilder()
    var at = 0
    while (at < pin.length) {
        val point = pin.codePointAt(at)
        at += Character.charCount(point)
        if (Character.isDigit(point)) text.append(Character.digit(point, 10)) else text.appendCodePoint(point)
    }
    return Normalizer.normalize(text, Normalizer.Form.NFC)
}
