// The few algorithms that the client needs, by the providers of the platform.

package org.sojourn

import java.math.BigInteger
import java.security.AlgorithmParameters
import java.security.GeneralSecurityException
import java.security.KeyFactory
import java.security.MessageDigest
import java.security.SecureRandom
import java.security.interfaces.ECPublicKey
import java.security.spec.ECGenParameterSpec
import java.security.spec.ECParameterSpec
import java.security.spec.ECPoint
import java.security.spec.ECPublicKeySpec
import java.util.Base64
import javax.crypto.Cipher
import javax.crypto.Mac
import javax.crypto.SecretKeyFactory
import javax.crypto.spec.GCMParameterSpec
import javax.crypto.spec.PBEKeySpec
import javax.crypto.spec.SecretKeySpec

private val random = SecureRandom()

/** Base64 for URLs, without padding (RFC 4648 section 5). */
fun base64url(bytes: ByteArray): String = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)

/** The bytes of a text in Base64 for URLs; null if it is none. */
fun decodeBase64url(text: String): ByteArray? =
    try {
        if (text.contains('=')) null else Base64.getUrlDecoder().decode(text)
    } catch (_: IllegalArgumentException) {
        null
    }

fun sha256(bytes: ByteArray): ByteArray = MessageDigest.getInstance("SHA-256").digest(bytes)

internal fun sha256Text(text: String): String = base64url(sha256(text.toByteArray()))

internal fun randomBytes(count: Int): ByteArray = ByteArray(count).also(random::nextBytes)

/** A random text in Base64 for URLs. */
internal fun randomText(count: Int): String = base64url(randomBytes(count))

internal fun randomPart(): Double = random.nextDouble()

internal fun hmac(key: ByteArray, message: ByteArray): ByteArray = Mac.getInstance("HmacSHA256").run {
    init(SecretKeySpec(key, "HmacSHA256"))
    doFinal(message)
}

private const val NONCE_COUNT = 12
private const val TAG_BITS = 128

/** AES-256-GCM: nonce, ciphertext, tag. */
internal fun seal(plaintext: ByteArray, key: ByteArray, context: ByteArray): ByteArray {
    val nonce = randomBytes(NONCE_COUNT)
    return nonce + gcm(Cipher.ENCRYPT_MODE, key, nonce, context).doFinal(plaintext)
}

/** The plaintext of [seal]; null if the bytes, the context or the key are others. */
internal fun unseal(sealed: ByteArray, key: ByteArray, context: ByteArray): ByteArray? =
    try {
        val nonce = sealed.copyOf(NONCE_COUNT)
        gcm(Cipher.DECRYPT_MODE, key, nonce, context).doFinal(sealed, NONCE_COUNT, sealed.size - NONCE_COUNT)
    } catch (_: GeneralSecurityException) {
        null
    } catch (_: IllegalArgumentException) {
        null
    }

private fun gcm(mode: Int, key: ByteArray, nonce: ByteArray, context: ByteArray) =
    Cipher.getInstance("AES/GCM/NoPadding").apply {
        init(mode, SecretKeySpec(key, "AES"), GCMParameterSpec(TAG_BITS, nonce))
        updateAAD(context)
    }

/** The key of a password by PBKDF2 with HMAC-SHA-256 (RFC 8018 section 5.2): 32 bytes. The characters count as UTF-8. */
internal fun stretch(password: String, salt: ByteArray, iterations: Int): ByteArray =
    SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
        .generateSecret(PBEKeySpec(password.toCharArray(), salt, iterations, 256)).encoded

/** A public key on P-256 as JWK (RFC 7518 section 6.2): coordinates of 32 bytes. */
class PublicJwk(val x: ByteArray, val y: ByteArray) {
    /** The members of RFC 7638 alone, sorted, without white space: the form that is hashed. */
    val json = """{"crv":"P-256","kty":"EC","x":"${base64url(x)}","y":"${base64url(y)}"}"""

    /** The thumbprint in Base64 for URLs (RFC 7638). */
    val thumbprint = sha256Text(json)

    internal val members get() = membersOf("crv" to "P-256", "kty" to "EC", "x" to base64url(x), "y" to base64url(y))

    /** The key of the platform. Providers check that it lies on the curve when it is used. */
    fun toKey(): ECPublicKey {
        val curve = AlgorithmParameters.getInstance("EC").run {
            init(ECGenParameterSpec("secp256r1"))
            getParameterSpec(ECParameterSpec::class.java)
        }
        val point = ECPoint(BigInteger(1, x), BigInteger(1, y))
        return KeyFactory.getInstance("EC").generatePublic(ECPublicKeySpec(point, curve)) as ECPublicKey
    }

    companion object {
        fun of(key: ECPublicKey) = PublicJwk(bytesOf(key.w.affineX), bytesOf(key.w.affineY))

        /** The key in JSON; null if it is no public key on P-256. */
        internal fun of(members: Members): PublicJwk? {
            if (members.text("kty") != "EC" || members.text("crv") != "P-256" || "d" in members) return null
            val x = members.text("x")?.let(::decodeBase64url)?.takeIf { it.size == 32 } ?: return null
            val y = members.text("y")?.let(::decodeBase64url)?.takeIf { it.size == 32 } ?: return null
            return PublicJwk(x, y)
        }
    }
}

/** A number as 32 bytes. `BigInteger` writes a sign, and leaves out leading zeros. */
private fun bytesOf(number: BigInteger): ByteArray {
    val bytes = number.toByteArray().dropWhile { it == 0.toByte() }.toByteArray()
    return ByteArray(32 - bytes.size) + bytes
}

/** The 64 bytes of a signature in Java's form, which is DER (RFC 3279 section 2.2.3). Android has no other one. */
fun rawSignature(der: ByteArray): ByteArray {
    var at = 2
    if (der.size < 8 || der[0].toInt() != 0x30) throw KeyException(KeyException.Kind.FAILED, "no signature")
    fun next(): ByteArray {
        if (der[at].toInt() != 0x02) throw KeyException(KeyException.Kind.FAILED, "no signature")
        val count = der[at + 1].toInt()
        val number = BigInteger(1, der.copyOfRange(at + 2, at + 2 + count))
        at += 2 + count
        return bytesOf(number)
    }
    return next() + next()
}
