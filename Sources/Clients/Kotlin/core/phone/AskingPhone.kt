// A login with a phone, for the device that asks (RFC 8628): the picture, the number, the approval, and the session.

package org.sojourn

import java.util.concurrent.atomic.AtomicBoolean

/** What the app shows while the user takes the phone. */
sealed interface PhoneLoginEvent {
    /** The text of the picture, which changes every ten seconds until a phone has scanned it. [until] is in Unix seconds. */
    data class Code(
        val qr: String, val link: String?, val userCode: String?, val verificationURI: String?, val until: Long,
    ) : PhoneLoginEvent

    /** A phone has scanned the picture: the user types this number there. */
    data class Number(val number: Int) : PhoneLoginEvent
    data object Approved : PhoneLoginEvent
}

/**
 * How a device asks for a login by a phone. [text] is what the phone shows as the words of this device: one line of at most 200
 * characters. [redirectURI] is where the phone leads back to, for an app on the phone itself. [cancel] ends the wait.
 */
class PhoneLogin(val text: String? = null, val redirectURI: String? = null, val onChange: (PhoneLoginEvent) -> Unit) {
    private val cancelled = AtomicBoolean()

    /** Ends the wait at its next answer. The login at the server ends by itself. */
    fun cancel() = cancelled.set(true)

    internal fun check() {
        if (cancelled.get()) throw SojournException.Cancelled()
    }
}

/** How long one request waits for a change, in seconds. */
private const val CHANGE_WAIT = 25

private val endWords = mapOf("canceled" to "access_denied", "timed_out" to "expired_token", "failed" to "login_failed")

/**
 * Signs in with a phone of the user, which lets this device in. The app draws the `qr` of each event. A refusal on the phone is
 * `access_denied`, and without an approval in time the code is `expired_token`. The client needs the device grant.
 */
fun Sojourn.signInByPhone(login: PhoneLogin): Account {
    val order = nextLogin()
    prepareRecord()
    val key = loginKey()
    val asked = askPhone(login, key)
    val code = asked.text("device_code") ?: ""
    follow(login, asked, code)
    val record = prepareRecord().record
    val request = server.form(
        TOKEN_PATH,
        listOf(
            "grant_type" to "urn:ietf:params:oauth:grant-type:device_code", "client_id" to configuration.clientID,
            "device_code" to code, "device_id" to record.deviceID)
    ).with("Idempotency-Key" to retryKey(record.secret, "device:$code"))
    var rounds = 0
    while (true) {
        login.check()
        try {
            return commit(storable(loginAnswer(request, key)), key?.publicKey?.thumbprint, null, order)
        } catch (error: SojournException.Refused) {
            rounds += 1
            if (error.refusal.code !in listOf("authorization_pending", "slow_down") || rounds > 10) throw error
            pause((asked.number("interval") ?: 5).toDouble())
        }
    }
}

private fun Sojourn.askPhone(login: PhoneLogin, key: DeviceKey?): Members {
    val request = server.form(
        "/oauth/device_authorization",
        listOf(
            "client_id" to configuration.clientID, "scope" to configuration.scope, "redirect_uri" to login.redirectURI,
            "announce_info" to login.text?.let { jsonOf(mapOf("text" to it)) },
        ) + configuration.resources.map { "resource" to it })
    var isSignedAgain = false
    while (true) {
        login.check()
        val prover = key.takeIf { configuration.renewal == Renewing.BOUND_REFRESH_TOKEN }
        val signed = if (prover == null) request else {
            request.with("DPoP" to storing { proof(prover, request.method, request.url) })
        }
        val answer = exchange(signed) ?: throw SojournException.Unreachable("no answer")
        if (!answer.isSuccess && !isSignedAgain && Verdict.of(answer) == Verdict.SignAgain) {
            isSignedAgain = true
            continue
        }
        error(answer)?.let { throw it }
        val members = answer.members()
        if (members.text("login_id") == null || members.text("device_code") == null) {
            throw SojournException.notAnAnswer(answer)
        }
        show(login, members, members)
        return members
    }
}

/** Waits until the user has approved the login. What gets no answer is asked again until the login is over. */
private fun Sojourn.follow(login: PhoneLogin, asked: Members, code: String) {
    var version: String? = null
    var failures = 0
    while (true) {
        login.check()
        val query = formOf(listOf("wait" to CHANGE_WAIT.toString(), "version" to version))
        val request = server.request("GET", "/v1/logins/${escaped(asked.text("login_id") ?: "")}?$query")
            .with("Authorization" to "Bearer $code")
        val answer = exchange(request, CHANGE_WAIT + configuration.patience)
        val members = answer?.takeIf { it.isSuccess }?.let { membersOf(it.text) }
        val event = members?.text("event")
        if (members == null || event == null) {
            val error = answer?.let { error(it) }
            if (error != null && error !is SojournException.Unreachable) throw error
            failures += 1
            val retryAfter = (error as? SojournException.Unreachable)?.retryAfter?.coerceAtLeast(Retries.RETRY_AFTER_WITHIN)
            pause(Retries.waitWithin(failures, retryAfter))
            continue
        }
        failures = 0
        version = members.text("version")
        endWords[event]?.let { throw SojournException.refused(it) }
        if (event == "approved" || event == "logged_in") return login.onChange(PhoneLoginEvent.Approved)
        show(login, members, asked)
    }
}

private fun show(login: PhoneLogin, members: Members, asked: Members) {
    val number = members.number("number")
    val qr = members.text("qr")
    if (number != null) {
        login.onChange(PhoneLoginEvent.Number(number.toInt()))
    } else if (qr != null) {
        login.onChange(
            PhoneLoginEvent.Code(
                qr, asked.text("link"), asked.text("user_code"), asked.text("verification_uri"),
                members.number("qr_expires_at") ?: 0))
    }
}
