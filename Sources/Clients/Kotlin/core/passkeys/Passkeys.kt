// Passkeys. The ceremonies are JSON in and JSON out (WebAuthn Level 3), as Android's Credential Manager has them.

package org.sojourn

/** Asks the user for a passkey. Both calls take the options of the server as JSON, and return the credential as JSON. */
interface PasskeyAuthenticator {
    /** The answer to `PublicKeyCredentialRequestOptionsJSON`. */
    @Throws(PasskeyException::class)
    fun assertion(options: String): String

    /** The answer to `PublicKeyCredentialCreationOptionsJSON`. */
    @Throws(PasskeyException::class)
    fun registration(options: String): String
}

/** The reason why there is no passkey. [detail] is for developers. */
class PasskeyException(val kind: Kind, val detail: String = "") : Exception("passkey: $kind $detail".trim()) {
    enum class Kind { CANCELLED, ALREADY_REGISTERED, FAILED }
}

/**
 * Signs a user in by a passkey. A closed prompt is `Cancelled`, and a passkey that the server does not know is `refused` with
 * `invalid_credentials`. The mode `BIOMETRIC` asks the user for biometry as well, once, before the passkey.
 */
fun Sojourn.signInByPasskey(
    authenticator: PasskeyAuthenticator, mode: AuthenticationMode = AuthenticationMode.NO,
    reason: String = PresencePrompt.REASON,
): Account = signInByPasskey(authenticator, mode, reason, cancelsDeletion = false, secondStepOf = null)

internal fun Sojourn.signInByPasskey(
    authenticator: PasskeyAuthenticator, mode: AuthenticationMode, reason: String, cancelsDeletion: Boolean,
    secondStepOf: SecondFactorChallenge?,
): Account = activating(mode, reason, secondStepOf) { opened ->
    val options = plainAnswer(server.request("POST", "/v1/passkeys/options"))
    val credential = asked(options) { authenticator.assertion(it) }
    logIn(Credentials(membersOf("passkey" to credential)), mode, opened, null, cancelsDeletion)
}

/**
 * Adds a passkey to the signed-in user. A proof of presence must lie within the last five minutes: if not, the error is
 * `PresenceRequired`. [name] is for lists; null: that of the device.
 */
fun Sojourn.addPasskey(authenticator: PasskeyAuthenticator, name: String? = null): Passkey {
    val options = call(AccountCall("POST", "/v1/me/passkeys/options", needsUserItself = true))
    val credential = asked(options) { authenticator.registration(it) }
    val members = membersOf("credential" to credential, "name" to name)
    val answer = call(AccountCall("POST", "/v1/me/passkeys", members, needsUserItself = true))
    return passkey(answer.members()) ?: throw SojournException.notAnAnswer(answer)
}

/** The passkeys of the user, the oldest first. */
fun Sojourn.passkeys(): List<Passkey> {
    val answer = call(AccountCall("GET", "/v1/me/passkeys"))
    if (answer.members().elements("items") == null) throw SojournException.notAnAnswer(answer)
    return answer.members().objects("items").mapNotNull(::passkey)
}

/** Removes a passkey of the user. A proof of presence must lie within the last five minutes. Sessions go on. */
fun Sojourn.removePasskey(id: String) {
    call(AccountCall("DELETE", "/v1/me/passkeys/" + escaped(id), needsUserItself = true))
}

/**
 * Proves by a passkey of the user that the user is present, for an API that asks for `presence`, and for changes of how the account is
 * guarded. It does not open a session that is locked: [unlock] does.
 */
fun Sojourn.showPresenceByPasskey(authenticator: PasskeyAuthenticator) {
    val options = call(AccountCall("POST", "/v1/me/presence/options", needsUserItself = true, answersDemand = true))
    val credential = asked(options) { authenticator.assertion(it) }
    val members = membersOf("passkey" to credential)
    call(AccountCall("POST", "/v1/me/presence", members, needsUserItself = true, answersDemand = true))
    noteUser()
}

private fun passkey(members: Members): Passkey? = members.text("id")?.let {
    Passkey(
        it, members.text("name") ?: "", members.bool("backed_up") ?: false, members.number("created_at") ?: 0,
        members.number("last_used_at"))
}

/** The credential that an authenticator gives for the options in an answer. No prompt is shown while the app cannot show one (18). */
internal fun Sojourn.asked(options: HttpAnswer, ask: (String) -> String): Members {
    val members = options.members().members("publicKey") ?: throw SojournException.notAnAnswer(options)
    if (!configuration.readyForUser()) throw SojournException.Cancelled()
    val credential = try {
        ask(jsonOf(members))
    } catch (error: PasskeyException) {
        throw when (error.kind) {
            PasskeyException.Kind.CANCELLED -> SojournException.Cancelled()
            PasskeyException.Kind.ALREADY_REGISTERED -> SojournException.refused("passkey_exists")
            PasskeyException.Kind.FAILED -> SojournException.Misconfigured(error.detail)
        }
    }
    return membersOf(credential) ?: throw SojournException.Misconfigured("the authenticator gave no JSON")
}
