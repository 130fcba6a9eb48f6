// Passkeys (WebAuthn), in the JSON that the server and the browser share.

import {misconfigured, sojournError, unreachable} from "../errors.js"
import {LoginPages} from "./login-page.js"
import {HTTPAnswer, PasskeyAuthenticator} from "../platform.js"
import {LoginOptions} from "./signing-in.js"
import {Account} from "../state.js"
import {integer, Members, text} from "../verdict.js"

/** A passkey of the user, as the server keeps it. */
export interface Passkey {
    /** The credential ID in base64url. */
    id: string
    name: string
    /** Whether the user's other devices have it too. */
    isBackedUp: boolean
    createdAt: number
    /** When it last logged the user in; absent: never. */
    lastUsedAt?: number
}

export abstract class Passkeys extends LoginPages {
    private get authenticator(): PasskeyAuthenticator {
        if (!this.environment.passkeys) throw misconfigured("this platform has no passkeys")
        return this.environment.passkeys
    }

    protected async signInByPasskey(options: LoginOptions): Promise<Account> {
        const ask = (): Promise<HTTPAnswer> => this.plainAnswer(this.request("POST", "/v1/passkeys/options"))
        return await this.logIn({members: {passkey: await this.assertion(ask)}}, options)
    }

    private async assertion(ask: () => Promise<HTTPAnswer>): Promise<Members> {
        const {authenticator} = this
        const options = this.publicKeyOf(await ask())
        try {
            return await authenticator.assertion(options)
        } catch (error) {
            throw sojournError(error)
        }
    }

    protected async registration(ask: () => Promise<HTTPAnswer>): Promise<Members> {
        const {authenticator} = this
        const options = this.publicKeyOf(await ask())
        try {
            return await authenticator.registration(options)
        } catch (error) {
            throw sojournError(error)
        }
    }

    private publicKeyOf(answer: HTTPAnswer): Members {
        const options = this.membersOf(answer, "publicKey")["publicKey"] as Members
        if (!text(options["challenge"])) throw unreachable("not an answer of the server", answer.status)
        return options
    }

    /**
     * Adds a passkey to the signed-in user. The user must have proved to be present in the last five minutes: if not, the error
     * is `presenceRequired`. `name` is the name in lists.
     */
    async addPasskey(name?: string): Promise<Passkey> {
        const ask = {method: "POST", path: "/v1/me/passkeys/options", isForItself: true}
        const body = {credential: await this.registration(() => this.call(ask)), name}
        const answer = await this.call({method: "POST", path: "/v1/me/passkeys", members: body, isForItself: true})
        return passkeyOf(this.membersOf(answer, "id"))
    }

    /** The passkeys of the user, the oldest first. */
    async passkeys(): Promise<Passkey[]> {
        return this.itemsOf(await this.call({method: "GET", path: "/v1/me/passkeys", isForItself: true})).map(passkeyOf)
    }

    /** Removes a passkey of the user. The user must have proved to be present in the last five minutes. Sessions go on. */
    async removePasskey(id: string): Promise<void> {
        await this.call({method: "DELETE", path: "/v1/me/passkeys/" + encodeURIComponent(id), isForItself: true})
    }

    /**
     * Proves that the user is present: by a passkey, by password, by the code of an authenticator app, or by the last two. Both within
     * five minutes are what changes of the account ask for, once the user has a second factor.
     */
    async showPresence(by: {passkey: true} | {password?: string; code?: string}): Promise<void> {
        let body: Members = {...by}
        if ("passkey" in by) {
            const ask = {method: "POST", path: "/v1/me/presence/options", isForItself: true, answersDemand: true}
            body = {passkey: await this.assertion(() => this.call(ask))}
        }
        const shown = {method: "POST", path: "/v1/me/presence", members: body, isForItself: true, answersDemand: true}
        await this.call(shown)
        this.presence = this.heldError = null
        // The demand has held renewals back until now.
        this.retries.noteAnswer()
        this.publishState()
        // APIs read in the token when the user was there.
        this.rejections = []
        await this.accessToken().then((token) => this.accessToken({after: token})).catch(() => null)
    }
}

function passkeyOf(body: Members): Passkey {
    const passkey: Passkey = {
        id: text(body["id"]) ?? "", name: text(body["name"]) ?? "", isBackedUp: body["backed_up"] === true,
        createdAt: integer(body["created_at"]) ?? 0,
    }
    const lastUsedAt = integer(body["last_used_at"])
    return lastUsedAt === undefined ? passkey : {...passkey, lastUsedAt}
}
