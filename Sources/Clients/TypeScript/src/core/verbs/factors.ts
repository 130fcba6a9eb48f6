// Second factors: authenticator apps (RFC 6238) and recovery codes, and logins in two steps.

import {refused, SojournError, unreachable} from "../errors.js"
import {HTTPAnswer} from "../platform.js"
import {NewAuthenticator, SecondFactorLogin} from "./second-factor.js"
import {SecondStep} from "./signing-in.js"
import {SigningUp} from "./sign-up.js"
import {Account} from "../state.js"
import {integer, members, text, texts} from "../verdict.js"

/** An authenticator app of the user, as the server keeps it. */
export interface Authenticator {
    id: string
    name: string
    createdAt: number
    /** Absent: never. */
    lastUsedAt?: number
}

export interface SecondFactors {
    /** The oldest first. */
    authenticators: Authenticator[]
    recoveryCodesLeft: number
    /** Whether no code of an authenticator app is taken, after too many wrong ones. */
    isBlocked: boolean
}

export abstract class Factors extends SigningUp {
    /** The second factors of the user. */
    async secondFactors(): Promise<SecondFactors> {
        const answer = await this.call({method: "GET", path: "/v1/me/totp", isForItself: true})
        const body = this.membersOf(answer, "items")
        const authenticators = this.itemsOf(answer).map((item) => {
            const lastUsedAt = integer(item["last_used_at"])
            return {
                id: text(item["id"]) ?? "", name: text(item["name"]) ?? "", createdAt: integer(item["created_at"]) ?? 0,
                ...(lastUsedAt === undefined ? {} : {lastUsedAt}),
            }
        })
        const recoveryCodesLeft = integer(body["recovery_codes_left"]) ?? 0
        return {authenticators, recoveryCodesLeft, isBlocked: body["blocked"] === true}
    }

    /**
     * Begins to add an authenticator app. The app shows `uri` as a picture or a link, and confirms with the first code. The user must
     * have proved to be present in the last five minutes, and needs a verified mailbox or a passkey.
     */
    async addAuthenticator(name: string): Promise<NewAuthenticator> {
        const call = {method: "POST", path: "/v1/me/totp", members: {name}, isForItself: true}
        const answer = await this.insist(() => this.call(call))
        const id = this.textOf(answer, "id")
        return this.authenticatorOf(answer, (code) => this.confirmAuthenticator(id, code))
    }

    private authenticatorOf(answer: HTTPAnswer, confirm: (code: string) => Promise<string[]>): NewAuthenticator {
        const [id, secret, uri] = [this.textOf(answer, "id"), this.textOf(answer, "secret"), this.textOf(answer, "uri")]
        return {id, secret, uri, confirm}
    }

    private async confirmAuthenticator(id: string, code: string): Promise<string[]> {
        const path = `/v1/me/totp/${encodeURIComponent(id)}/confirm`
        try {
            return codesOf(await this.insist(() => this.call({method: "POST", path, members: {code}, isForItself: true})))
        } catch (error) {
            // The answer to an earlier try may have been lost: then the code was used, and the recovery codes were not seen.
            const isRefused = error instanceof SojournError && error.kind === "refused"
            const factors = isRefused ? await this.secondFactors().catch(() => null) : null
            if (!factors?.authenticators.some((other) => other.id === id)) throw error
            return factors.authenticators.length === 1 ? await this.makeRecoveryCodes() : []
        }
    }

    /** Removes an authenticator app of the user. A second factor must have been shown in the last five minutes. */
    async removeAuthenticator(id: string): Promise<void> {
        await this.call({method: "DELETE", path: "/v1/me/totp/" + encodeURIComponent(id), isForItself: true})
    }

    /** Makes new recovery codes, which are shown once. The old ones count no more. */
    async makeRecoveryCodes(): Promise<string[]> {
        const call = {method: "POST", path: "/v1/me/recovery-codes", isForItself: true}
        const answer = await this.insist(() => this.call(call))
        const codes = codesOf(answer)
        if (!codes.length) throw unreachable("not an answer of the server", answer.status)
        return codes
    }

    // Logins in two steps

    protected override secondStep(step: SecondStep): SecondFactorLogin {
        return new SecondFactorLogin(step.challenge.methods, {
            byCode: (code) => this.finishByCode(step, code),
            byPasskey: () => this.signInByPasskey({...step.options, continuing: null}),
            add: (name, login) => this.addToLogin(name, step, login),
        })
    }

    private async finishByCode(step: SecondStep, code: string): Promise<Account> {
        const {challenge, credentials, options} = step
        const first = challenge.token ? {login_token: challenge.token} : credentials.members
        const continued = options.continuing?.session_id
        // Another session has taken its place meanwhile.
        if (continued && (await this.living()).session_id !== continued) throw new SojournError("cancelled")
        return await this.logIn({...credentials, members: {...first, code}}, options)
    }

    private async addToLogin(name: string, step: SecondStep, login: SecondFactorLogin): Promise<NewAuthenticator> {
        const token = step.challenge.token
        if (!token) throw refused("second_factor_missing")
        const {record} = await this.prepare()
        const request = this.request("POST", "/v1/login/totp", {
            login_token: token, client_id: this.configuration.clientID, name, device: {id: record.device_id},
        })
        const answer = await this.insist(() => this.plainAnswer(request))
        return this.authenticatorOf(answer, async (code) => {
            await login.confirm(code)
            // The user is signed in, whatever comes of the recovery codes.
            return await this.makeRecoveryCodes().catch(() => [])
        })
    }
}

const codesOf = (answer: HTTPAnswer): string[] => texts(members(answer.text)?.["recovery_codes"])
