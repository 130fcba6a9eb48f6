// Proofs of a key (RFC 9449), assertions (RFC 7523), and the keys of retries (rules 4, 14 and 15).

package org.sojourn

import java.net.URI
import java.net.URISyntaxException

internal const val TOKEN_PATH = "/oauth/token"

/** How long a nonce is used after the answer that brought it, in seconds. */
private const val NONCE_LASTS = 200.0

/** The `Idempotency-Key` of a message: derived, so that each retry, process and start of the app has the same one (4). */
internal fun retryKey(secret: ByteArray, message: String): String = base64url(hmac(secret, message.toByteArray())).take(22)

/** What a request about a session has to be signed with: [assertion] names the session and the user. */
internal data class SigningNeed(
    val keyThumbprint: String? = null, val needsProof: Boolean = false, val assertion: Pair<String, String>? = null,
) {
    companion object {
        /** What a renewal of [session] needs; nothing for one that cannot be renewed. */
        fun of(session: StoredSession?): SigningNeed {
            if (session == null || !session.isRenewable) return SigningNeed()
            val id = session.sessionID.takeIf { session.refreshToken == null }
            val isSigned = session.token.isBound || id != null
            return SigningNeed(
                session.keyThumbprint.takeIf { isSigned }, session.token.isBound, id?.let { it to session.account.userID })
        }
    }
}

/** The signatures of one request. A key with another thumbprint is not the session's, and is not used. */
internal class Signatures(
    val need: SigningNeed, val proof: String? = null, val assertion: String? = null, val isKeyGone: Boolean = false,
    val error: KeyException? = null,
)

/** Signs a renewal, before the record is loaded, because a key can make the caller wait (3). */
internal fun Sojourn.signatures(need: SigningNeed): Signatures {
    if (!need.needsProof && need.assertion == null) return Signatures(need)
    try {
        val key = deviceKey(need.keyThumbprint) ?: return Signatures(need, isKeyGone = true)
        val proof = if (need.needsProof) proof(key, "POST", server.base + TOKEN_PATH) else null
        val assertion = need.assertion?.let { (session, user) -> assertion(key, session, user) }
        return Signatures(need, proof, assertion)
    } catch (error: KeyException) {
        return Signatures(need, error = error)
    } catch (_: SojournException.Misconfigured) {
        return Signatures(need)
    }
}

/** The device key, if it has that thumbprint; null if it certainly does not exist. */
internal fun Sojourn.deviceKey(thumbprint: String?): DeviceKey? =
    keys.key(KeyName.DEVICE)?.takeIf { thumbprint == null || it.publicKey.thumbprint == thumbprint }

/** A proof of [key] for a request (RFC 9449), with the nonce that the origin asked for. */
internal fun Sojourn.proof(key: DeviceKey, method: String, url: String, accessToken: String? = null): String {
    val header = """{"alg":"ES256","jwk":${key.publicKey.json},"typ":"dpop+jwt"}"""
    val claims = membersOf(
        "htm" to method, "htu" to url.substringBefore('?').substringBefore('#'), "iat" to now(),
        "jti" to randomText(16), "ath" to accessToken?.let(::sha256Text), "nonce" to nonce(url),
    )
    return signed(header, claims, key)
}

/** An assertion of [key] by which a device resumes a session or shows that its user is present. The server takes it once. */
internal fun Sojourn.assertion(
    key: DeviceKey, session: String, user: String, login: String? = null, number: Int? = null,
): String {
    val claims = membersOf(
        "iss" to session, "sub" to user, "aud" to server.base, "jti" to randomText(16), "iat" to now(),
        "exp" to now() + 120, "login" to login, "number" to number,
    )
    return signed("""{"alg":"ES256","typ":"JWT"}""", claims, key)
}

private fun signed(header: String, claims: Members, key: DeviceKey): String {
    val input = base64url(header.toByteArray()) + "." + base64url(jsonOf(claims).toByteArray())
    return input + "." + base64url(key.sign(input.toByteArray()))
}

private fun Sojourn.nonce(url: String): String? =
    nonces[originOf(url)]?.takeIf { clock.uptime() - it.second < NONCE_LASTS }?.first

/** Remembers the `DPoP-Nonce` of an answer, for an app that sends requests with [authorize] itself. */
fun Sojourn.noteNonce(url: String, nonce: String?) {
    if (!nonce.isNullOrEmpty()) nonces[originOf(url)] = nonce to clock.uptime()
}

internal fun originOf(url: String): String = uriOf(url)?.let { "${it.scheme}://${it.host}:${it.port}" } ?: ""

internal fun uriOf(url: String): URI? =
    try {
        URI(url)
    } catch (_: URISyntaxException) {
        null
    }
