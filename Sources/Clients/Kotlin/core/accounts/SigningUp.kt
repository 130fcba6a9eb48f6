// New accounts, logins by a code, and forgotten passwords: what a user without a session does with a proven mailbox.

package org.sojourn

/**
 * Begins a sign-up: the server sends a code to the mailbox. No account exists before the code was shown and [finishSignUp] was called.
 * A mailbox that has an account gets a mail that says so; the answer is the same.
 */
fun Sojourn.signUp(email: String): Verification = ask(VerificationPurpose.SIGN_UP, email)

/**
 * Makes the account of the proven mailbox, with a password, and signs the user in. A signed-in anonymous user becomes the user of the
 * account, and keeps ID and session. `refused` with `account_exists`, `username_taken`, `invalid_request` for a password against the
 * rules, `verification_over`, or `no_verification_pending`.
 */
fun Sojourn.finishSignUp(
    password: String, username: String? = null, mode: AuthenticationMode = AuthenticationMode.NO,
    reason: String = PresencePrompt.REASON,
): Account {
    val proof = proven(VerificationPurpose.SIGN_UP, VerificationPurpose.SIGN_IN)
    val members = membersOf(
        "verification_token" to proof.text("verification_token"), "username" to username, "password" to password)
    try {
        // An anonymous user keeps the session.
        if (quietly { living() }?.account?.isAnonymous != true) {
            return signIn(Credentials(members, path = "/v1/sign-up"), mode, reason)
        }
        return named(AccountCall("POST", "/v1/sign-up", members, needsUserItself = true)).also { forget(proof) }
    } catch (error: SojournException) {
        noteEnd(error, proof)
        throw error
    }
}

/** Makes the account of the proven mailbox with a passkey in place of a password. */
fun Sojourn.finishSignUpByPasskey(
    authenticator: PasskeyAuthenticator, username: String? = null, mode: AuthenticationMode = AuthenticationMode.NO,
    reason: String = PresencePrompt.REASON,
): Account {
    val proof = proven(VerificationPurpose.SIGN_UP, VerificationPurpose.SIGN_IN)
    val token = membersOf("verification_token" to proof.text("verification_token"))
    try {
        val options = insist(server.request("POST", "/v1/sign-up/passkey-options", token))
        val credential = asked(options) { authenticator.registration(it) }
        val members = token.with("username" to username, "passkey" to credential)
        return signIn(Credentials(members, path = "/v1/sign-up"), mode, reason)
    } catch (error: SojournException) {
        noteEnd(error, proof)
        throw error
    }
}

/** Begins a login by a code that the server sends to the mailbox, if the client has the login method `email`. */
fun Sojourn.requestSignInCode(email: String): Verification = ask(VerificationPurpose.SIGN_IN, email)

/**
 * Ends the login by the code of the mail of [requestSignInCode]. A mailbox without an account is `refused` with `account_missing`;
 * where the server lets people sign up, [finishSignUp] makes the account then, without another mail.
 */
fun Sojourn.signInByMailedCode(
    code: String, mode: AuthenticationMode = AuthenticationMode.NO, reason: String = PresencePrompt.REASON,
): Account {
    val proof = pending(VerificationPurpose.SIGN_IN)
    try {
        val members = membersOf("verification_token" to proof.text("verification_token"), "code" to code)
        return signIn(Credentials(members), mode, reason)
    } catch (error: SojournException) {
        if (error is SojournException.Refused && error.refusal.code == "account_missing") noteProof(proof)
        noteEnd(error, proof)
        throw error
    }
}

/** Begins the reset of a forgotten password: the server sends a link and a code. A mailbox without an account gets no mail. */
fun Sojourn.requestPasswordReset(email: String): Verification = ask(VerificationPurpose.RESET, email)

/**
 * Sets the password of the user of the proven mailbox. All sessions of the user end, that of this device too. `refused` with
 * `invalid_request` and the member `new_password` for a password against the rules, and `verification_over`.
 */
fun Sojourn.resetPassword(password: String) {
    val proof = proven(VerificationPurpose.RESET)
    val token = proof.text("verification_token") ?: ""
    val message = server.request(
        "POST", "/v1/password-reset", membersOf("verification_token" to token, "new_password" to password))
    val request = message.with("Idempotency-Key" to retryKey(token.toByteArray(), "call:" + message.body))
    var wasLost = false
    try {
        insist(request) { wasLost = true }
    } catch (error: SojournException.Refused) {
        if (error.refusal.member != "reset_token") throw error
        // The proof was good a moment ago: a try without an answer has used it.
        if (!wasLost) {
            forget(proof)
            throw SojournException.Refused(Refusal(400, "verification_over"))
        }
    }
    forget(proof)
    // The session of this device has ended if it was the same user's: a renewal finds out.
    session?.token?.let { reject(it) }
}

/**
 * Another mailbox of the user, before its proof. It is no secret. Times are in Unix seconds of the server; from [resendAfter] on another
 * call sends the mail once more.
 */
data class EmailChange(val email: String, val codeLength: Int, val expiresAt: Long, val resendAfter: Long)

/**
 * Begins the change to another mailbox: the server sends a code to it, and tells the old one. The user must have proved to be present in
 * the last five minutes, or [password] does: otherwise the error is `PresenceRequired`.
 */
fun Sojourn.changeEmail(email: String, password: String? = null): EmailChange {
    val members = membersOf("email" to email, "password" to password, "language" to configuration.language)
    val answer = keyed(AccountCall("POST", "/v1/me/email", members, needsUserItself = true, isNewEachTime = true))
    val found = answer.members()
    return EmailChange(
        email, (found.number("code_length") ?: 8).toInt(),
        found.number("expires_at") ?: throw SojournException.notAnAnswer(answer),
        now() + (found.number("resend_after") ?: 0))
}

/** Ends the change by the code of the mail. `refused` with `invalid_code`, `verification_over` or `email_taken`. */
fun Sojourn.confirmEmail(code: String): Account {
    val known = current()?.record?.session?.account?.email
    val call = AccountCall("POST", "/v1/me/email/confirm", membersOf("code" to code), needsUserItself = true)
    try {
        return stored(keyed(call))
    } catch (error: SojournException.Refused) {
        // The answer to an earlier try may have been lost: the profile says whether it has succeeded.
        val account = if (error.refusal.code == "verification_over") quietly { refreshProfile() } else null
        if (account == null || account.email == known) throw error
        return account
    }
}

/** A change of the user's profile: each value set, cleared, or left as it is. */
class ProfileChange {
    private val changes = LinkedHashMap<String, Any?>()

    /** The members of the request; null clears one. */
    internal val members: Members get() = changes

    /** The user must have proved to be present in the last five minutes, as for [phoneNumber]. */
    fun username(value: String?) = set("username", value)

    fun displayName(value: String?) = set("display_name", value)

    fun givenName(value: String?) = set("given_name", value)

    fun familyName(value: String?) = set("family_name", value)

    /** ISO 3166-1 alpha-2. */
    fun country(value: String?) = set("country", value)

    fun phoneNumber(value: String?) = set("phone_number", value)

    private fun set(name: String, value: String?) = apply { changes[name] = value }
}

/** Changes the profile, and stores it. `refused` with `not_editable`, or `invalid_request` with the member. */
fun Sojourn.updateProfile(change: ProfileChange): Account =
    stored(keyed(AccountCall("PATCH", "/v1/me", change.members, needsUserItself = true, isNewEachTime = true)))

/**
 * Asks the server to delete the account, and signs the user out on this device. Returns when the account will be deleted, in Unix seconds
 * of the server; null: it is deleted, or the answer with the time was lost. The user must have proved to be present in the last five
 * minutes, or [password] does.
 */
fun Sojourn.deleteAccount(password: String? = null): Long? {
    val members = membersOf("password" to password, "language" to configuration.language)
    val call = AccountCall("DELETE", "/v1/me", members, needsUserItself = true)
    var wasLost = false
    val time = try {
        insist(call.message(server), call) { wasLost = true }.let { membersOf(it.text)?.number("delete_at") }
    } catch (error: SojournException) {
        // The session has ended meanwhile, or logins are off: that was the try without an answer.
        val isEnd = error is SojournException.Suspended ||
            error is SojournException.Ended && error.reason in listOf("user_deleted", "revoked_by_user")
        if (!wasLost || !isEnd) throw error
        null
    }
    leave(isOwing = false)
    return time
}

/** Signs the user of an account in that waits for its deletion, and keeps the account. */
fun Sojourn.cancelDeletion(
    username: String, password: String, mode: AuthenticationMode = AuthenticationMode.NO,
    reason: String = PresencePrompt.REASON,
): Account = signIn(Credentials.password(username, password), mode, reason, cancelsDeletion = true)

/** Signs the user in by a passkey, and keeps the account that waits for its deletion. */
fun Sojourn.cancelDeletionByPasskey(
    authenticator: PasskeyAuthenticator, mode: AuthenticationMode = AuthenticationMode.NO,
    reason: String = PresencePrompt.REASON,
): Account = signInByPasskey(authenticator, mode, reason, cancelsDeletion = true, secondStepOf = null)
