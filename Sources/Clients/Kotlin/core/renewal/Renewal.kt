package org.sojourn

import kotlin.math.max
import kotlin.math.min

/** How a renewal ends. */
internal sealed interface Outcome {
    class Renewed(val loaded: Loaded) : Outcome

    /** Another process was first: its record is stored. */
    data object Overtaken : Outcome
    data object NotSignedIn : Outcome
    class Ended(val reason: String) : Outcome

    /** The record is kept as it is. */
    class Kept(val verdict: Verdict) : Outcome
    class StoreFailed(val error: StoreException) : Outcome
    class KeyFailed(val error: KeyException) : Outcome

    val exception: SojournException
        get() = when (this) {
            is Kept -> verdict.exception()
            is StoreFailed -> SojournException.of(error)
            is KeyFailed -> SojournException.of(error)
            is Ended -> SojournException.Ended(reason)
            is Renewed, Overtaken, NotSignedIn -> null
        } ?: SojournException.Unreachable("no verdict")

    /** A word for the log. */
    val name: String
        get() = if (this is Kept || this is StoreFailed || this is KeyFailed) "kept: ${exception.message}" else javaClass.simpleName
}

/** One renewal: load, send, compare and swap. [seen] is the version that was found to be due. */
internal class Renewal(private val client: Sojourn, private val seen: String, private val isUserPresent: Boolean) {
    private companion object {
        const val ATTEMPTS_MAX = 3

        /** The longest time between loading a record and sending its token. */
        const val LOADED_AGE_MAX = 1.0
    }

    private val clock = client.clock
    private var need = SigningNeed.of(client.session)
    private var isSignedAgain = false
    private var isReloaded = false
    private var attempt = 1
    private var sentUptime = 0.0

    /** The gate that was open when the record was loaded: its key seals what this renewal brings. */
    private var gate: OpenGate? = null

    fun run(): Outcome {
        try {
            while (true) step()?.let { return it }
        } finally {
            gate?.release()
        }
    }

    /** Keeps the keys of [open] until the end of this renewal, also if the session is locked meanwhile. */
    private fun keep(open: OpenGate?) {
        if (open == null || open === gate || !open.hold()) return
        gate?.release()
        gate = open
    }

    /** One attempt; null: another one follows. */
    private fun step(): Outcome? {
        val session = client.session
        val signatures = client.signatures(need)
        keep(client.openGate(session))
        // A new one each time, because the server takes each only once.
        val userAssertion = gate?.takeIf { isUserPresent }?.let { open ->
            client.quietly { session?.let { client.assertion(open, it) } }
        }
        // Nothing that can wait stands between loading and sending (3).
        val sentAt = client.now()
        val loadedAt = clock.uptime()
        val loaded = try {
            client.loadStored()
        } catch (error: StoreException) {
            return Outcome.StoreFailed(error)
        }
        val stored = loaded?.record?.session ?: return Outcome.NotSignedIn
        stored.endReason?.let { return Outcome.Ended(it) }
        if (loaded.version != seen) return Outcome.Overtaken
        if (stored.isLocked) return Outcome.Kept(Verdict.PresenceRequired(client.waysToOpen(stored)))
        keep(client.openGate(stored))
        if (!stored.isRenewable) {
            sentUptime = clock.uptime()
            return handle(confirm(stored, userAssertion), loaded)
        }
        val needed = SigningNeed.of(stored)
        if (signatures.need != needed || clock.uptime() - loadedAt > LOADED_AGE_MAX && !isReloaded) {
            isReloaded = signatures.need == needed
            need = needed
            return null
        }
        signatures.error?.let { return Outcome.KeyFailed(it) }
        sentUptime = clock.uptime()
        return handle(present(loaded.record, stored, sentAt, signatures, userAssertion), loaded)
    }

    private fun handle(verdict: Verdict, loaded: Loaded): Outcome? = when (verdict) {
        is Verdict.Granted -> commit(loaded.record.take(verdict.answer))
        is Verdict.Ended -> commit(loaded.record.ended(verdict.reason, client.now()))
        Verdict.SignAgain -> if (isSignedAgain) Outcome.Kept(verdict) else null.also { isSignedAgain = true }
        is Verdict.Unreachable -> {
            if (attempt >= ATTEMPTS_MAX || (verdict.retryAfter ?: 0) > Retries.RETRY_AFTER_WITHIN) {
                Outcome.Kept(verdict)
            } else {
                client.pause(Retries.waitWithin(attempt, verdict.retryAfter))
                attempt += 1
                null
            }
        }
        else -> Outcome.Kept(verdict)
    }

    private fun present(
        record: SessionRecord, session: StoredSession, sentAt: Long, signatures: Signatures, userAssertion: String?,
    ): Verdict {
        val configuration = client.configuration
        val refreshToken = session.refreshToken
        val grant = when {
            refreshToken != null -> listOf(
                // The app has the user in the answer itself, and spares the server a signature.
                "grant_type" to "refresh_token", "refresh_token" to refreshToken, "id_token" to "false")
            signatures.assertion != null -> listOf(
                "grant_type" to "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion" to signatures.assertion)
            // Without its key a session that the key renews cannot be renewed by anything but a login.
            signatures.isKeyGone -> return Verdict.Ended("key_lost")
            else -> return Verdict.Misconfigured("no way to renew")
        }
        val form = grant + listOf(
            "client_id" to configuration.clientID, "device_id" to record.deviceID,
            "device_platform" to configuration.platform, "device_app_version" to configuration.appVersion,
            "sent_at" to sentAt.toString(), "user_assertion" to userAssertion,
        ) + configuration.resources.map { "resource" to it }
        var request = try {
            client.server.form(TOKEN_PATH, form)
        } catch (error: SojournException.Misconfigured) {
            return Verdict.Misconfigured(error.word)
        }
        if (refreshToken != null) request = request.with("Idempotency-Key" to retryKey(record.secret, refreshToken))
        if (signatures.proof != null) request = request.with("DPoP" to signatures.proof)
        val answer = client.exchange(request, patience(session)) ?: return Verdict.Unreachable("no answer")
        return Verdict.of(answer, signatures.isKeyGone)
    }

    /** Asks the server whether a session that nothing renews goes on (`stay_logged_in` of the client). */
    private fun confirm(session: StoredSession, userAssertion: String?): Verdict {
        try {
            if (session.token.isBound && client.deviceKey(session.keyThumbprint) == null) {
                val isOver = client.time.isAnchored && client.now() >= session.token.expiresAt
                return Verdict.Ended(if (isOver) "max_lifetime_reached" else "key_lost")
            }
            val call = if (userAssertion == null) AccountCall("GET", "/v1/me") else presenceCall(userAssertion)
            val request = call.message(client.server)
            val signed = HttpMessage(
                request.method, request.url, request.fields + client.authorize(request.method, request.url, session.token),
                request.body)
            val answer = client.exchange(signed, patience(session)) ?: return Verdict.Unreachable("no answer")
            return Verdict.of(answer, session)
        } catch (error: KeyException) {
            return Verdict.Unreachable(error.toString())
        } catch (error: SojournException) {
            return Verdict.Unreachable(error.toString())
        }
    }

    /** Stores what came of it, if the record that was presented is still stored (2, 5, 6). */
    private fun commit(record: SessionRecord): Outcome =
        try {
            // A process that was frozen after the answer came could store what the server has left behind meanwhile.
            val isInTime = clock.uptime() - sentUptime <= patience(record.session)
            val text = record.withOffset(client.time.recordOffset).text(gate)
            val isStored = isInTime && client.store.replace(seen, text)
            val loaded = client.loadStored()
            val session = loaded?.record?.session
            when {
                session == null -> Outcome.NotSignedIn
                session.endReason != null -> Outcome.Ended(session.endReason)
                isStored -> Outcome.Renewed(loaded)
                else -> Outcome.Overtaken
            }
        } catch (error: StoreException) {
            Outcome.StoreFailed(error)
        }

    /** One attempt takes a quarter of a short rotation interval at most, so that the requests of two processes fit into one. */
    private fun patience(session: StoredSession?): Double {
        val interval = session?.rotationInterval ?: 0
        val longest = client.configuration.patience
        return if (interval > 0) min(longest, max(interval / 4.0, 0.5)) else longest
    }
}
