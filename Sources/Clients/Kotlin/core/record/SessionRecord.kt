// What is stored for one device and its user: the record of the protocol document, and changes of it without input and output.
// Members that this version does not know are kept.

package org.sojourn

/** A record with the version under which it is stored. */
internal data class Loaded(val version: String, val record: SessionRecord)

internal data class SessionRecord(val members: Members) {
    companion object {
        private const val SCHEMA = 1L
        private const val DEBTS_MAX = 5

        /** What an answer brings. What it leaves out stays as it is. */
        private val answerMembers = listOf(
            "session_id", "access_token", "token_type", "issued_at", "refresh_after", "session_idle_expires_at",
            "session_expires_at", "rotation_interval", "renewal", "authentication_mode", "user",
        )
        private val sessionMembers = answerMembers + listOf(
            "refresh_token", "expires_at", "key_thumbprint", "gate_id", "encryption_key", "sealed", "ended",
        )

        /** Reads a record. A text that is none, or of a later schema, counts as unreadable, and is kept. */
        fun parse(text: String): SessionRecord {
            val members = membersOf(text) ?: throw unreadable("not a JSON object")
            val schema = members.number("schema")
            if (schema != SCHEMA) throw unreadable("schema $schema")
            members.text("device_id") ?: throw unreadable("no device_id")
            val secret = members.text("retry_secret")?.let(::decodeBase64url)
            if (secret == null || secret.isEmpty()) throw unreadable("no retry_secret")
            return SessionRecord(members)
        }

        private fun unreadable(detail: String) = StoreException(StoreException.Kind.UNREADABLE, detail)

        fun new(deviceID: String) =
            SessionRecord(membersOf("schema" to SCHEMA, "device_id" to deviceID, "retry_secret" to randomText(32)))
    }

    val deviceID get() = members.text("device_id") ?: ""
    val secret: ByteArray get() = decodeBase64url(members.text("retry_secret") ?: "") ?: ByteArray(0)
    val session by lazy { StoredSession(members).takeIf { it.exists } }
    val isSignedOut get() = members.bool("signed_out") ?: false
    val clockOffset get() = members.number("clock_offset")
    val debts get() = members.objects("debts")
    val pendingLogin get() = members.members("pending_login")
    val verifications get() = members.objects("verifications")

    fun with(vararg changes: Pair<String, Any?>) = SessionRecord(members.with(*changes))

    fun withSecret() = with("retry_secret" to randomText(32))

    fun withOffset(offset: Long?) = if (offset == null) this else with("clock_offset" to offset)

    /** The record with what an answer brings. A session that the device key renews never gets a refresh token. */
    fun take(answer: TokenAnswer): SessionRecord {
        val brought = answerMembers.mapNotNull { name -> answer.members[name]?.let { name to it } }.toTypedArray()
        val refreshToken = session?.refreshToken?.let { answer.refreshToken ?: it }
        return with(
            "refresh_after" to null, "token_type" to null, *brought, "refresh_token" to refreshToken,
            "expires_at" to answer.expiresAt, "ended" to null,
        )
    }

    fun ended(reason: String, at: Long) = with("ended" to membersOf("reason" to reason, "at" to at))

    private fun withoutSession() = with(*sessionMembers.map { it to null }.toTypedArray())

    /** The record that remembers to tell the server of the end of [session]. The oldest debt gives way. */
    fun owing(session: StoredSession): SessionRecord {
        val token = session.refreshToken ?: session.accessToken
        if (token.isEmpty()) return this
        val debt = membersOf(
            "session_id" to session.sessionID, "token" to token,
            "kind" to if (session.refreshToken == null) session.token.type else "refresh_token",
            "key_thumbprint" to session.keyThumbprint.takeIf { session.token.isBound },
            "expires_at" to (session.members["session_idle_expires_at"] ?: session.sessionExpiresAt),
        )
        return with("debts" to (debts + debt).takeLast(DEBTS_MAX))
    }

    /** The record after a sign-out. The session becomes a debt if [isOwing], unless the server has ended it (rule 13). */
    fun signedOut(isOwing: Boolean): SessionRecord {
        val left = session?.takeIf { isOwing && it.endReason == null }
        val owed = if (left == null) this else owing(left)
        return owed.withoutSession().withSecret().with("signed_out" to true, "pending_login" to null, "verifications" to null)
    }

    /** The record with the session of a login. Another session that was left without a sign-out becomes a debt. */
    fun begun(answer: TokenAnswer, keyThumbprint: String?, gateID: String?, isSealed: Boolean): SessionRecord {
        val id = answer.members.text("session_id")
        val previous = session?.takeIf { it.endReason == null && it.sessionID != id }
        val base = if (previous == null) this else owing(previous)
        val fresh = base.withoutSession().withSecret().with(
            "debts" to base.debts.filter { it.text("session_id") == null || it.text("session_id") != id }.ifEmpty { null },
            "signed_out" to null, "pending_login" to null, "key_thumbprint" to keyThumbprint, "gate_id" to gateID,
            "device_id" to (answer.members.text("device_id") ?: deviceID), "refresh_token" to answer.refreshToken,
            "sealed" to if (isSealed) "" else null,
            // A user without a name may be about to sign up.
            "verifications" to members["verifications"].takeIf { answer.account.isAnonymous },
        )
        return fresh.take(answer)
    }

    fun without(debt: Members) = with("debts" to debts.filter { it != debt }.ifEmpty { null })

    // Sealing (rule 17)

    /** The text for the store. Tokens that are stored under seal are sealed anew, and never written as they are. */
    fun text(gate: OpenGate?): String {
        val session = session
        if (session == null || !session.isSealed || session.isLocked) return jsonOf(members)
        if (gate == null || gate.id != session.gateID) throw StoreException(StoreException.Kind.FAILED, "seal the tokens")
        val tokens = jsonOf(membersOf("access_token" to session.accessToken, "refresh_token" to session.refreshToken))
        val sealed = gate.sealed(tokens.toByteArray(), sealingContext(session))
            ?: throw StoreException(StoreException.Kind.FAILED, "the gate is closed")
        return jsonOf(members.with("access_token" to null, "refresh_token" to null, "sealed" to base64url(sealed)))
    }

    /** The record with the sealed tokens; as it is, if [key] does not open them. */
    fun opened(key: ByteArray): SessionRecord {
        val session = session ?: return this
        val sealed = session.members.text("sealed")?.let(::decodeBase64url) ?: return this
        val tokens = unseal(sealed, key, sealingContext(session))?.let { membersOf(String(it)) } ?: return this
        val accessToken = tokens.text("access_token") ?: return this
        return with("access_token" to accessToken, "refresh_token" to tokens.text("refresh_token"))
    }

    /** The record without the tokens, if they are stored under seal. */
    fun locked() = if (session?.isSealed == true) with("access_token" to null, "refresh_token" to null) else this

    /** The tokens open only in the record of their device and session. */
    private fun sealingContext(session: StoredSession) =
        "sojourn tokens $deviceID ${session.sessionID ?: ""}".toByteArray()
}

/** The members of a record that are of its session. */
internal class StoredSession(val members: Members) {
    val sessionID get() = members.text("session_id")
    val accessToken = members.text("access_token") ?: ""

    /** Null for a session that the device key renews. */
    val refreshToken get() = members.text("refresh_token")
    val token = AccessToken(accessToken, members.text("token_type") ?: "Bearer", members.number("expires_at") ?: 0)
    val issuedAt get() = members.number("issued_at") ?: 0
    val sessionExpiresAt get() = members.number("session_expires_at")
    val rotationInterval get() = members.number("rotation_interval") ?: 0
    val mode = AuthenticationMode.of(members.text("authentication_mode")) ?: AuthenticationMode.NO
    val user get() = members.members("user") ?: emptyMap()
    val account by lazy { Account.of(user) }
    val keyThumbprint get() = members.text("key_thumbprint")
    val gateID get() = members.text("gate_id")
    val encryptionKey get() = members.text("encryption_key")
    val endReason = members.members("ended")?.text("reason")
    val isSealed = members["sealed"] is String
    val exists get() = accessToken.isNotEmpty() || refreshToken != null || isSealed

    /** Whether the tokens are sealed, and the sealing key is not at hand. */
    val isLocked get() = isSealed && accessToken.isEmpty()

    /** Whether the session can be renewed. One that cannot ends with its access token (`stay_logged_in` of the client). */
    val isRenewable = members.elements("renewal")?.isEmpty() != true

    private val refreshAfter = members.number("refresh_after") ?: Long.MAX_VALUE

    /** Whether the server has to be asked: for a renewal strictly after `refresh_after` (rule 8). */
    fun isDue(now: Long) = if (isRenewable) now > refreshAfter || !isUsable(now) else now >= token.expiresAt

    /** Whether the access token is good for a request: for 30 seconds more. */
    fun isUsable(now: Long) = token.expiresAt - now >= 30
}

/** The answer to a login or a renewal. It is read without further checks, because a rotated token must be stored whatever it says. */
internal class TokenAnswer private constructor(val members: Members) {
    val issuedAt = members.number("issued_at") ?: 0
    val expiresAt = members.number("expires_at")
        ?: (issuedAt + (members.number("expires_in") ?: 3600).coerceIn(0, 1L shl 40))
    val refreshToken get() = members.text("refresh_token")
    val account get() = Account.of(members.members("user") ?: emptyMap())

    /** The `nonce` of the ID token. Its signature does not matter, because the answer comes from the server itself. */
    val idTokenNonce: String?
        get() {
            val parts = members.text("id_token")?.split(".")?.takeIf { it.size == 3 } ?: return null
            return decodeBase64url(parts[1])?.let { membersOf(String(it)) }?.text("nonce")
        }

    /** The answer for a client with sessions that the device key renews. */
    fun withoutRefreshToken() = TokenAnswer(members.with("refresh_token" to null))

    companion object {
        private val texts = listOf("session_id", "device_id", "token_type", "authentication_mode", "refresh_token")
        private val numbers = listOf("refresh_after", "session_idle_expires_at", "session_expires_at", "rotation_interval")

        /** Null unless the object has an access token and the time of its issue. A member of a wrong type counts as absent. */
        fun of(members: Members?): TokenAnswer? {
            if (members?.text("access_token") == null || members.number("issued_at") == null) return null
            val wrong = texts.filter { members.text(it) == null } + numbers.filter { members.number(it) == null } +
                listOf("user").filter { members.members(it) == null } +
                listOf("renewal").filter { members.elements(it) == null }
            return TokenAnswer(members.with(*wrong.map { it to null }.toTypedArray()))
        }

        /** The tokens that a session has, for the confirmation of one that nothing renews. */
        fun confirming(session: StoredSession) = TokenAnswer(
            membersOf(
                "access_token" to session.accessToken, "token_type" to session.token.type, "issued_at" to session.issuedAt,
                "expires_at" to session.token.expiresAt, "refresh_after" to session.members["refresh_after"],
            )
        )
    }
}
