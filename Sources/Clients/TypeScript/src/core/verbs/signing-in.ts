// Logins by name and password, by an ID token and by other proofs, and what becomes of their answers.

import {Calls} from "../session/calls.js"
import {misconfigured, refused, SojournError, sojournError} from "../errors.js"
import {DeviceKey, HTTPRequest} from "../platform.js"
import {begun, Loaded, owing, SessionRecord, TokenAnswer} from "../record.js"
import {SecondFactorLogin} from "./second-factor.js"
import {idempotencyKey, randomText, secretOf} from "../signing.js"
import {account, Account, AuthenticationMode} from "../state.js"
import {retryAfterWithin} from "../time.js"
import {Challenge, errorOf, Members, members, text, Verdict, verdictOf} from "../verdict.js"

/** How the user shows the right to log in: members of the request. */
export interface Credentials {
    members: Members
    /** Whether the login can continue a session that the device has. */
    mayContinue?: boolean
    isSignUp?: boolean
}

export interface LoginOptions {
    mode: AuthenticationMode
    cancelsDeletion?: boolean | undefined
    /** The session that the login continues. */
    continuing?: SessionRecord | null
}

/** A login with a right first proof. */
export interface SecondStep {
    challenge: Challenge
    /** The first proof, which comes again beside the second one if the server has not sealed it. */
    credentials: Credentials
    options: LoginOptions
}

/** Which logins and sign-outs came before. */
export interface LoginOrder {
    number: number
    signOuts: number
}

export abstract class SigningIn extends Calls {
    private logins = 0
    private lastCommitted = 0

    /**
     * Takes over a session that the app's backend has begun, from the server's answer to it. The session must be of
     * `deviceIdentity()`.
     */
    async adopt(tokenAnswer: string): Promise<Account> {
        const answer = members(tokenAnswer)
        if (!answer || !text(answer["access_token"]) || typeof answer["issued_at"] !== "number") {
            throw misconfigured("not an answer with tokens")
        }
        const order = this.nextLogin()
        await this.prepare()
        const isSigned = text(answer["token_type"])?.toLowerCase() === "dpop" || !answer["refresh_token"]
        const key = isSigned ? await this.environment.keys.key().catch((error) => Promise.reject(sojournError(error))) : null
        if (isSigned && !key) throw misconfigured("the session is bound to a key that this device does not have")
        return await this.commitLogin(answer as TokenAnswer, key?.thumbprint, order)
    }

    /** What a backend needs to begin a session for this device: its ID, and the thumbprint of its key (`dpop_jkt`). */
    async deviceIdentity(): Promise<{deviceID: string; keyThumbprint?: string}> {
        const deviceID = (await this.prepare()).record.device_id
        const key = await this.loginKey()
        return key ? {deviceID, keyThumbprint: key.thumbprint} : {deviceID}
    }

    /** What ends a login that waits for its second factor. */
    protected abstract secondStep(step: SecondStep): SecondFactorLogin

    /** The place of a login that begins now. */
    protected nextLogin(): LoginOrder {
        this.logins += 1
        return {number: this.logins, signOuts: this.signOuts}
    }

    protected passwordOf(username: string, password: string): Credentials {
        return {members: {username, password}, mayContinue: true}
    }

    protected idTokenOf(idToken: string, provider: string, nonce?: string, refreshToken?: string): Credentials {
        const members = {id_token: idToken, provider, nonce, provider_refresh_token: refreshToken}
        return {members, mayContinue: true}
    }

    protected async logIn(credentials: Credentials, options: LoginOptions): Promise<Account> {
        const order = this.nextLogin()
        // Stored before the login is sent, so that a lost answer is asked for again with the same key, even after a new start (4).
        const record = (await this.prepare()).record
        const key = await this.loginKey()
        const isByKey = this.configuration.renewal === "deviceKey"
        const continuing = options.continuing ?? (credentials.mayContinue ? await this.living().catch(() => null) : null)
        const body = JSON.stringify({
            ...this.sharedMembers(record, options.mode, isByKey ? key : null), client_id: this.configuration.clientID,
            session_id: continuing?.session_id, cancel_deletion: options.cancelsDeletion || undefined,
            ...credentials.members,
        })
        const retryKey = await idempotencyKey(this.platform, secretOf(record.retry_secret), "login:" + body)
        const request = this.request("POST", credentials.isSignUp ? "/v1/sign-up" : "/v1/login")
        Object.assign(request.fields, {"Content-Type": "application/json", "Idempotency-Key": retryKey})
        const answer = await this.loginAnswer({...request, body}, isByKey ? null : key, (challenge) =>
            this.secondStep({challenge, credentials, options}))
        if (isByKey) delete answer["refresh_token"]
        return await this.commitLogin(answer, key?.thumbprint, order)
    }

    /** The members that every login has. */
    private sharedMembers(record: SessionRecord, mode: AuthenticationMode, deviceKey: DeviceKey | null): object {
        const {deviceName, platform, appVersion, scope} = this.configuration
        return {
            device: {id: record.device_id, name: deviceName, platform, app_version: appVersion},
            authentication_mode: mode, scope, device_key: deviceKey?.jwk,
        }
    }

    /** Sends a login until an answer comes, three times at most. Each try has the same `Idempotency-Key`. */
    protected async loginAnswer(
        plain: HTTPRequest, key: DeviceKey | null,
        secondStep: (challenge: Challenge) => SecondFactorLogin
    ): Promise<TokenAnswer> {
        let isSignedAgain = false
        for (let attempt = 1; ; ) {
            const request = {...plain, fields: {...plain.fields}}
            if (key) request.fields["DPoP"] = await this.loginProof(key, request)
            const answer = await this.exchange(request)
            const verdict: Verdict = answer ? verdictOf(answer) : {kind: "unreachable", cause: {detail: "no answer"}}
            if (attempt === 1 && answer && [404, 405, 501].includes(answer.status)) await this.checkServer()
            switch (verdict.kind) {
                case "renewed": return verdict.answer
                case "signAgain":
                    if (isSignedAgain) await this.checkIssuer()
                    if (isSignedAgain) throw errorOf(verdict)
                    isSignedAgain = true
                    continue
                case "unreachable": {
                    const {retryAfter} = verdict.cause
                    if (attempt >= 3 || (retryAfter ?? 0) > retryAfterWithin) throw errorOf(verdict)
                    await this.pauseWithin(attempt, retryAfter)
                    attempt += 1
                    continue
                }
                case "secondFactorRequired":
                    throw new SojournError("secondFactorRequired", {login: secondStep(verdict.challenge)})
                // A login has no session that could have ended.
                case "ended": throw refused(verdict.reason, 401)
                default: throw errorOf(verdict)
            }
        }
    }

    private async loginProof(key: DeviceKey, request: HTTPRequest): Promise<string> {
        try {
            return await this.proof(key, request.method, request.url)
        } catch (error) {
            throw sojournError(error)
        }
    }

    /** Throws if no public listener of Sojourn answers at the configured URL. */
    private async checkServer(): Promise<void> {
        const answer = await this.exchange(this.request("GET", "/.well-known/oauth-authorization-server"))
        if (!answer || answer.status !== 404 && answer.status !== 200) return
        const metadata = members(answer.text)
        if (answer.status === 200 && (!metadata || text(metadata["token_endpoint"])?.endsWith("/oauth/token"))) return
        throw misconfigured(`no Sojourn answers at ${this.server}: "server" must be the URL of its public listener`)
    }

    /** Throws if the server knows itself by another URL, because it refuses every signature then. */
    private async checkIssuer(): Promise<void> {
        const answer = await this.exchange(this.request("GET", "/.well-known/oauth-authorization-server"))
        const issuer = answer && text(members(answer.text)?.["issuer"])?.replace(/\/+$/, "")
        if (!issuer || issuer === this.server) return
        throw misconfigured(`the server's issuer is ${issuer}, but the app calls ${this.server}: both must be the same URL`)
    }

    /** Stores the session of a login, whatever is stored: it is what the user did last. */
    protected async commitLogin(
        answer: TokenAnswer, thumbprint: string | undefined, order: LoginOrder
    ): Promise<Account> {
        const isSignedOut = order.signOuts !== this.signOuts
        const isSuperseded = isSignedOut || order.number < this.lastCommitted
        const secret = randomText(this.platform, 32)
        const earlier = this.unlocked
        let loaded: Loaded | null = null
        try {
            if (isSignedOut) {
                // The user has signed out meanwhile: this session goes as well. That of an earlier login is replaced by the server.
                await this.update((stored) => owing(stored, answer, thumbprint))
            } else if (!isSuperseded) {
                this.lastCommitted = order.number
                this.unlocked = {session: text(answer["session_id"]), at: this.uptime}
                loaded = await this.update((stored) => begun(stored, answer, secret, thumbprint))
            }
        } catch (error) {
            this.unlocked = earlier
            throw sojournError(error)
        }
        if (isSuperseded || loaded?.record.debts?.length) this.payDebtsLater()
        if (!loaded) throw new SojournError("cancelled")
        this.forgetTroubles()
        this.publishState()
        this.environment.onSignedIn?.()
        return account(loaded.record.user)
    }
}
