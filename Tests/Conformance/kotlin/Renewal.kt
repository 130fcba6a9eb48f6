package sojourn

import java.net.URLEncoder
import kotlin.math.max
import kotlin.math.min

/** One renewal: load, send, compare and swap. */
internal class Renewal(private val client: SojournClient, private val seen: Loaded) {
    private val settings = client.settings

    /** The fields that prove the key; and whether the key certainly does not exist any more. */
    private class Signature(val fields: Map<String, String>, val isKeyGone: Boolean = false)

    fun run(): Outcome {
        var isSignedAgain = false
        var attempt = 1
        while (true) {
            val signature = try {
                sign()
            } catch (_: Exception) {
                return Outcome.Kept(Verdict.Unreachable())
            }
            // Nothing that can wait stands between loading and sending (3).
            val sentAt = client.time.now()
            val loaded = try {
                client.load()
            } catch (_: StoreException) {
                return Outcome.StoreFailed
            }
            if (loaded == null || !loaded.record.hasSession) return Outcome.NotSignedIn
            loaded.record.endReason?.let { return Outcome.Ended(it) }
            if (loaded.version != seen.version) return Outcome.Overtaken
            when (val verdict = present(loaded.record, sentAt, signature)) {
                is Verdict.Renewed -> return commit(loaded.record.take(verdict.answer))
                is Verdict.Ended -> return commit(loaded.record.ended(verdict.reason, client.time.now()))
                Verdict.SignAgain -> {
                    if (isSignedAgain) return Outcome.Kept(Verdict.Unreachable())
                    isSignedAgain = true
                }
                is Verdict.Unreachable -> {
                    if (attempt >= 3 || (verdict.retryAfter ?: 0) > 5) return Outcome.Kept(verdict)
                    Thread.sleep((Retries.waitWithin(attempt, verdict.retryAfter) * 1000).toLong())
                    attempt += 1
                }
                is Verdict.Suspended, is Verdict.Refused, Verdict.PresenceRequired -> return Outcome.Kept(verdict)
            }
        }
    }

    private fun sign(): Signature {
        if (!seen.record.isBound) return Signature(emptyMap())
        val key = settings.keys.key()
        if (key == null || key.thumbprint != seen.record.keyThumbprint) return Signature(emptyMap(), isKeyGone = true)
        val url = settings.server + "/oauth/token"
        return Signature(mapOf("DPoP" to proof(key, "POST", url, client.time.now(), client.nonce)))
    }

    private fun present(record: SessionRecord, sentAt: Long, signature: Signature): Verdict {
        val form = listOf(
            "grant_type" to "refresh_token", "refresh_token" to record.refreshToken, "client_id" to settings.clientID,
            "device_id" to record.deviceID, "sent_at" to sentAt.toString(), "id_token" to "false",
        ).joinToString("&") { (name, value) -> name + "=" + URLEncoder.encode(value, "UTF-8") }
        val fields = signature.fields + mapOf(
            "Content-Type" to "application/x-www-form-urlencoded",
            "Idempotency-Key" to idempotencyKey(record.secret, record.refreshToken),
        )
        val interval = record.rotationInterval
        val limit = if (interval > 0) min(20.0, max(interval / 4.0, 0.5)) else 20.0
        val request = Request("POST", settings.server + "/oauth/token", fields, form)
        val answer = client.exchange(request, limit) ?: return Verdict.Unreachable()
        return Verdict.of(answer, signature.isKeyGone)
    }

    /** Stores what came of it, if the record that was presented is still stored (2, 5, 6). */
    private fun commit(record: SessionRecord): Outcome =
        try {
            val changed = record.withOffset(client.time.recordOffset)
            val isStored = settings.store.replace(seen.version, changed.members.toString())
            val loaded = client.load()
            val reason = loaded?.record?.endReason
            when {
                loaded == null || !loaded.record.hasSession -> Outcome.NotSignedIn
                reason != null -> Outcome.Ended(reason)
                isStored -> Outcome.Renewed(loaded)
                else -> Outcome.Overtaken
            }
        } catch (_: StoreException) {
            Outcome.StoreFailed
        }
}
