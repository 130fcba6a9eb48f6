// Second factors: authenticator apps (RFC 6238) and recovery codes.

package org.sojourn

/** An authenticator app of the user, as the server keeps it. Times are in Unix seconds. */
data class Authenticator(val id: String, val name: String, val createdAt: Long, val lastUsedAt: Long?)

/**
 * The second factors of the user: the authenticator apps, how many recovery codes are left, and whether no code of an authenticator
 * app is taken, after too many wrong ones, until a recovery code, a passkey or an admin.
 */
data class SecondFactors(val authenticators: List<Authenticator>, val recoveryCodesLeft: Int, val isBlocked: Boolean)

/** An authenticator app that is being added. [secret] is in Base32, [uri] the same as `otpauth:`. The server keeps it ten minutes. */
class NewAuthenticator internal constructor(
    val id: String, val secret: String, val uri: String, private val login: SecondFactorLogin?, private val sojourn: Sojourn,
) {
    /**
     * Adds the authenticator by its first code, and ends the login to which it was added. The first authenticator of a user brings
     * recovery codes, which are shown once. A wrong code is `refused` with `wrong_second_factor`; the same value takes the next one.
     */
    fun confirm(code: String, reason: String = PresencePrompt.REASON): List<String> {
        if (login == null) return sojourn.confirmAuthenticator(id, code)
        login.confirm(code, reason)
        // The user is signed in, whatever comes of the recovery codes.
        return sojourn.quietly { sojourn.makeRecoveryCodes() } ?: emptyList()
    }
}

/**
 * A login with a right first proof, which waits for a second one: [SojournException.SecondFactorRequired] brings it. It lasts for five
 * minutes, in memory.
 *
 * [methods] are `totp`, `passkey`, `recovery_code` and later words. None: the policy demands a second factor, and the user has none;
 * [addAuthenticator] adds it to this login then.
 */
class SecondFactorLogin internal constructor(
    private val sojourn: Sojourn, internal val challenge: SecondFactorChallenge,
    internal val mode: AuthenticationMode = AuthenticationMode.NO, internal val unlocks: String? = null,
    internal val cancelsDeletion: Boolean = false, internal val first: Credentials? = null,
) {
    val methods: List<String> get() = challenge.methods

    internal fun copy(
        mode: AuthenticationMode = this.mode, unlocks: String? = this.unlocks,
        cancelsDeletion: Boolean = this.cancelsDeletion, first: Credentials? = this.first,
    ) = SecondFactorLogin(sojourn, challenge, mode, unlocks, cancelsDeletion, first)

    /**
     * Ends the login by the code of an authenticator app, or by a recovery code. A lost answer is fetched by the next try with the same
     * code. After `wrong_second_factor` another try with this value is possible, after `second_factor_blocked` another method.
     */
    fun confirm(code: String, reason: String = PresencePrompt.REASON): Account = sojourn.finish(this, code, reason)

    /** Ends the login by a passkey, which is both factors: the session is a new one. */
    fun confirm(authenticator: PasskeyAuthenticator, reason: String = PresencePrompt.REASON): Account =
        sojourn.signInByPasskey(authenticator, mode, reason, cancelsDeletion, challenge)

    /** Adds an authenticator app to a login without [methods]. [NewAuthenticator.confirm] ends the login then. */
    fun addAuthenticator(name: String): NewAuthenticator = sojourn.addAuthenticator(name, this)

    override fun toString() = methods.joinToString(" ")
}

/** Ends a login by a code. An `unlock` ends in the session that it opens. */
internal fun Sojourn.finish(login: SecondFactorLogin, code: String, reason: String): Account {
    val token = login.challenge.token
    val credentials = when {
        token != null -> Credentials(membersOf("login_token" to token, "code" to code), mayContinue = true)
        else -> (login.first ?: throw SojournException.refused("second_factor_missing")).with(code)
    }
    if (login.unlocks != null) {
        val session = living()
        // Another session has taken its place meanwhile.
        if (session.sessionID != login.unlocks) throw SojournException.Cancelled()
        return logInAgain(credentials, session)
    }
    return signIn(credentials, login.mode, reason, login.cancelsDeletion, login.challenge)
}

/**
 * Begins to add an authenticator app: the app shows the URI as a picture or a link, and confirms with the first code. The user must
 * have proved to be present in the last five minutes, and needs a verified mailbox or a passkey.
 */
fun Sojourn.addAuthenticator(name: String): NewAuthenticator {
    val call = AccountCall("POST", "/v1/me/totp", membersOf("name" to name), needsUserItself = true)
    return newAuthenticator(insist(call.message(server), call), null)
}

private fun Sojourn.addAuthenticator(name: String, login: SecondFactorLogin): NewAuthenticator {
    val token = login.challenge.token ?: throw SojournException.refused("second_factor_missing")
    val members = membersOf(
        "login_token" to token, "client_id" to configuration.clientID, "name" to name,
        "device" to membersOf("id" to prepareRecord().record.deviceID),
    )
    return newAuthenticator(insist(server.request("POST", "/v1/login/totp", members)), login)
}

private fun Sojourn.newAuthenticator(answer: HttpAnswer, login: SecondFactorLogin?): NewAuthenticator {
    val members = answer.members()
    val id = members.text("id")
    val secret = members.text("secret")
    if (id == null || secret == null) throw SojournException.notAnAnswer(answer)
    return NewAuthenticator(id, secret, members.text("uri") ?: "", login, this)
}

internal fun Sojourn.confirmAuthenticator(id: String, code: String): List<String> {
    val path = "/v1/me/totp/${escaped(id)}/confirm"
    val call = AccountCall("POST", path, membersOf("code" to code), needsUserItself = true)
    try {
        return recoveryCodes(insist(call.message(server), call))
    } catch (error: SojournException.Refused) {
        // The answer to an earlier try may have been lost: then the code was used, and the recovery codes were not seen.
        val known = quietly { secondFactors() }?.authenticators
        if (known == null || known.none { it.id == id }) throw error
        return if (known.size == 1) makeRecoveryCodes() else emptyList()
    }
}

/** The second factors of the user. */
fun Sojourn.secondFactors(): SecondFactors {
    val answer = call(AccountCall("GET", "/v1/me/totp", needsUserItself = true))
    val members = answer.members()
    if (members.elements("items") == null) throw SojournException.notAnAnswer(answer)
    val items = members.objects("items").mapNotNull { item ->
        item.text("id")?.let {
            Authenticator(it, item.text("name") ?: "", item.number("created_at") ?: 0, item.number("last_used_at"))
        }
    }
    return SecondFactors(items, (members.number("recovery_codes_left") ?: 0).toInt(), members.bool("blocked") ?: false)
}

/** Removes an authenticator app. The user must have proved to be present in the last five minutes. */
fun Sojourn.removeAuthenticator(id: String) {
    call(AccountCall("DELETE", "/v1/me/totp/" + escaped(id), needsUserItself = true))
}

/** Makes the recovery codes anew; the old ones are worth nothing. They are shown once. */
fun Sojourn.makeRecoveryCodes(): List<String> {
    val call = AccountCall("POST", "/v1/me/recovery-codes", needsUserItself = true)
    val answer = insist(call.message(server), call)
    return recoveryCodes(answer).ifEmpty { throw SojournException.notAnAnswer(answer) }
}

private fun recoveryCodes(answer: HttpAnswer): List<String> =
    answer.members().elements("recovery_codes").orEmpty().filterIsInstance<String>()

/**
 * Proves that the user is present, by the password, by the code of a second factor, or by both, for changes of how the account is
 * guarded. It does not open a session that is locked: [unlock] does.
 */
fun Sojourn.showPresence(password: String? = null, code: String? = null) {
    val members = membersOf("password" to password, "code" to code)
    call(AccountCall("POST", "/v1/me/presence", members, needsUserItself = true, answersDemand = true))
    noteUser()
}

/** Notes that the server has seen the user. APIs read in the token when that was, so that it is renewed. */
internal fun Sojourn.noteUser() {
    demand = null
    heldError = null
    // The demand has held renewals back until now.
    retries.noteAnswer()
    publishState()
    rejections.clear()
    quietly { accessToken(Need.After(accessToken())) }
}
