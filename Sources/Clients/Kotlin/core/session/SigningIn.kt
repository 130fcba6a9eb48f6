// Logins (rule 4).

package org.sojourn

/** How a user shows the right to log in: the members of the request, and whether it can continue a session of the device. */
internal class Credentials(val members: Members, val mayContinue: Boolean = false, val path: String = "/v1/login") {
    /** The first proof again, beside the code of the second factor. */
    fun with(code: String) = Credentials(members.with("code" to code), mayContinue, path)

    companion object {
        fun password(username: String, password: String) =
            Credentials(membersOf("username" to username, "password" to password), mayContinue = true)

        fun idToken(token: String, provider: String, nonce: String?, providerRefreshToken: String? = null) = Credentials(
            membersOf(
                "id_token" to token, "provider" to provider, "nonce" to nonce,
                "provider_refresh_token" to providerRefreshToken,
            ), mayContinue = true)
    }
}

/** The place of a login among logins and sign-outs. */
internal class LoginOrder(val number: Int, val signOuts: Int)

internal fun Sojourn.nextLogin() = LoginOrder(logins.incrementAndGet(), signOuts.get())

/**
 * Signs a user in by name and password. A session of the same user on this device goes on with its keys. The mode `BIOMETRIC` asks
 * the user for biometry, once, before anything is sent; [reason] is what that prompt says.
 */
fun Sojourn.signIn(
    username: String, password: String, mode: AuthenticationMode = AuthenticationMode.NO,
    reason: String = PresencePrompt.REASON,
): Account = signIn(Credentials.password(username, password), mode, reason)

/**
 * Signs a user in by an ID token of an identity provider. [nonce] is what the app sent to the provider for this token;
 * [providerRefreshToken] lets the server ask the provider about the user later.
 */
fun Sojourn.signInByIdToken(
    idToken: String, provider: String, nonce: String? = null, providerRefreshToken: String? = null,
    mode: AuthenticationMode = AuthenticationMode.NO, reason: String = PresencePrompt.REASON,
): Account = signIn(Credentials.idToken(idToken, provider, nonce, providerRefreshToken), mode, reason)

/** Takes over a session that the app's backend has begun, from the server's answer to it. It must be of [deviceIdentity]. */
fun Sojourn.adopt(tokenAnswer: String): Account {
    val answer = TokenAnswer.of(membersOf(tokenAnswer)) ?: throw SojournException.Misconfigured("not an answer with tokens")
    val order = nextLogin()
    prepareRecord()
    val key = storing { keys.key(KeyName.DEVICE) }
    val isSigned = answer.members.text("token_type").equals("dpop", ignoreCase = true) || answer.refreshToken == null
    if (isSigned && key == null) {
        throw SojournException.Misconfigured("the session is bound to a key that this device does not have")
    }
    return commit(answer, key?.publicKey?.thumbprint.takeIf { isSigned }, null, order)
}

/** The parts of a device that a backend needs to begin a session for it. The thumbprint is null if sessions are not bound. */
data class DeviceIdentity(val deviceID: String, val keyThumbprint: String?)

/** This device; its key is made if there is none. */
fun Sojourn.deviceIdentity() = DeviceIdentity(prepareRecord().record.deviceID, loginKey()?.publicKey?.thumbprint)

// A login

internal fun Sojourn.signIn(
    credentials: Credentials, mode: AuthenticationMode, reason: String, cancelsDeletion: Boolean = false,
    secondStepOf: SecondFactorChallenge? = null,
): Account = activating(mode, reason, secondStepOf) { opened ->
    val session = if (credentials.mayContinue) quietly { living() } else null
    logIn(credentials, mode, opened, session, cancelsDeletion)
}

/** Logs the user of a session in again. The server continues the session, or begins another one if it has ended. */
internal fun Sojourn.logInAgain(credentials: Credentials, session: StoredSession): Account {
    val opened = openGate(session)
    // Without the sealing key new tokens can only be stored in another mode.
    val mode = if (session.isSealed && opened == null) AuthenticationMode.PASSWORD else session.mode
    try {
        return if (opened == null) logIn(credentials, mode, null, session) else {
            opened.during { logIn(credentials, mode, opened, session) }
        }
    } catch (error: SojournException.SecondFactorRequired) {
        throw SojournException.SecondFactorRequired(error.login.copy(unlocks = session.sessionID))
    }
}

internal fun Sojourn.logIn(
    credentials: Credentials, mode: AuthenticationMode, opened: OpenGate?, session: StoredSession?,
    cancelsDeletion: Boolean = false,
): Account {
    val order = nextLogin()
    // The device ID, the secret of the Idempotency-Key and the key are stored before the login is sent, so that a login with a lost
    // answer is continued by the next try, even after a new start of the app (4).
    val record = prepareRecord().record
    val key = loginKey()
    val body = loginMembers(record.deviceID, mode, key, opened).with(
        "client_id" to configuration.clientID, "session_id" to session?.sessionID,
        "cancel_deletion" to if (cancelsDeletion) true else null,
    ) + credentials.members
    val message = server.request("POST", credentials.path, body)
    val request = message.with("Idempotency-Key" to retryKey(record.secret, "login:" + message.body))
    val answer = try {
        loginAnswer(request, key)
    } catch (error: SojournException.SecondFactorRequired) {
        throw SojournException.SecondFactorRequired(
            error.login.copy(mode = mode, cancelsDeletion = cancelsDeletion, first = credentials))
    }
    return commit(storable(answer), key?.publicKey?.thumbprint, opened, order)
}

/** The members that every login and every enrolment has. */
internal fun Sojourn.loginMembers(
    deviceID: String, mode: AuthenticationMode, key: DeviceKey?, opened: OpenGate?,
): Members = membersOf(
    "device" to membersOf(
        "id" to deviceID, "name" to configuration.deviceName, "platform" to configuration.platform,
        "app_version" to configuration.appVersion,
    ),
    "authentication_mode" to mode.name, "scope" to configuration.scope,
    "device_key" to key?.publicKey?.members.takeIf { configuration.renewal == Renewing.DEVICE_KEY },
    "presence_key" to opened?.presenceKey?.publicKey?.members.takeIf { mode == AuthenticationMode.BIOMETRIC },
)

internal fun Sojourn.storable(answer: TokenAnswer) =
    if (configuration.renewal == Renewing.DEVICE_KEY) answer.withoutRefreshToken() else answer

/** The key to which the next session is bound, made if there is none; null if sessions are not bound. */
internal fun Sojourn.loginKey(): DeviceKey? =
    if (configuration.renewal == Renewing.REFRESH_TOKEN) null else storing { keys.makeKey(KeyName.DEVICE) }

/** The stored record; written, if there is none. One that cannot be read is set aside, and kept (19). */
internal fun Sojourn.prepareRecord(): Loaded = storing {
    if (isSigningOut) settleSignOut()
    repeat(16) {
        var expected: String? = null
        try {
            val loaded = loadStored()
            if (loaded != null && (configuration.deviceID ?: loaded.record.deviceID) == loaded.record.deviceID) {
                return@storing loaded
            }
            expected = loaded?.version
        } catch (error: StoreException) {
            if (error.kind != StoreException.Kind.UNREADABLE) throw error
            store.setAside()
            // What cannot be set aside, because the store can read it, is written over.
            expected = store.load()?.version
        }
        store.replace(expected, SessionRecord.new(configuration.deviceID ?: randomText(16)).text(null))
    }
    throw StoreException(StoreException.Kind.FAILED, "the record changes all the time")
}

/** Sends a login until an answer comes, three times at most. Each try has the same `Idempotency-Key`. */
internal fun Sojourn.loginAnswer(request: HttpMessage, key: DeviceKey?): TokenAnswer {
    var attempt = 1
    var isSignedAgain = false
    while (true) {
        val prover = key.takeIf { configuration.renewal == Renewing.BOUND_REFRESH_TOKEN }
        val signed = if (prover == null) request else {
            request.with("DPoP" to storing { proof(prover, request.method, request.url) })
        }
        val verdict = exchange(signed)?.let { Verdict.of(it) } ?: Verdict.Unreachable("no answer")
        if (attempt == 1 && mayBeOfAnotherServer(verdict)) missingServer()?.let { throw SojournException.Misconfigured(it) }
        when {
            verdict is Verdict.Granted -> return verdict.answer
            verdict == Verdict.SignAgain && !isSignedAgain -> isSignedAgain = true
            verdict == Verdict.SignAgain -> throw wrongServer() ?: verdict.exception() ?: SojournException.Cancelled()
            verdict is Verdict.Unreachable && attempt < 3 && (verdict.retryAfter ?: 0) <= Retries.RETRY_AFTER_WITHIN -> {
                pause(Retries.waitWithin(attempt, verdict.retryAfter))
                attempt += 1
            }
            verdict is Verdict.SecondFactorRequired ->
                throw SojournException.SecondFactorRequired(SecondFactorLogin(this, verdict.challenge))
            // A login has no session that could have ended.
            verdict is Verdict.Ended -> throw SojournException.Refused(Refusal(401, verdict.reason))
            else -> throw verdict.exception() ?: SojournException.Cancelled()
        }
    }
}

/** Stores the session of a login, whatever is stored: it is what the user did last. */
internal fun Sojourn.commit(answer: TokenAnswer, keyThumbprint: String?, opened: OpenGate?, order: LoginOrder): Account {
    val mode = AuthenticationMode.of(answer.members.text("authentication_mode"))
    val gate = opened?.takeIf { mode == AuthenticationMode.BIOMETRIC }
    val id = answer.members.text("session_id")
    val earlier = unlocked
    val isSignedOut = order.signOuts != signOuts.get()
    var abandoned: String? = null
    // The user has signed out meanwhile: this session goes as well. That of an earlier login is replaced by the server.
    if (isSignedOut || order.number < lastLoginCommitted) {
        if (isSignedOut) change { it.owing(StoredSession(answer.members.with("key_thumbprint" to keyThumbprint))) }
        payDebtsInBackground()
        throw SojournException.Cancelled()
    }
    lastLoginCommitted = order.number
    unlocked = Unlocked(id, gate, clock.uptime())
    val loaded = try {
        update(gate) { record ->
            val previous = record.session?.gateID
            val isSame = record.session?.sessionID == id
            abandoned = previous.takeIf { !isSame && previous != gate?.id }
            record.begun(answer, keyThumbprint, gate?.id ?: previous.takeIf { isSame }, gate != null)
        }
    } catch (error: StoreException) {
        unlocked = earlier
        throw SojournException.of(error)
    }
    abandoned?.let { this.gate?.discard(it) }
    earlier?.gate?.takeIf { it.id != gate?.id }?.close()
    configuration.clearProviderCookies()
    if (loaded?.record?.debts?.isNotEmpty() == true) payDebtsInBackground()
    forgetRenewals()
    publishState()
    return answer.account
}

// The URL by which the server knows itself

private fun mayBeOfAnotherServer(verdict: Verdict): Boolean {
    val status = (verdict as? Verdict.Unreachable)?.status ?: (verdict as? Verdict.Refused)?.refusal?.status
    return status in listOf(404, 405, 501)
}

private fun Sojourn.metadata(): HttpAnswer? = exchange(server.request("GET", "/.well-known/oauth-authorization-server"))

/** What to set if no public listener of Sojourn answers; null if one does, or if it cannot be told. */
private fun Sojourn.missingServer(): String? {
    val answer = metadata() ?: return null
    val members = membersOf(answer.text)
    val isServer = members == null || members.text("token_endpoint")?.endsWith(TOKEN_PATH) == true
    val isOutage = answer.status !in 200..499 || answer.status in listOf(408, 429) || answer.status in 201..399
    if (isOutage || answer.status == 200 && isServer) return null
    return "no Sojourn answers at ${server.base}: SojournConfiguration.server must be the URL of its public listener"
}

private fun Sojourn.wrongServer(): SojournException? {
    val answer = metadata()?.takeIf { it.status == 200 } ?: return null
    val issuer = membersOf(answer.text)?.text("issuer")?.trimEnd('/')
    if (issuer == null || issuer == server.base) return null
    return SojournException.Misconfigured(
        "the server's issuer is $issuer, but the app calls ${server.base}: both must be the same URL")
}
