// HMAC, proofs of a key (RFC 9449) and thumbprints (RFC 7638), by the providers of the platform.

package sojourn

import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.security.MessageDigest
import java.security.SecureRandom
import java.util.Base64
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

private val random = SecureRandom()

fun base64url(bytes: ByteArray): String = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)

fun randomText(count: Int): String = base64url(ByteArray(count).also(random::nextBytes))

fun sha256(text: String): String = base64url(MessageDigest.getInstance("SHA-256").digest(text.toByteArray()))

/** The thumbprint of a key. */
val DeviceKey.thumbprint get() = sha256(jwk)

/** The `Idempotency-Key` of a message under the secret of the record (rule 4). */
fun idempotencyKey(secret: String, message: String): String {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(SecretKeySpec(Base64.getUrlDecoder().decode(secret), "HmacSHA256"))
    return base64url(mac.doFinal(message.toByteArray())).take(22)
}

/** A proof for one request. [issuedAt] is the server's time. */
fun proof(
    key: DeviceKey, method: String, url: String, issuedAt: Long, nonce: String?, accessToken: String? = null,
): String {
    val header = """{"alg":"ES256","typ":"dpop+jwt","jwk":${key.jwk}}"""
    val claims = JsonObject(emptyMap()).with(
        "htm" to JsonPrimitive(method), "htu" to JsonPrimitive(url.substringBefore('?').substringBefore('#')),
        "iat" to JsonPrimitive(issuedAt), "jti" to JsonPrimitive(randomText(16)),
        "ath" to accessToken?.let { JsonPrimitive(sha256(it)) }, "nonce" to nonce?.let { JsonPrimitive(it) },
    )
    val input = listOf(header, claims.toString()).joinToString(".") { base64url(it.toByteArray()) }
    return input + "." + base64url(key.sign(input.toByteArray()))
}
