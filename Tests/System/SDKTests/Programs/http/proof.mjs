export const base64url = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
const encode = text => new TextEncoder().encode(text)

/** A key of this device. Its private half cannot be exported, and IndexedDB stores the pair as it is. */
export const newKey = () => crypto.subtle.generateKey({name: "ECDSA", namedCurve: "P-256"}, false, ["sign"])

/** A proof of the key for one request (RFC 9449). `now` is the server's time in seconds. */
export async function proof(key, method, url, now, {nonce, accessToken} = {}) {
    const {crv, kty, x, y} = await crypto.subtle.exportKey("jwk", key.publicKey)
    const claims = {htm: method, htu: url.split(/[?#]/)[0], iat: now, jti: crypto.randomUUID()}
    if (nonce) claims.nonce = nonce
    if (accessToken) claims.ath = base64url(await crypto.subtle.digest("SHA-256", encode(accessToken)))
    const parts = [{alg: "ES256", typ: "dpop+jwt", jwk: {crv, kty, x, y}}, claims]
    const input = parts.map(part => base64url(encode(JSON.stringify(part)))).join(".")
    const signature = await crypto.subtle.sign({name: "ECDSA", hash: "SHA-256"}, key.privateKey, encode(input))
    return `${input}.${base64url(signature)}`
}

/** The `Idempotency-Key` of a renewal. `secret` has 32 random bytes and is stored in the record. */
export async function idempotencyKey(secret, refreshToken) {
    const key = await crypto.subtle.importKey("raw", secret, {name: "HMAC", hash: "SHA-256"}, false, ["sign"])
    return base64url(await crypto.subtle.sign("HMAC", key, encode(refreshToken))).slice(0, 22)
}
