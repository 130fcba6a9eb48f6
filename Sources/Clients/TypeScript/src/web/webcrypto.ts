// Keys, hashes and random bytes by WebCrypto.

import {base64url, utf8} from "../core/bytes.js"
import {DeviceKey, KeyError, PublicJWK} from "../core/platform.js"

const curve = {name: "ECDSA", namedCurve: "P-256"}

/** The bytes as an array of their own, because a view into a larger one would be hashed as a whole by some engines. */
const own = (bytes: Uint8Array): Uint8Array => Uint8Array.from(bytes)

export const sha256By = async (crypto: Crypto, message: Uint8Array): Promise<Uint8Array> =>
    new Uint8Array(await crypto.subtle.digest("SHA-256", own(message)))

export async function hmacBy(crypto: Crypto, key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
    const imported = await crypto.subtle.importKey("raw", own(key), {name: "HMAC", hash: "SHA-256"}, false, ["sign"])
    return new Uint8Array(await crypto.subtle.sign("HMAC", imported, own(message)))
}

/** A new pair on P-256. The private key of a browser is not extractable. */
export const newKeyPair = (crypto: Crypto, isExtractable: boolean): Promise<CryptoKeyPair> =>
    crypto.subtle.generateKey(curve, isExtractable, ["sign"]) as Promise<CryptoKeyPair>

export const importPrivateKey = (crypto: Crypto, jwk: JsonWebKey): Promise<CryptoKey> =>
    crypto.subtle.importKey("jwk", jwk, curve, false, ["sign"])

/** The public part of a JWK, with the members of RFC 7638 in their order. */
export function publicJWK(jwk: JsonWebKey): PublicJWK {
    if (jwk.kty !== "EC" || jwk.crv !== "P-256" || !jwk.x || !jwk.y) throw new KeyError("corrupted", "not a key on P-256")
    return {crv: "P-256", kty: "EC", x: jwk.x, y: jwk.y}
}

/** A key that signs by WebCrypto. */
export async function webDeviceKey(crypto: Crypto, privateKey: CryptoKey, jwk: JsonWebKey): Promise<DeviceKey> {
    const open = publicJWK(jwk)
    return {
        jwk: open,
        thumbprint: base64url(await sha256By(crypto, utf8(JSON.stringify(open)))),
        sign: async (message) =>
            new Uint8Array(await crypto.subtle.sign({name: "ECDSA", hash: "SHA-256"}, privateKey, own(message))),
    }
}
