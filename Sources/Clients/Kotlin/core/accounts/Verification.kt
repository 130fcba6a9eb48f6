// The proof of a mailbox: the request, the code, and the mail once more. It is stored before the first request, so that a request with
// a lost answer is continued by the next one, even after a new start of the app.

package org.sojourn

/** What the proof of a mailbox is for. */
enum class VerificationPurpose(internal val word: String) {
    SIGN_UP("sign_up"), SIGN_IN("sign_in"), RESET("reset");

    internal companion object {
        fun of(word: String?) = entries.firstOrNull { it.word == word }
    }
}

/**
 * The proof of a mailbox that is under way: the server has sent a mail with a code, and the app asks the user for it. It survives a new
 * start of the app: [verification] returns it. Times are in Unix seconds of the server. [isProven]: only the last call is left.
 */
class Verification internal constructor(internal val stored: Members, private val sojourn: Sojourn) {
    val id = stored.text("verification_id") ?: ""
    val purpose = VerificationPurpose.of(stored.text("purpose")) ?: VerificationPurpose.SIGN_UP
    val email = stored.text("email") ?: ""
    val codeLength = (stored.number("code_length") ?: 8).toInt()
    val expiresAt = stored.number("expires_at") ?: 0
    val resendAfter = stored.number("resend_at") ?: 0
    val isProven = stored.bool("proven") ?: false

    /** Shows the server the code of the mail. Wrong ones are `refused` with `invalid_code` and `attemptsLeft`, or `verification_over`. */
    fun confirm(code: String): Verification = sojourn.confirm(this, code)

    /** Has the mail sent once more, with the same code. Earlier than [resendAfter] nothing is sent. */
    fun resend(): Verification = sojourn.resend(this)

    /** Gives the proof up on this device: a later call for the same mailbox is another one. */
    fun cancel() = sojourn.forget(this)
}

/** The proof of that purpose that is under way; null: there is none, or no answer to its request has come. */
fun Sojourn.verification(purpose: VerificationPurpose): Verification? =
    load()?.record?.verification(purpose)?.takeIf { it.isAnswered }?.let { Verification(it, this) }

internal val Members.isAnswered get() = text("verification_id") != null

internal fun SessionRecord.verification(purpose: VerificationPurpose): Members? =
    verifications.firstOrNull { it.text("purpose") == purpose.word }

/** The record with a proof in place of the one with its purpose. */
private fun SessionRecord.keeping(proof: Members) =
    with("verifications" to verifications.filter { it.text("purpose") != proof.text("purpose") } + proof)

private val noVerification get() = SojournException.refused("no_verification_pending")

/** Asks for a proof. A request for the same mailbox is the same request until the code has expired, or was shown. */
internal fun Sojourn.ask(purpose: VerificationPurpose, email: String): Verification {
    val deviceID = prepareRecord().record.deviceID
    val now = now()
    val fresh = membersOf("purpose" to purpose.word, "email" to email, "key" to randomText(16), "asked_at" to now)
    var asked = fresh
    change { record ->
        val known = record.verification(purpose)
        val end = known?.number("expires_at") ?: ((known?.number("asked_at") ?: 0) + 600)
        val isGood = known != null && known.text("email") == email && known.bool("proven") != true && now < end
        asked = if (known != null && isGood) known else fresh
        if (isGood) null else record.keeping(fresh)
    }
    val members = membersOf(
        "purpose" to purpose.word, "email" to email, "client_id" to configuration.clientID, "device_id" to deviceID,
        "language" to configuration.language,
    )
    val request = server.request("POST", "/v1/verifications", members).with("Idempotency-Key" to (asked.text("key") ?: ""))
    return take(insist(request), asked)
}

internal fun Sojourn.confirm(verification: Verification, code: String): Verification {
    val stored = stored(verification)
    if (stored.bool("proven") == true) return Verification(stored, this)
    val path = "/v1/verifications/${escaped(verification.id)}/code"
    answer(server.request("POST", path, membersOf("code" to code)), stored, "code:$code")
    return Verification(noteProof(stored), this)
}

internal fun Sojourn.resend(verification: Verification): Verification {
    val stored = stored(verification)
    val path = "/v1/verifications/${escaped(verification.id)}/resend"
    // A mail that may be sent again is another request.
    return take(answer(server.request("POST", path), stored, "resend:${stored.number("resend_at") ?: 0}"), stored)
}

internal fun Sojourn.forget(verification: Verification) {
    change { record ->
        val others = record.verifications.filter { it.text("verification_id") != verification.id }
        if (others.size == record.verifications.size) null else record.with("verifications" to others.ifEmpty { null })
    }
}

/** Stores that the server has taken the code of a proof. */
internal fun Sojourn.noteProof(stored: Members): Members = stored.with("proven" to true).also { replace(stored, it) }

/** The first stored proof of these purposes with a code that was shown. */
internal fun Sojourn.proven(vararg purposes: VerificationPurpose): Members {
    val record = load()?.record
    return purposes.mapNotNull { record?.verification(it) }.firstOrNull { it.bool("proven") == true && it.isAnswered }
        ?: throw noVerification
}

/** The stored proof of that purpose to which an answer has come. */
internal fun Sojourn.pending(purpose: VerificationPurpose): Members =
    load()?.record?.verification(purpose)?.takeIf { it.isAnswered } ?: throw noVerification

/** Removes a proof, because the server says that it is over, or because it has done its work. */
internal fun Sojourn.forget(stored: Members) {
    // If that fails, the next request finds out that it is over.
    quietly { forget(Verification(stored, this)) }
}

/** Forgets the proof if the server says that it is over. */
internal fun Sojourn.noteEnd(error: SojournException, stored: Members) {
    if (error is SojournException.Refused && error.refusal.code == "verification_over") forget(stored)
}

private fun Sojourn.stored(verification: Verification): Members =
    pending(verification.purpose).takeIf { it.text("verification_id") == verification.id } ?: throw noVerification

/** Stores what an answer says of a proof. The answer to a repeated mail has no token. */
private fun Sojourn.take(answer: HttpAnswer, asked: Members): Verification {
    val members = answer.members()
    val id = members.text("verification_id")
    val token = members.text("verification_token") ?: asked.text("verification_token")
    val isOther = asked.isAnswered && asked.text("verification_id") != id && members.text("verification_token") == null
    if (id == null || token == null || isOther || members.number("expires_at") == null) {
        throw SojournException.notAnAnswer(answer)
    }
    val answered = asked.with(
        "verification_id" to id, "verification_token" to token, "code_length" to (members.number("code_length") ?: 8L),
        "expires_at" to members.number("expires_at"), "resend_at" to now() + (members.number("resend_after") ?: 0),
    )
    replace(asked, answered)
    return Verification(answered, this)
}

/** Stores what has become of a proof, unless another one has taken its place meanwhile. */
private fun Sojourn.replace(old: Members, new: Members) {
    val purpose = VerificationPurpose.of(old.text("purpose")) ?: return
    change { record -> if (record.verification(purpose)?.text("key") == old.text("key")) record.keeping(new) else null }
}

/** The answer to a call of a proof, sent until one comes, with a key of its own that is derived from that of the proof. */
private fun Sojourn.answer(request: HttpMessage, stored: Members, name: String): HttpAnswer {
    val key = retryKey((stored.text("key") ?: "").toByteArray(), "call:$name")
    val token = stored.text("verification_token")
    try {
        return insist(request.with("Authorization" to "Bearer $token", "Idempotency-Key" to key))
    } catch (error: SojournException) {
        noteEnd(error, stored)
        throw error
    }
}
