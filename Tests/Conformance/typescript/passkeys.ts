// An authenticator in software for the scenarios: passkeys on P-256 in memory, with real signatures.

import {webcrypto} from "node:crypto"
import {base64url, bytesOf, utf8} from "../../../Sources/Clients/TypeScript/src/core/bytes.js"
import {PasskeyAuthenticator, PromptError} from "../../../Sources/Clients/TypeScript/src/node/index.js"

type Members = Record<string, unknown>

interface Credential {
    id: string
    party: string
    userHandle: string
    key: CryptoKey
}

const algorithm = {name: "ECDSA", namedCurve: "P-256"}
const origin = "https://localhost"

const joined = (...parts: ArrayLike<number>[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => Array.from(part)))

const digest = async (bytes: Uint8Array): Promise<Uint8Array> =>
    new Uint8Array(await webcrypto.subtle.digest("SHA-256", bytes))

/** The digest of the relying party, the flags, and a counter that stays 0. */
const authenticatorData = async (party: string, flags: number): Promise<Uint8Array> =>
    joined(await digest(utf8(party)), [flags, 0, 0, 0, 0])

/** A signature of 64 bytes in the form of ASN.1, which WebAuthn takes. */
function der(signature: Uint8Array): Uint8Array {
    const integer = (bytes: Uint8Array): Uint8Array => {
        const digits = bytes.slice(bytes.findIndex((byte) => byte !== 0))
        const padded = (digits[0] ?? 0x80) >= 0x80 ? joined([0], digits) : digits
        return joined([2, padded.length], padded)
    }
    const body = joined(integer(signature.slice(0, 32)), integer(signature.slice(32)))
    return joined([0x30, body.length], body)
}

const clientData = (type: string, challenge: unknown): Uint8Array =>
    utf8(JSON.stringify({type, challenge, origin, crossOrigin: false}))

function credentialOf(id: string, response: Record<string, Uint8Array>, handle?: string): Members {
    const members: Members = {}
    for (const [name, bytes] of Object.entries(response)) members[name] = base64url(bytes)
    if (handle !== undefined) members["userHandle"] = handle
    return {id, rawId: id, type: "public-key", clientExtensionResults: {}, response: members}
}

export class SoftwarePasskeys implements PasskeyAuthenticator {
    private readonly credentials: Credential[] = []
    private answers: string[] = []
    private prompts = 0

    /** What the user does at the next prompts. Returns how many there were. */
    expect(answers: unknown): Members {
        if (Array.isArray(answers)) this.answers = answers.map(String)
        return {prompts: this.prompts}
    }

    private prompt(): void {
        this.prompts += 1
        if ((this.answers.shift() ?? "confirmed") !== "confirmed") throw new PromptError("cancelled")
    }

    /** Signs by the newest passkey that may sign. */
    async assertion(options: Members): Promise<Members> {
        this.prompt()
        const allowed = ((options["allowCredentials"] ?? []) as {id: string}[]).map((item) => item.id)
        const found = this.credentials.filter((one) =>
            one.party === options["rpId"] && (!allowed.length || allowed.includes(one.id))).pop()
        if (!found) throw new PromptError("cancelled")
        const said = clientData("webauthn.get", options["challenge"])
        const data = await authenticatorData(found.party, 0x1d)
        const signed = joined(data, await digest(said))
        const signature = await webcrypto.subtle.sign({name: "ECDSA", hash: "SHA-256"}, found.key, signed)
        const response = {clientDataJSON: said, authenticatorData: data, signature: der(new Uint8Array(signature))}
        return credentialOf(found.id, response, found.userHandle)
    }

    /** Makes a passkey. */
    async registration(options: Members): Promise<Members> {
        this.prompt()
        const known = ((options["excludeCredentials"] ?? []) as {id: string}[]).map((item) => item.id)
        if (this.credentials.some((one) => known.includes(one.id))) throw new PromptError("alreadyRegistered")
        const party = (options["rp"] as {id: string}).id
        const userHandle = (options["user"] as {id: string}).id
        const pair = (await webcrypto.subtle.generateKey(algorithm, true, ["sign"])) as CryptoKeyPair
        const jwk = await webcrypto.subtle.exportKey("jwk", pair.publicKey)
        const id = webcrypto.getRandomValues(new Uint8Array(16))
        const coordinate = (text: string | undefined): Uint8Array => bytesOf(text ?? "") ?? new Uint8Array()
        // The key as COSE has it (RFC 9053 §7.1.1).
        const cose = joined(
            [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20], coordinate(jwk.x), [0x22, 0x58, 0x20], coordinate(jwk.y))
        const data = joined(await authenticatorData(party, 0x5d), new Uint8Array(16), [0, 16], id, cose)
        // A CBOR map of `fmt`, `attStmt` and `authData` (WebAuthn Level 3 §6.5.4).
        const attestationObject = joined(
            [0xa3, 0x63], utf8("fmt"), [0x64], utf8("none"), [0x67], utf8("attStmt"), [0xa0, 0x68], utf8("authData"),
            [0x58, data.length], data)
        this.credentials.push({id: base64url(id), party, userHandle, key: pair.privateKey})
        const clientDataJSON = clientData("webauthn.create", options["challenge"])
        return credentialOf(base64url(id), {clientDataJSON, attestationObject})
    }
}
