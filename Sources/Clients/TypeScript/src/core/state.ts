// What an app shows.

import {PresenceRequirement} from "./errors.js"
import {StoreError} from "./platform.js"
import {Members, text} from "./verdict.js"

/** How the app guards the tokens (the server's `authentication_mode`). */
export type AuthenticationMode = "NO" | "BIOMETRIC" | "PASSWORD"

/** The user of a session, as the server told it at the last login or renewal. */
export interface Account {
    /** The user ID, stable and opaque. */
    userID: string
    /** The name with which the user logs in; absent for an anonymous user. */
    username?: string
    email?: string
    phoneNumber?: string
    /** The name for people. */
    displayName?: string
    givenName?: string
    familyName?: string
    /** ISO 3166-1 alpha-2. */
    country?: string
    /** Whether the user has no name yet: `signInAnonymously` made it, and `nameAccount` was not called. */
    isAnonymous: boolean
}

export function account(user: Members | undefined): Account {
    const account: Account = {userID: text(user?.["user_id"]) ?? "", isAnonymous: user?.["anonymous"] === true}
    const names = {
        username: "username", email: "email", phoneNumber: "phone_number", displayName: "display_name",
        givenName: "given_name", familyName: "family_name", country: "country",
    } as const
    for (const name of Object.keys(names) as (keyof typeof names)[]) {
        const value = text(user?.[names[name]])
        if (value) account[name] = value
    }
    return account
}

/** How a session stands with the server. */
export type Reachability =
    /** The last attempt to renew succeeded, or none was due. */
    | {kind: "current"}
    /** No attempt has succeeded since that time, in Unix seconds of the server. */
    | {kind: "unreachable"; since: number}
    /** Logins are switched off. */
    | {kind: "suspended"; suspension: string}

export type SessionState =
    /** The store has not been read yet: show a splash. */
    | {kind: "starting"}
    /** The store cannot be read before the device is unlocked: a splash, not the login. */
    | {kind: "locked"}
    /** The store has failed. Nothing is deleted: show the error, `start()` tries again, and a login may help. */
    | {kind: "storeFailed"; error: StoreError}
    /** No session: show the login. An unreadable record is kept, and the next login sets it aside. */
    | {kind: "signedOut"; why: "never" | "byUser" | "deleted" | "unreadable"}
    /** A user is signed in. `isPersistent`: whether the session outlives the tab or the process. */
    | {kind: "signedIn"; account: Account; reachability: Reachability; isPersistent: boolean}
    /** The session waits for the user's presence. Everything is kept. */
    | {kind: "presenceRequired"; requirement: PresenceRequirement; account: Account}
    /** The server has ended the session: show the login, in this mode. The profile is kept. */
    | {kind: "ended"; reason: string; account: Account; mode: AuthenticationMode}

/** The last state, and those that listen. A listener that reads slowly skips to the newest. */
export class StateBox {
    private readonly listeners = new Set<(state: SessionState) => void>()
    private said = ""

    constructor(public state: SessionState) {}

    /** Sets the state, and tells the listeners if it is another one. */
    publish(state: SessionState): void {
        const said = JSON.stringify(state)
        if (said === this.said) return
        this.said = said
        this.state = state
        for (const listener of [...this.listeners]) this.tell(listener)
    }

    /** An error of a listener is the app's: it is reported as an unhandled one, and stops nothing here. */
    private tell(listener: (state: SessionState) => void): void {
        try {
            listener(this.state)
        } catch (error) {
            void Promise.reject(error)
        }
    }

    /** Calls back with the present state, and with each change. Returns the end of it. */
    listen(listener: (state: SessionState) => void): () => void {
        this.listeners.add(listener)
        this.tell(listener)
        return () => void this.listeners.delete(listener)
    }

    async *[Symbol.asyncIterator](): AsyncGenerator<SessionState, void> {
        let news: SessionState | undefined
        let wake = (): void => {}
        const end = this.listen((state) => {
            news = state
            wake()
        })
        try {
            for (;;) {
                if (!news) await new Promise<void>((resume) => (wake = resume))
                const state = news
                news = undefined
                if (state) yield state
            }
        } finally {
            end()
        }
    }
}
