package org.sojourn

/** A call of login sessions on the wire. An act is told from its retries by an `Idempotency-Key`; [salt] tells equal acts apart. */
internal class LoginCall private constructor(
    val method: String, val path: String, val members: Members? = null, val isAct: Boolean = true,
    val isAppLogin: Boolean = false, val isAppProof: Boolean = false, val salt: Long = 0,
) {
    companion object {
        private const val PATH = "/v1/me/logins"
        private const val APP_PATH = "/v1/me/app-login"

        private fun path(id: String, act: String) = "$PATH/${escaped(id)}/$act"

        fun claim(code: ScannedCode, options: LoginSessionOptions) = LoginCall(
            "POST", PATH,
            membersOf(
                "code" to code.text, "source" to code.source,
                "manual_start" to if (options.skipsReadyForUserInteraction) null else true,
                "skip_confirmation" to if (options.skipsConfirmation) true else null,
                "second_factor" to if (options.alwaysRequiresSecondFactor) true else null,
            ))

        fun appLogin(client: String) = LoginCall(
            "POST", APP_PATH, membersOf("client_id" to client), isAppLogin = true,
            salt = (randomPart() * Long.MAX_VALUE).toLong())

        fun proveAppLogin(id: String, proof: Members) =
            LoginCall("POST", APP_PATH, proof.with("login_id" to id), isAppProof = true)

        fun look(id: String) = LoginCall("GET", "$PATH/${escaped(id)}", isAct = false)

        fun await(id: String, version: String?, seconds: Long): LoginCall {
            val since = if (version == null) "" else "&version=" + escaped(version)
            return LoginCall("GET", "$PATH/${escaped(id)}?wait=$seconds$since", isAct = false)
        }

        fun list() = LoginCall("GET", PATH, isAct = false)

        /** A page with the longest infos of clients is shorter than the longest answer. */
        fun history(cursor: String?): LoginCall {
            val after = if (cursor == null) "" else "&cursor=" + escaped(cursor)
            return LoginCall("GET", "$PATH?history=true&limit=10$after", isAct = false)
        }

        fun start(id: String) = LoginCall("POST", path(id, "start"), emptyMap())

        fun confirm(id: String, number: Int?) = LoginCall("POST", path(id, "confirm"), membersOf("number" to number))

        fun prove(id: String, proof: Members, number: Int?) =
            LoginCall("POST", path(id, "second-factor"), proof.with("number" to number))

        fun stop(id: String, isReport: Boolean) =
            LoginCall("POST", path(id, "stop"), membersOf("not_me" to if (isReport) true else null))

        fun adopt(id: String, proof: Members) = LoginCall("POST", path(id, "adopt"), proof)

        fun ping() = LoginCall("POST", "$PATH/ping", emptyMap(), isAct = false)
    }
}

/** Makes a call. A call about a login ends nothing but that login, and asks for nothing of the stay in this app. */
internal fun Sojourn.perform(call: LoginCall, attempt: Int): HttpAnswer {
    val message = server.request(call.method, call.path, call.members)
    val secret = current()?.record?.secret
    if (!call.isAct || secret == null) return answer(message)
    val path = uriOf(message.url)?.rawPath ?: ""
    val said = "login:act:$path\n${attempt + call.salt}\n${message.body ?: ""}"
    return answer(message.with("Idempotency-Key" to retryKey(secret, said)))
}

/**
 * Starts a session for the picture that the user has scanned: the text of a QR code, as a link or in base64. The details are fetched in
 * the background. What cannot be a code is `refused` as `invalid_code`, and that of another server as `other_server`.
 */
fun Sojourn.startSession(scanned: String, options: LoginSessionOptions = LoginSessionOptions()): LoginSession =
    start(ScannedCode.of(scanned, ScannedCode.PICTURE, server), options)

/** Starts a session for the picture that the user has scanned: the bytes of a binary QR code, or those of its text. */
fun Sojourn.startSession(scanned: ByteArray, options: LoginSessionOptions = LoginSessionOptions()): LoginSession =
    start(ScannedCode.of(scanned, ScannedCode.PICTURE, server), options)

/** Starts a session for a link that has opened the app. */
fun Sojourn.startSessionByLink(link: String, options: LoginSessionOptions = LoginSessionOptions()): LoginSession =
    start(ScannedCode.of(link, ScannedCode.LINK, server), options)

/**
 * Starts a session for a message that was pushed to the app: what the server has encrypted ([registerForPushes]), alone or as the member
 * `sojourn` of the JSON around it, or JSON with a plain code in the member `login`. Null: the message is of another kind.
 */
fun Sojourn.startSessionByPush(message: String, options: LoginSessionOptions = LoginSessionOptions()): LoginSession? =
    codeInPush(message)?.let { start(it, options) }

/** Starts a session that logs the app itself in at the backend of that client. It always asks for a second factor. */
fun Sojourn.appLogin(client: String, options: LoginSessionOptions = LoginSessionOptions()): LoginSession {
    living()
    return LoginSession(this, LoginCall.appLogin(client), null, options).run()
}

/** Goes on with a session of an earlier start of the app. */
fun Sojourn.resumeSession(id: String, options: LoginSessionOptions = LoginSessionOptions()): LoginSession =
    LoginSession(this, null, login(LoginCall.look(id)), options).run()

private fun Sojourn.start(code: ScannedCode, options: LoginSessionOptions): LoginSession {
    living()
    if (code.isEnrolment) throw SojournException.refused("enrolment_unsupported")
    return LoginSession(this, LoginCall.claim(code, options), null, options).run()
}

/** The logins of the user that wait or go on, the latest one first. */
fun Sojourn.logins(): List<LoginDetails> = page(LoginCall.list()).first

/** The logins of the user, those that are over as well, the latest one first, [limit] at most. */
fun Sojourn.loginHistory(limit: Int = 50): List<LoginDetails> {
    val items = ArrayList<LoginDetails>()
    var cursor: String? = null
    do {
        val (found, next) = page(LoginCall.history(cursor))
        // A server that gives the same page again and again must not keep the app for ever.
        if (found.isEmpty() || next == cursor && cursor != null) break
        items.addAll(found)
        cursor = next
    } while (cursor != null && items.size < limit)
    return items.take(limit)
}

/** Ends a login that this phone has let happen, whatever its state is. */
fun Sojourn.stopLogin(id: String, isReport: Boolean = false): LoginDetails = login(LoginCall.stop(id, isReport))

/** Takes over what another phone of the user has let in, so that it does not end with that phone. It asks for biometry. */
fun Sojourn.adoptLogin(id: String, reason: String = PresencePrompt.REASON): LoginDetails =
    login(LoginCall.adopt(id, membersOf("user_assertion" to loginAssertion(id, null, reason))))

/** Tells the server that this phone is there, for logins that end when their phone is silent. Every renewal tells it as well. */
fun Sojourn.pingLogins() {
    checked(LoginCall.ping())
}

private fun Sojourn.checked(call: LoginCall): HttpAnswer = perform(call, 0).also { answer -> error(answer)?.let { throw it } }

private fun Sojourn.login(call: LoginCall): LoginDetails {
    val answer = checked(call)
    return LoginDetails.of(answer.members()) ?: throw SojournException.notAnAnswer(answer)
}

private fun Sojourn.page(call: LoginCall): Pair<List<LoginDetails>, String?> {
    val answer = checked(call)
    if (answer.members().elements("items") == null) throw SojournException.notAnAnswer(answer)
    return answer.members().objects("items").mapNotNull { LoginDetails.of(it) } to answer.members().text("next_cursor")
}

/**
 * The signature of the presence key over a login and its number, after one prompt. Each login asks anew, however long the session stays
 * unlocked, and opens the key for this signature only.
 */
internal fun Sojourn.loginAssertion(login: String, number: Int?, reason: String): String {
    val session = living()
    val gateID = session.gateID
    val id = session.sessionID
    if (gateID == null || id == null) throw SojournException.PresenceRequired(PresenceRequirement(listOf("password")))
    val opened = prompt { it.unlock(gateID, reason) }
    try {
        return storing { assertion(opened.presenceKey, id, session.account.userID, login, number) }
    } finally {
        opened.close()
    }
}
