// What the client needs of the machine on which it runs. The core uses ECMAScript and these interfaces, and no global.

/** A record as it is stored. */
export interface StoredRecord {
    /** Names the stored text: another text has another version. */
    version: string
    text: string
}

/** The store cannot tell whether there is a record, or cannot write it (rule 1). Nothing is lost. */
export class StoreError extends Error {
    /**
     * @param kind locked: not before the device is unlocked; denied: the program may not; corrupted: what is stored is no record
     *     of this version; failed: anything else, a full quota too.
     */
    constructor(readonly kind: "locked" | "denied" | "corrupted" | "failed", readonly detail = "") {
        super(detail ? `the store: ${kind}: ${detail}` : `the store: ${kind}`)
        this.name = "StoreError"
    }
}

/** Keeps one record. It has three answers: a record, null for certainly nothing, or a `StoreError`. */
export interface SessionStore {
    /** Whether the record outlives the process or the tab. The state says so. */
    readonly isPersistent: boolean
    load(): Promise<StoredRecord | null>
    /**
     * Writes durably if the stored version is still `expected`, where null means that nothing is stored. False: another version is
     * stored, and nothing was written. A text of null removes the record.
     */
    replace(expected: string | null, text: string | null): Promise<boolean>
    /** Keeps a record that cannot be read under another name, so that the next `load` finds nothing (rule 19). */
    setAside(): Promise<void>
    /** Calls back when another tab or process has written. A lost call costs nothing. Returns the end of it. */
    onChange?(look: () => void): () => void
}

/** The public part of a key on P-256, with the members of RFC 7638 alone, in their order. */
export interface PublicJWK {
    readonly crv: "P-256"
    readonly kty: "EC"
    readonly x: string
    readonly y: string
}

/** A key that signs by ES256. */
export interface DeviceKey {
    readonly jwk: PublicJWK
    /** RFC 7638, in base64url. */
    readonly thumbprint: string
    /** The 64 bytes of r and s. */
    sign(message: Uint8Array): Promise<Uint8Array>
}

/** The keyring cannot tell. The keys are kept. */
export class KeyError extends Error {
    constructor(readonly kind: "locked" | "corrupted" | "failed", readonly detail = "") {
        super(detail ? `the keys: ${kind}: ${detail}` : `the keys: ${kind}`)
        this.name = "KeyError"
    }
}

/** The key of this device. */
export interface Keys {
    /** Null only if there is certainly none. */
    key(): Promise<DeviceKey | null>
    /** The stored key; made and stored, if there is none. Of two that make one at once, both get the first. */
    makeKey(): Promise<DeviceKey>
    deleteKey(): Promise<void>
}

export interface Clock {
    /** Unix seconds by the clock that people can set. */
    wall(): number
    /** Seconds that never run backwards, and run while the device sleeps: of two clocks the larger advance. For deadlines. */
    uptime(): number
    /**
     * Seconds that never run ahead of the real time: of two clocks the smaller advance. For what is due,
     * signed and said of the time. Absent: `uptime`.
     */
    cautious?(): number
}

export interface HTTPRequest {
    method: string
    url: string
    fields: Record<string, string>
    body?: string
}

export interface HTTPAnswer {
    /** 0 for a redirect that was not followed, and for an answer that cannot be read. */
    status: number
    /** The value of a field; null if there is none, or it cannot be read. */
    field(name: string): string | null
    text: string
}

export interface Platform {
    randomBytes(count: number): Uint8Array
    sha256(message: Uint8Array): Promise<Uint8Array>
    hmacSHA256(key: Uint8Array, message: Uint8Array): Promise<Uint8Array>
    /** Sends a request without cookies, caches and redirects. Throws if no answer comes within so many seconds. */
    send(request: HTTPRequest, limit: number): Promise<HTTPAnswer>
    clock: Clock
    /** Calls back after so many seconds. Returns what cancels it. */
    after(seconds: number, action: () => void): () => void
}

/** A login on the server's page that waits for its answer. */
export interface LoginAttempt {
    state: string
    nonce: string
    verifier: string
    redirectURI: string
    mode: "NO" | "BIOMETRIC" | "PASSWORD"
    /** Unix seconds by the wall clock. An attempt counts for an hour. */
    at: number
}

/** Keeps logins under way, keyed by `state`, beside the record: other tabs have their own. */
export interface LoginAttempts {
    keep(attempt: LoginAttempt): Promise<void>
    find(state: string): Promise<LoginAttempt | null>
    forget(state: string): Promise<void>
}

/** Shows the server's login page. */
export interface LoginPresenter {
    /** Opens the URL, and returns the URL with which the browser comes back. It never ends if the page itself is left. */
    present(url: string, redirectURI: string): Promise<string>
    /** Ends the wait, because the login has failed before the page was shown. */
    cancel?(): void
}

/** Why the login page or an authenticator brought no answer. */
export class PromptError extends Error {
    constructor(readonly kind: "cancelled" | "alreadyRegistered" | "failed", readonly detail = "") {
        super(detail ? `${kind}: ${detail}` : kind)
        this.name = "PromptError"
    }
}

/** Passkeys, in the JSON of WebAuthn Level 3 §5.1: options in, response out. */
export interface PasskeyAuthenticator {
    assertion(options: Record<string, unknown>): Promise<Record<string, unknown>>
    registration(options: Record<string, unknown>): Promise<Record<string, unknown>>
}

/** All that a client stands on. */
export interface Environment {
    platform: Platform
    store: SessionStore
    keys: Keys
    /** Absent: one login under way is kept in the record. */
    attempts?: LoginAttempts
    passkeys?: PasskeyAuthenticator
    /** Whether `start` may renew without being asked. A hidden tab renews only when asked. */
    isInFront?(): boolean
    /** Called after each login: a browser asks to keep its storage, and does not wait for the answer. */
    onSignedIn?(): void
}
