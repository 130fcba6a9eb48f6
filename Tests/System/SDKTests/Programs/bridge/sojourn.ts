/** The native module: one method, and the event `sojourn.state`. In an app: `NativeModules.Sojourn`. */
export interface NativeSojourn {
    call(name: string, words: Record<string, unknown>): Promise<Record<string, unknown>>
}

/** In an app: `new NativeEventEmitter(NativeModules.Sojourn)`. */
export interface StateEvents {
    addListener(name: string, listener: (state: SessionState) => void): {remove(): void}
}

export interface SessionState {
    kind: "starting" | "locked" | "storeFailed" | "signedOut" | "signedIn" | "presenceRequired" | "ended"
    username?: string
    reason?: string
    why?: string
}

export interface AccessToken {
    value: string
    type: string
    expiresAt: number
}

export type SignIn =
    | {username: string; password: string; mode?: "NO" | "BIOMETRIC" | "PASSWORD"}
    | {page: {redirectURI: string}}
    | {callback: string}

/** Why a call failed. Only the kinds `notSignedIn` and `ended` mean that the app shows the login. */
export class SojournError extends Error {
    constructor(readonly kind: string, readonly reason?: string, readonly code?: number) {
        super(reason ?? kind)
        this.name = "SojournError"
    }
}

/** The session of the native SDK, with the verbs of the client for browsers. It has no `fetch`: see the page. */
export class Sojourn {
    private readonly listeners = new Set<(state: SessionState) => void>()
    private present: SessionState = {kind: "starting"}

    constructor(private readonly native: NativeSojourn, events: StateEvents) {
        events.addListener("sojourn.state", state => this.publish(state))
    }

    get state(): SessionState {
        return this.present
    }

    /** Calls the listener with the present state, then with each change. Returns the function that ends it. */
    onState(listener: (state: SessionState) => void): () => void {
        this.listeners.add(listener)
        listener(this.present)
        return () => void this.listeners.delete(listener)
    }

    /** Each launch. It never fails, and never waits for the network. */
    async start(): Promise<SessionState> {
        try {
            this.publish(await this.call<SessionState>("start"))
        } catch {
            // The state is what it was.
        }
        return this.present
    }

    async signIn(how: SignIn): Promise<void> {
        if ("username" in how) await this.call("signIn", {...how})
        else await this.call("signInByPage", "page" in how ? how.page : how)
    }

    accessToken(need: "usable" | "fresh" = "usable"): Promise<AccessToken> {
        return this.call("accessToken", {need})
    }

    /** The header fields of one request: the token, and its proof if it is bound. */
    authorize(method: string, url: string): Promise<Record<string, string>> {
        return this.call("authorize", {method, url})
    }

    /** An API has refused this token. The next `accessToken` renews, once. */
    async reject(token: AccessToken): Promise<void> {
        await this.call("reject", {...token})
    }

    async signOut(): Promise<void> {
        await this.call("signOut")
    }

    async unlock(password?: string): Promise<void> {
        await this.call("unlock", password === undefined ? {} : {password})
    }

    async settle(seconds: number): Promise<boolean> {
        return (await this.call<{isSettled: boolean}>("settle", {seconds})).isSettled
    }

    private publish(state: SessionState): void {
        if (JSON.stringify(state) === JSON.stringify(this.present)) return
        this.present = state
        for (const listener of this.listeners) listener(state)
    }

    private async call<Result>(name: string, words: Record<string, unknown> = {}): Promise<Result> {
        const answer = await this.native.call(name, words)
        if (typeof answer.error === "string") {
            throw new SojournError(answer.error, answer.reason as string | undefined, answer.code as number | undefined)
        }
        return answer as unknown as Result
    }
}
