// What is derived and signed: values of `Idempotency-Key`, proofs of a key (RFC 9449) and assertions (RFC 7523).

import {base64url, bytesOf, utf8} from "./bytes.js"
import {DeviceKey, Platform} from "./platform.js"

/** A random text of so many bytes in base64url. */
export const randomText = (platform: Platform, count: number): string => base64url(platform.randomBytes(count))

/** A number from 0 to 1. */
export function randomPart(platform: Platform): number {
    const bytes = platform.randomBytes(4)
    return bytes.reduce((sum, byte) => sum * 256 + byte, 0) / 2 ** 32
}

export const sha256 = async (platform: Platform, text: string): Promise<string> =>
    base64url(await platform.sha256(utf8(text)))

/**
 * The `Idempotency-Key` of a message under a secret (rule 4). It is derived, so that nothing is written before a request is sent,
 * and each retry, each process and each start of the app has the same key for the same request.
 */
export const idempotencyKey = async (platform: Platform, secret: Uint8Array, message: string): Promise<string> =>
    base64url(await platform.hmacSHA256(secret, utf8(message))).slice(0, 22)

/** The secret of a record. */
export const secretOf = (text: string): Uint8Array => bytesOf(text) ?? utf8(text)

async function signed(key: DeviceKey, header: object, claims: object): Promise<string> {
    const input = [header, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join(".")
    return input + "." + base64url(await key.sign(utf8(input)))
}

/** What a proof says of its request. */
export interface ProofClaims {
    method: string
    url: string
    /** The server's time. */
    issuedAt: number
    nonce?: string | undefined
    accessToken?: string | undefined
}

export async function proof(platform: Platform, key: DeviceKey, of: ProofClaims): Promise<string> {
    const claims: Record<string, unknown> = {
        htm: of.method, htu: of.url.replace(/[?#].*/, ""), iat: of.issuedAt, jti: randomText(platform, 16),
    }
    if (of.accessToken) claims["ath"] = await sha256(platform, of.accessToken)
    if (of.nonce) claims["nonce"] = of.nonce
    return await signed(key, {alg: "ES256", typ: "dpop+jwt", jwk: key.jwk}, claims)
}

/** An assertion by which a device resumes its session. The server takes it once. */
export const assertion = (
    platform: Platform, key: DeviceKey, session: string, user: string, server: string, now: number
): Promise<string> =>
    signed(key, {alg: "ES256", typ: "JWT"}, {
        iss: session, sub: user, aud: server, jti: randomText(platform, 16), iat: now, exp: now + 120,
    })
