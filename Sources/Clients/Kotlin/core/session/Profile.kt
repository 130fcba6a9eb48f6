package org.sojourn

import java.util.Base64

/** Fetches the profile of the user, and stores it. */
fun Sojourn.refreshProfile(): Account = stored(call(AccountCall("GET", "/v1/me")))

/** The devices on which the user is signed in, the last seen one first. */
fun Sojourn.devices(): List<Device> {
    val answer = call(AccountCall("GET", "/v1/me/devices"))
    if (answer.members().elements("items") == null) throw SojournException.notAnAnswer(answer)
    return answer.members().objects("items").mapNotNull { item ->
        val id = item.text("device_id") ?: return@mapNotNull null
        Device(
            id, item.text("name"), item.text("platform"), item.text("app_version"), item.number("last_seen_at") ?: 0,
            item.bool("current") ?: false)
    }
}

/** Ends the user's sessions on a device. On this device it is a sign-out. */
fun Sojourn.endDevice(id: String) {
    call(AccountCall("DELETE", "/v1/me/devices/" + escaped(id)))
    if (cache?.loaded?.record?.deviceID == id) leave(isOwing = false)
}

/** Ends all sessions of the user, this one included. */
fun Sojourn.endAllDevices() {
    call(AccountCall("DELETE", "/v1/me/devices"))
    leave(isOwing = false)
}

/** The user's own switch for logins. */
fun Sojourn.loginSettings(): LoginSettings = settings(call(AccountCall("GET", "/v1/me/login-settings")))

/**
 * Switches logins of the user off or on, on all devices. [revokesSessions]: all sessions end as well, this one included. [password]
 * takes the place of the session, because no token works while logins are off at once.
 */
fun Sojourn.setLoginsDisabled(
    isDisabled: Boolean, effective: LoginSettings.Effect = LoginSettings.Effect.IMMEDIATE,
    revokesSessions: Boolean = false, password: String? = null,
): LoginSettings {
    val members = membersOf(
        "logins_disabled" to isDisabled, "effective" to effective.word,
        "revoke_sessions" to if (revokesSessions) true else null)
    val change = AccountCall("PUT", "/v1/me/login-settings", members)
    if (password == null) return settings(call(change))
    val name = current()?.record?.session?.account?.username ?: throw SojournException.NotSignedIn()
    val credentials = Base64.getEncoder().encodeToString("$name:$password".toByteArray())
    val answer = plainAnswer(change.message(server).with("Authorization" to "Basic $credentials"))
    retries.noteAnswer()
    return settings(answer)
}

private fun settings(answer: HttpAnswer): LoginSettings {
    val members = answer.members()
    val isDisabled = members.bool("logins_disabled") ?: throw SojournException.notAnAnswer(answer)
    return LoginSettings(isDisabled, LoginSettings.Effect.entries.firstOrNull { it.word == members.text("effective") })
}

/** Changes the password. The user's sessions on other devices end. */
fun Sojourn.changePassword(old: String, new: String) {
    call(AccountCall("PUT", "/v1/me/password", membersOf("old_password" to old, "new_password" to new)))
}

/** Stores the profile of an answer. If [isRenewing], the next call renews the access token, because it says something else. */
internal fun Sojourn.stored(answer: HttpAnswer, isRenewing: Boolean = false): Account {
    val members = answer.members()
    val userID = members.text("user_id") ?: throw SojournException.notAnAnswer(answer)
    val due = now() - 1
    change { record ->
        val session = record.session
        if (session == null || session.account.userID != userID || session.user == members) return@change null
        val after = session.members.number("refresh_after") ?: due
        val changed = record.with("user" to members)
        if (isRenewing) changed.with("refresh_after" to minOf(after, due)) else changed
    }
    publishState()
    return Account.of(members)
}

// Anonymous users

/**
 * Signs in without a user: the server makes an anonymous one, and [nameAccount] gives it a name later. An anonymous user that is signed
 * in already is returned, and nothing is sent. No login finds the user after a sign-out.
 */
fun Sojourn.signInAnonymously(
    mode: AuthenticationMode = AuthenticationMode.NO, reason: String = PresencePrompt.REASON,
): Account {
    // What hinders the read hinders the login too, unless a login mends it.
    val session = quietly { living() }
    if (session?.account?.isAnonymous == true) return session.account
    val credentials = Credentials(membersOf("anonymous" to true))
    try {
        return signIn(credentials, mode, reason)
    } catch (error: SojournException.Refused) {
        if (error.refusal.code != "idempotency_key_used") throw error
        // The answer to an earlier attempt was lost too long ago: that user is lost, and a new key makes a new one.
        change { it.withSecret() }
        return signIn(credentials, mode, reason)
    }
}

/** Gives the anonymous user a username and a password. The session goes on, and the user keeps the ID. */
fun Sojourn.nameAccount(username: String, password: String): Account = named(
    AccountCall("POST", "/v1/me/account", membersOf("username" to username, "password" to password)))

/** Links the anonymous user to an identity of an identity provider. The session goes on, and the user keeps the ID. */
fun Sojourn.nameAccountByIdToken(idToken: String, provider: String, nonce: String? = null): Account = named(
    AccountCall("POST", "/v1/me/account", membersOf("id_token" to idToken, "provider" to provider, "nonce" to nonce)))

/** The next call renews the access token, which still says that the user is anonymous. */
internal fun Sojourn.named(call: AccountCall): Account = stored(keyed(call), isRenewing = true)
