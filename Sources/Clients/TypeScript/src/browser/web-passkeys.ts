// Passkeys of a browser. The server speaks the JSON of WebAuthn Level 3 §5.1, which older browsers do not know.

import {base64url, bytesOf} from "../core/bytes.js"
import {PasskeyAuthenticator, PromptError} from "../core/platform.js"

type Members = Record<string, unknown>

/** The helpers of Level 3, as far as a browser has them. */
interface Helpers {
    parseRequestOptionsFromJSON?(options: Members): PublicKeyCredentialRequestOptions
    parseCreationOptionsFromJSON?(options: Members): PublicKeyCredentialCreationOptions
}

export class WebPasskeys implements PasskeyAuthenticator {
    /** `hasHelpers` false leaves the helpers of the browser alone; tests compare both ways. */
    constructor(
        private readonly credentials: CredentialsContainer | undefined = globalThis.navigator?.credentials,
        private readonly hasHelpers = true
    ) {}

    async assertion(options: Members): Promise<Members> {
        const parse = this.helpers.parseRequestOptionsFromJSON
        const publicKey = parse ? parse.call(PublicKeyCredential, options) : requestOptions(options)
        return this.json(await this.asked((credentials) => credentials.get({publicKey})))
    }

    async registration(options: Members): Promise<Members> {
        const parse = this.helpers.parseCreationOptionsFromJSON
        const publicKey = parse ? parse.call(PublicKeyCredential, options) : creationOptions(options)
        return this.json(await this.asked((credentials) => credentials.create({publicKey})))
    }

    private get helpers(): Helpers {
        return this.hasHelpers && typeof PublicKeyCredential === "function" ? (PublicKeyCredential as unknown as Helpers) : {}
    }

    private async asked(ask: (credentials: CredentialsContainer) => Promise<Credential | null>): Promise<PublicKeyCredential> {
        if (!this.credentials || typeof PublicKeyCredential !== "function") throw new PromptError("failed", "no passkeys here")
        let credential: Credential | null
        try {
            credential = await ask(this.credentials)
        } catch (error) {
            const {name, message} = error as DOMException
            if (name === "InvalidStateError") throw new PromptError("alreadyRegistered")
            // The user has closed the prompt, or no passkey fits: browsers do not tell which.
            if (name === "NotAllowedError" || name === "AbortError") throw new PromptError("cancelled")
            throw new PromptError("failed", `${name}: ${message}`)
        }
        if (!(credential instanceof PublicKeyCredential)) throw new PromptError("failed", "no credential")
        return credential
    }

    private json(credential: PublicKeyCredential): Members {
        const {toJSON} = credential as {toJSON?: () => Members}
        return this.hasHelpers && toJSON ? toJSON.call(credential) : jsonOf(credential)
    }
}

const buffer = (value: unknown): ArrayBuffer => {
    const bytes = bytesOf(String(value))
    if (!bytes) throw new PromptError("failed", "options that are not in base64url")
    return bytes.buffer as ArrayBuffer
}

const text = (bytes: ArrayBuffer): string => base64url(new Uint8Array(bytes))

const descriptors = (values: unknown): PublicKeyCredentialDescriptor[] =>
    ((values ?? []) as Members[]).map((value) => ({...value, type: "public-key", id: buffer(value["id"])}))

function requestOptions(options: Members): PublicKeyCredentialRequestOptions {
    const challenge = buffer(options["challenge"])
    return {...options, challenge, allowCredentials: descriptors(options["allowCredentials"])} as PublicKeyCredentialRequestOptions
}

function creationOptions(options: Members): PublicKeyCredentialCreationOptions {
    const user = options["user"] as Members
    return {
        ...options, challenge: buffer(options["challenge"]), user: {...user, id: buffer(user["id"])},
        excludeCredentials: descriptors(options["excludeCredentials"]),
    } as unknown as PublicKeyCredentialCreationOptions
}

/** What `toJSON` of Level 3 gives. */
function jsonOf(credential: PublicKeyCredential): Members {
    const {response} = credential
    const fields: Members = {clientDataJSON: text(response.clientDataJSON)}
    if (response instanceof AuthenticatorAssertionResponse) {
        fields["authenticatorData"] = text(response.authenticatorData)
        fields["signature"] = text(response.signature)
        if (response.userHandle) fields["userHandle"] = text(response.userHandle)
    } else {
        fields["attestationObject"] = text((response as AuthenticatorAttestationResponse).attestationObject)
    }
    const id = text(credential.rawId)
    return {id, rawId: id, type: credential.type, clientExtensionResults: {}, response: fields}
}
