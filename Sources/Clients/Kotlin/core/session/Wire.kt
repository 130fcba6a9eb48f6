// Requests to the server, and the calls with an access token.

package org.sojourn

import java.io.ByteArrayOutputStream

/** The server of a configuration, and the requests that it takes. [base] has no slash at its end, as the server's `server.issuer`. */
internal class ServerAddress(url: String) {
    val base = url.trimEnd('/')

    init {
        if (!isSafe(url)) throw SojournException.Misconfigured("the server's URL must be https, or http on a loopback address")
        if ('?' in url || '#' in url) {
            throw SojournException.Misconfigured("the server's URL must have no query and no fragment")
        }
    }

    fun request(method: String, path: String, members: Members? = null): HttpMessage {
        val fields = mapOf("Accept" to "application/json")
        if (members == null) return HttpMessage(method, base + path, fields)
        return HttpMessage(method, base + path, fields + ("Content-Type" to "application/json"), jsonOf(members))
    }

    /** A request with a form. Parameters without a value are left out. */
    fun form(path: String, parameters: List<Pair<String, String?>>): HttpMessage {
        val fields = mapOf("Accept" to "application/json", "Content-Type" to "application/x-www-form-urlencoded")
        return HttpMessage("POST", base + path, fields, formOf(parameters))
    }

    companion object {
        private val loopback = listOf("localhost", "127.0.0.1", "::1", "[::1]")

        /** Whether tokens can be sent to a URL. */
        fun isSafe(url: String): Boolean {
            val uri = uriOf(url) ?: return false
            return when (uri.scheme?.lowercase()) {
                "https" -> !uri.host.isNullOrEmpty()
                "http" -> uri.host?.lowercase() in loopback
                else -> false
            }
        }
    }
}

internal val Sojourn.server get() = ServerAddress(configuration.server)

internal fun formOf(parameters: List<Pair<String, String?>>): String =
    parameters.filter { it.second != null }.joinToString("&") { (name, value) -> escaped(name) + "=" + escaped(value ?: "") }

/** A text with every byte escaped that is not unreserved (RFC 3986 section 2.3). */
internal fun escaped(text: String): String = text.toByteArray().joinToString("") { byte ->
    val character = byte.toInt().toChar()
    val isPlain = character in 'a'..'z' || character in 'A'..'Z' || character in '0'..'9' || character in "-._~"
    if (isPlain) character.toString() else "%%%02X".format(byte)
}

/** The text of [escaped]; null if it is none. */
internal fun unescaped(text: String): String? {
    val bytes = ByteArrayOutputStream()
    var at = 0
    while (at < text.length) {
        if (text[at] == '%') {
            val code = text.drop(at + 1).take(2).takeIf { it.length == 2 && it[0] !in "+-" }?.toIntOrNull(16) ?: return null
            bytes.write(code)
            at += 3
        } else {
            val end = text.indexOf('%', at).let { if (it < 0) text.length else it }
            bytes.write(text.substring(at, end).toByteArray())
            at = end
        }
    }
    return String(bytes.toByteArray())
}

/**
 * A call about the account. [needsUserItself]: a required presence concerns this call alone, so that the session goes on without it.
 * [isNewEachTime]: each call is another request, although it says the same.
 */
internal class AccountCall(
    val method: String, val path: String, val members: Members? = null, val needsUserItself: Boolean = false,
    val isNewEachTime: Boolean = false, val answersDemand: Boolean = false,
) {
    fun message(server: ServerAddress) = server.request(method, path, members)
}

internal fun presenceCall(assertion: String) =
    AccountCall("POST", "/v1/me/presence", membersOf("user_assertion" to assertion), needsUserItself = true)

/** The fields that carry an access token to a URL: `Authorization`, and the proof of the key if the token is bound. */
fun Sojourn.authorize(method: String, url: String): Map<String, String> = authorize(method, url, accessToken())

/** The fields for a request with [token]. It is refused for a URL without https, except on a loopback address. */
fun Sojourn.authorize(method: String, url: String, token: AccessToken): Map<String, String> {
    if (!ServerAddress.isSafe(url)) {
        throw SojournException.Misconfigured("access tokens are sent only by https, or http to a loopback address")
    }
    val field = "Authorization" to "${token.type} ${token.value}"
    if (!token.isBound) return mapOf(field)
    return storing {
        val key = deviceKey(session?.keyThumbprint)
            ?: throw KeyException(KeyException.Kind.UNREADABLE, "the key of the session does not exist")
        mapOf(field, "DPoP" to proof(key, method, url, token.value))
    }
}

/**
 * Sends a request to an API with an access token. If the API answers 401, the token is renewed once and the request is sent once
 * more (7). If the API asks for the user (RFC 9470), its answer is returned, and the state becomes `PresenceRequired`.
 */
fun Sojourn.send(request: HttpMessage): HttpAnswer {
    var token = accessToken()
    var isRenewed = false
    var isSignedAgain = false
    while (true) {
        val signed = request.with(*authorize(request.method, request.url, token).toList().toTypedArray())
        val answer = try {
            transport.send(signed, configuration.patience)
        } catch (error: java.io.IOException) {
            throw SojournException.Unreachable(error.toString())
        }
        noteNonce(request.url, answer.field("DPoP-Nonce"))
        if (answer.status != 401) return answer
        val challenge = answer.field("WWW-Authenticate") ?: ""
        when {
            "insufficient_user_authentication" in challenge -> {
                demandUser(requirementOf(challenge), isOfApi = true)
                return answer
            }
            "use_dpop_nonce" in challenge && !isSignedAgain -> isSignedAgain = true
            isRenewed -> return answer
            else -> {
                isRenewed = true
                token = try {
                    accessToken(Need.After(token))
                } catch (error: SojournException.Refused) {
                    if (error.refusal.code == "invalid_token") return answer
                    throw error
                }
            }
        }
    }
}

/** Notes that an API asks for the user, for an app that sends requests itself. [challenge] is its `WWW-Authenticate`. */
fun Sojourn.noteChallenge(challenge: String) {
    if ("insufficient_user_authentication" in challenge) demandUser(requirementOf(challenge), isOfApi = true)
}

/** The requirement in a challenge (RFC 9470 section 3). */
private fun requirementOf(challenge: String): PresenceRequirement {
    fun value(name: String) = challenge.substringAfter("$name=\"", "").substringBefore('"')
    return PresenceRequirement(value("acr_values").split(" ").filter { it.isNotEmpty() }, value("max_age").toLongOrNull())
}

internal fun Sojourn.demandUser(requirement: PresenceRequirement, isOfApi: Boolean) {
    demand = Sojourn.Demand(requirement, isOfApi)
    publishState()
}

// Calls to the server

/** Makes a call. If the server refuses the access token, it is renewed once; what the renewal finds counts. */
internal fun Sojourn.call(call: AccountCall): HttpAnswer =
    call(call.message(server), call.needsUserItself, call.answersDemand)

internal fun Sojourn.call(plain: HttpMessage, needsUserItself: Boolean, answersDemand: Boolean = false): HttpAnswer {
    val answer = answer(plain, answersDemand)
    val error = error(answer) ?: return answer
    if (error is SojournException.PresenceRequired && !needsUserItself) demandUser(error.requirement, isOfApi = true)
    throw error
}

/** The token for an answer to a demand: the stored one if no other comes, because the renewal waits for that answer. */
private fun Sojourn.tokenDuringDemand(): AccessToken = try {
    accessToken()
} catch (error: SojournException.PresenceRequired) {
    val session = current()?.record?.session
    if (session == null || !isOpen(session) || !session.isUsable(now())) throw error
    session.token
}

/** The answer to a request with the access token. A refusal is one as well. */
internal fun Sojourn.answer(plain: HttpMessage, answersDemand: Boolean = false): HttpAnswer {
    var token = if (answersDemand) tokenDuringDemand() else accessToken()
    var isRenewed = false
    var isSignedAgain = false
    while (true) {
        val signed = plain.with(*authorize(plain.method, plain.url, token).toList().toTypedArray())
        val answer = exchange(signed) ?: throw SojournException.Unreachable("no answer")
        if (answer.isSuccess) {
            if (answer.serverTime != null) noteReached()
            return answer
        }
        val verdict = Verdict.of(answer)
        noteWord(verdict)
        if (verdict == Verdict.SignAgain && !isSignedAgain) {
            isSignedAgain = true
        } else if (!isRenewed && isAboutToken(answer, verdict)) {
            isRenewed = true
            // The server itself has refused the token: this is worth a renewal, however recent the last one is.
            rejections.clear()
            token = accessToken(Need.After(token))
        } else {
            return answer
        }
    }
}

/** Notes what the server has just said of the session. During a wait after a failed renewal it is the newer word. */
private fun Sojourn.noteWord(verdict: Verdict) {
    if (verdict is Verdict.Unreachable) return
    noteReached()
    if (verdict !is Verdict.Suspended) return
    reachability = Reachability.Suspended(verdict.reason)
    if (heldError != null) heldError = verdict.exception()
    publishState()
}

private fun isAboutToken(answer: HttpAnswer, verdict: Verdict): Boolean = answer.status == 401 &&
    (verdict is Verdict.Ended || verdict is Verdict.Suspended ||
        verdict is Verdict.Refused && verdict.refusal.code == "invalid_token")

/** The error of a call; null if it succeeded. A call ends no session. */
internal fun Sojourn.error(answer: HttpAnswer): SojournException? {
    if (answer.isSuccess) return null
    val verdict = Verdict.of(answer)
    val refusal = ErrorAnswer.of(answer)?.refusal
    if (verdict is Verdict.Ended && refusal != null) return SojournException.Refused(refusal)
    return verdict.exception() ?: SojournException.Unreachable("status ${answer.status}", answer.status)
}

/** The answer to a request without an access token. */
internal fun Sojourn.plainAnswer(request: HttpMessage): HttpAnswer {
    val answer = exchange(request) ?: throw SojournException.Unreachable("no answer")
    error(answer)?.let { throw it }
    return answer
}

/**
 * Sends a request until an answer comes, three times at most. Without a [call] it has no access token. [onLost] is called after each
 * try without an answer, because a call that such a try has fulfilled can look as if it were refused.
 */
internal fun Sojourn.insist(request: HttpMessage, call: AccountCall? = null, onLost: () -> Unit = {}): HttpAnswer {
    var attempt = 1
    while (true) {
        try {
            return if (call == null) plainAnswer(request) else call(request, call.needsUserItself)
        } catch (error: SojournException.Unreachable) {
            onLost()
            if (attempt >= 3 || (error.retryAfter ?: 0) > Retries.RETRY_AFTER_WITHIN) throw error
            pause(Retries.waitWithin(attempt, error.retryAfter))
            attempt += 1
        }
    }
}

/** Makes a call until an answer comes, with an `Idempotency-Key` that is the same for the same call in this session. */
internal fun Sojourn.keyed(call: AccountCall): HttpAnswer {
    val record = current()?.record?.takeIf { it.session != null } ?: throw SojournException.NotSignedIn()
    val message = call.message(server)
    val path = uriOf(message.url)?.rawPath ?: ""
    val said = "${message.method} $path " + (if (call.isNewEachTime) randomText(16) else "") + (message.body ?: "")
    return insist(message.with("Idempotency-Key" to retryKey(record.secret, "call:$said")), call)
}

/** The members of an answer; an error if it is none of the server's. */
internal fun HttpAnswer.members(): Members = membersOf(text) ?: throw SojournException.notAnAnswer(this)
