// Logins, sign-outs, and the sign-outs that are still to be told (rules 4 and 13).

package sojourn

import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** Signs a user in by name and password. Returns the name. */
fun SojournClient.signIn(username: String, password: String): String {
    val signOutsBefore = signOuts
    // Stored before the login is sent, so that a lost answer is asked for again with the same key (4).
    val record = prepare().record
    val key = if (settings.isBound) settings.keys.makeKey() else null
    val device = JsonObject(mapOf("id" to JsonPrimitive(record.deviceID)))
    val body = JsonObject(
        mapOf(
            "client_id" to JsonPrimitive(settings.clientID), "device" to device,
            "password" to JsonPrimitive(password), "username" to JsonPrimitive(username),
        )
    ).toString()
    val answer = login(body, idempotencyKey(record.secret, "login:$body"), key)
    val isLate = signOutsBefore != signOuts
    val secret = randomText(32)
    // If the user has signed out meanwhile, this session goes as well.
    update { if (isLate) it.take(answer).signedOut(secret) else it.begun(answer, secret, key?.thumbprint) }
    payDebtsInBackground()
    if (isLate) throw SessionException("other", "signed out meanwhile")
    noteLogin()
    return state.user ?: username
}

private fun SojournClient.login(body: String, retryKey: String, key: DeviceKey?): JsonObject {
    val url = settings.server + "/v1/login"
    var isSignedAgain = false
    var attempt = 1
    while (true) {
        val fields = mutableMapOf("Content-Type" to "application/json", "Idempotency-Key" to retryKey)
        if (key != null) fields["DPoP"] = proof(key, "POST", url, time.now(), nonce)
        val verdict = exchange(Request("POST", url, fields, body), 20.0)?.let { Verdict.of(it) } ?: Verdict.Unreachable()
        when {
            verdict is Verdict.Renewed -> return verdict.answer
            verdict == Verdict.SignAgain && !isSignedAgain -> isSignedAgain = true
            verdict is Verdict.Unreachable && attempt < 3 && (verdict.retryAfter ?: 0) <= 5 -> {
                Thread.sleep((Retries.waitWithin(attempt, verdict.retryAfter) * 1000).toLong())
                attempt += 1
            }
            // A login has no session that could have ended.
            verdict is Verdict.Ended -> throw SessionException("refused", verdict.reason)
            else -> throw exception(verdict)
        }
    }
}

/** Signs out at once, and tells the server when it can be reached (13). */
fun SojournClient.signOut() {
    signOuts += 1
    state = State("signed-out")
    val secret = randomText(32)
    update { record -> record.takeIf { it.hasSession }?.signedOut(secret) }
    payDebtsInBackground()
}

internal fun SojournClient.payDebtsInBackground() {
    settings.threads.execute {
        // A store that fails is asked again at the next occasion.
        runCatching { synchronized(debtsLock) { payDebts() } }
    }
}

private enum class Payment { PAID, REFUSED, UNREACHABLE }

private fun SojournClient.payDebts() {
    val tried = mutableSetOf<JsonObject>()
    while (true) {
        val debt = load()?.record?.debts?.firstOrNull { it !in tried } ?: return
        tried += debt
        val isOver = (debt.number("expires_at") ?: Long.MAX_VALUE) < time.now()
        when (if (isOver) Payment.PAID else pay(debt)) {
            Payment.PAID -> update { it.without(debt) }
            Payment.REFUSED -> {}
            Payment.UNREACHABLE -> return
        }
    }
}

private fun SojournClient.pay(debt: JsonObject): Payment {
    val url = settings.server + "/v1/logout"
    val body = JsonObject(emptyMap()).with("refresh_token" to debt["token"]).toString()
    repeat(2) {
        val fields = mutableMapOf("Content-Type" to "application/json")
        debt.text("key_thumbprint")?.let { thumbprint ->
            // Without its key the session cannot be ended from here. It ends by itself.
            val key = settings.keys.key()?.takeIf { it.thumbprint == thumbprint } ?: return Payment.PAID
            fields["DPoP"] = proof(key, "POST", url, time.now(), nonce)
        }
        val answer = exchange(Request("POST", url, fields, body), 20.0) ?: return Payment.UNREACHABLE
        if (answer.status in 200..299) return Payment.PAID
        when (val verdict = Verdict.of(answer)) {
            Verdict.SignAgain -> return@repeat
            is Verdict.Unreachable -> return Payment.UNREACHABLE
            is Verdict.Ended -> return Payment.PAID
            is Verdict.Refused -> return if (verdict.reason == "invalid_token") Payment.PAID else Payment.REFUSED
            else -> return Payment.REFUSED
        }
    }
    return Payment.REFUSED
}

/** The stored record; written, if there is none. One that cannot be read is set aside, and kept (19). */
private fun SojournClient.prepare(): Loaded {
    repeat(16) {
        try {
            load()?.let { return it }
        } catch (error: StoreException) {
            if (error.kind != StoreException.Kind.UNREADABLE) throw error
            settings.store.setAside()
        }
        settings.store.replace(null, SessionRecord.new(randomText(16), randomText(32)).members.toString())
    }
    throw SessionException("other", "the record changes all the time")
}
