package org.sojourn

private const val PUSH_LENGTH_MAX = 4096

/**
 * Lets the server encrypt the messages about logins to this device. To be called at each launch and after each sign-in, beside the
 * registration for messages at the system: it makes the key at the first time, and sends nothing if the server knows it.
 */
fun Sojourn.registerForPushes() {
    val session = living()
    val key = storing { keys.makeKey(KeyName.ENCRYPTION) }.publicKey
    if (session.encryptionKey == key.thumbprint) return
    val members = key.members.with("use" to "enc", "alg" to "ECDH-ES")
    call(AccountCall("PUT", "/v1/me/encryption-key", membersOf("encryption_key" to members)))
    noteEncryptionKey(key.thumbprint, session)
}

/** Lets the server encrypt no more messages to this device. The key stays for a later registration. */
fun Sojourn.unregisterFromPushes() {
    val session = living()
    call(AccountCall("DELETE", "/v1/me/encryption-key"))
    noteEncryptionKey(null, session)
}

private fun Sojourn.noteEncryptionKey(thumbprint: String?, session: StoredSession) {
    change { record ->
        val stored = record.session
        if (stored?.sessionID != session.sessionID || stored?.encryptionKey == thumbprint) return@change null
        record.with("encryption_key" to thumbprint)
    }
}

/** The code in a message that was pushed to the app; null: the message is of another kind. */
internal fun Sojourn.codeInPush(message: String): ScannedCode? {
    if (message.toByteArray().size > PUSH_LENGTH_MAX) throw SojournException.refused("invalid_code")
    val text = message.trim()
    if (!text.startsWith("{")) {
        if (text.count { it == '.' } != 4) throw SojournException.refused("invalid_code")
        return codeInEncrypted(text)
    }
    val members = membersOf(text) ?: throw SojournException.refused("invalid_code")
    members.text("sojourn")?.let { return codeInEncrypted(it.trim()) }
    return members.text("login")?.let { ScannedCode.of(it, ScannedCode.PUSH, server) }
}

/** The code in an encrypted message, if it is of this server, for this session, and not over. */
private fun Sojourn.codeInEncrypted(text: String): ScannedCode {
    val session = living()
    val content = contentOf(text, session)
    if (content.text("iss") != server.base) throw SojournException.refused("other_server")
    if (content.text("sid") != session.sessionID) throw SojournException.refused("other_session")
    val link = content.text("login")
    if (content.text("type") != "login" || link == null) throw SojournException.refused("unknown_message")
    if (now() >= (content.number("exp") ?: 0)) throw SojournException.refused("message_expired")
    val code = ScannedCode.of(link, ScannedCode.PUSH, server)
    if (code.isEnrolment) throw SojournException.refused("unknown_message")
    return code
}

private fun Sojourn.contentOf(text: String, session: StoredSession): Members {
    val key = storing { keys.key(KeyName.ENCRYPTION) }
    try {
        if (key == null) throw EncryptedMessage.Problem(isOtherKey = true)
        val content = storing { EncryptedMessage.open(text, key) }
        return membersOf(String(content)) ?: throw EncryptedMessage.Problem(isOtherKey = false)
    } catch (problem: EncryptedMessage.Problem) {
        if (!problem.isOtherKey) throw SojournException.refused("invalid_message")
        // The server has another key of this device, so that the next registration must not believe the record.
        quietly { noteEncryptionKey(null, session) }
        throw SojournException.refused("other_key")
    }
}

/** A message that only the holder of one key reads: a compact JWE (RFC 7516) by ECDH-ES on P-256 and A256GCM (RFC 7518). */
internal object EncryptedMessage {
    class Problem(val isOtherKey: Boolean) : Exception()

    private const val TAG_COUNT = 16
    private const val NONCE_COUNT = 12

    /** The content of a message to [key]. A header that names another algorithm is refused, so that the key does nothing else. */
    fun open(text: String, key: DeviceKey): ByteArray {
        val invalid = Problem(isOtherKey = false)
        val parts = text.split(".")
        if (parts.size != 5 || parts[1].isNotEmpty()) throw invalid
        val header = decodeBase64url(parts[0])?.let { membersOf(String(it)) } ?: throw invalid
        val isKnown = header.text("alg") == "ECDH-ES" && header.text("enc") == "A256GCM"
        if (!isKnown || "zip" in header || "crit" in header) throw invalid
        val sender = header.members("epk")?.let { PublicJwk.of(it) } ?: throw invalid
        val nonce = decodeBase64url(parts[2])?.takeIf { it.size == NONCE_COUNT } ?: throw invalid
        val ciphertext = decodeBase64url(parts[3]) ?: throw invalid
        val tag = decodeBase64url(parts[4])?.takeIf { it.size == TAG_COUNT } ?: throw invalid
        if (header.text("kid") != key.publicKey.thumbprint) throw Problem(isOtherKey = true)
        val secret = key.agree(sender)
        return unseal(nonce + ciphertext + tag, contentKey(secret), parts[0].toByteArray()) ?: throw invalid
    }

    /** A message to [receiver], as the server makes it: for tests. */
    fun seal(content: ByteArray, receiver: PublicJwk, sender: DeviceKey): String {
        val header = membersOf(
            "alg" to "ECDH-ES", "enc" to "A256GCM", "kid" to receiver.thumbprint, "epk" to sender.publicKey.members)
        val head = base64url(jsonOf(header).toByteArray())
        val sealed = seal(content, contentKey(sender.agree(receiver)), head.toByteArray())
        val end = sealed.size - TAG_COUNT
        val parts = listOf(
            sealed.copyOf(NONCE_COUNT), sealed.copyOfRange(NONCE_COUNT, end), sealed.copyOfRange(end, sealed.size))
        return (listOf(head, "") + parts.map { base64url(it) }).joinToString(".")
    }

    /** The key of the content (RFC 7518 section 4.6.2): one round of SHA-256, with the name of the algorithm and no parties. */
    fun contentKey(secret: ByteArray): ByteArray {
        val name = "A256GCM".toByteArray()
        val info = byteArrayOf(0, 0, 0, name.size.toByte()) + name + ByteArray(8) + byteArrayOf(0, 0, 1, 0)
        return sha256(byteArrayOf(0, 0, 0, 1) + secret + info)
    }
}
