// HMAC, proofs of a key (RFC 9449) and thumbprints (RFC 7638), by WebCrypto.

/** A key on P-256. In a browser it is not extractable, and lies in IndexedDB. */
export interface DeviceKey {
    privateKey: CryptoKey
    /** The public part, with the members of RFC 7638 alone. */
    jwk: {crv: string; kty: string; x: string; y: string}
    thumbprint: string
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

export const base64url = (bytes: ArrayBuffer | Uint8Array): string =>
    btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")

function bytesOf(text: string): Uint8Array {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

export const randomText = (count: number): string => base64url(crypto.getRandomValues(new Uint8Array(count)))

const sha256 = async (text: string): Promise<string> =>
    base64url(await crypto.subtle.digest("SHA-256", utf8(text)))

/** The `Idempotency-Key` of a message under the secret of the record (rule 4). */
export async function idempotencyKey(secret: string, message: string): Promise<string> {
    const algorithm = {name: "HMAC", hash: "SHA-256"}
    const key = await crypto.subtle.importKey("raw", bytesOf(secret), algorithm, false, ["sign"])
    return base64url(await crypto.subtle.sign("HMAC", key, utf8(message))).slice(0, 22)
}

/** The key of a private JWK. */
export async function deviceKey(jwk: JsonWebKey): Promise<DeviceKey> {
    const algorithm = {name: "ECDSA", namedCurve: "P-256"}
    const privateKey = await crypto.subtle.importKey("jwk", jwk, algorithm, false, ["sign"])
    const publicPart = {crv: "P-256", kty: "EC", x: jwk.x ?? "", y: jwk.y ?? ""}
    return {privateKey, jwk: publicPart, thumbprint: await sha256(JSON.stringify(publicPart))}
}

/** A new key, as a private JWK. */
export async function newKey(): Promise<JsonWebKey> {
    const pair = await crypto.subtle.generateKey({name: "ECDSA", namedCurve: "P-256"}, true, ["sign"])
    return await crypto.subtle.exportKey("jwk", pair.privateKey)
}

/** A proof for one request. `issuedAt` is the server's time. */
export async function proof(
    key: DeviceKey, method: string, url: string, issuedAt: number, nonce?: string, accessToken?: string
): Promise<string> {
    const header = {alg: "ES256", typ: "dpop+jwt", jwk: key.jwk}
    const claims: Record<string, unknown> = {
        htm: method, htu: url.replace(/[?#].*/, ""), iat: issuedAt, jti: randomText(16),
    }
    if (accessToken) claims["ath"] = await sha256(accessToken)
    if (nonce) claims["nonce"] = nonce
    const input = [header, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join(".")
    const algorithm = {name: "ECDSA", hash: "SHA-256"}
    return input + "." + base64url(await crypto.subtle.sign(algorithm, key.privateKey, utf8(input)))
}
