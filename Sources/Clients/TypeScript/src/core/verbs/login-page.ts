// Logins on the server's page: PKCE (RFC 7636), `state`, `nonce`, and `iss` of the answer (RFC 9207).

import {form, utf8} from "../bytes.js"
import {misconfigured, refused, SojournError, sojournError, unreachable} from "../errors.js"
import {LoginAttempt, LoginPresenter} from "../platform.js"
import {hasSession, nonceOf, owing} from "../record.js"
import {LoginOrder, SigningIn} from "./signing-in.js"
import {idempotencyKey, randomText, sha256} from "../signing.js"
import {Account, AuthenticationMode} from "../state.js"
import {text} from "../verdict.js"

/** What an app asks of the server's login page (OpenID Connect Core §3.1.2.1). */
export interface LoginPage {
    /** Where the browser returns to: an absolute redirect URI that the client has registered. */
    redirectURI: string
    /** For example `login`: the user logs in even if the browser has a session. */
    prompt?: string
    /** The name with which the form is filled in. */
    loginHint?: string
    /** The languages of the page, the preferred one first (BCP 47). */
    uiLocales?: string[]
    /** The ways of login to ask for, the preferred one first. */
    acrValues?: string[]
}

const attemptAge = 3600

export abstract class LoginPages extends SigningIn {
    /** Callbacks that are being answered: a page that runs twice gives the same code twice. */
    private readonly callbacks = new Map<string, Promise<Account>>()

    /** Whether a URL is the answer of a login page. It tells nothing of whether a login waits for it. */
    isCallback(url: string): boolean {
        const parameters = parametersOf(url)
        return !!parameters?.has("state") && parameters.has("iss") && (parameters.has("code") || parameters.has("error"))
    }

    /**
     * Begins a login on the server's page, for an app that opens the browser itself. Returns the URL to open. The answer goes to
     * `signIn({callback})`, which may be in a later process.
     */
    async beginSignIn(page: LoginPage, mode: AuthenticationMode = "NO"): Promise<string> {
        return (await this.beginLogin(page, mode)).url
    }

    protected async signInThrough(presenter: LoginPresenter, page: LoginPage, mode: AuthenticationMode): Promise<Account> {
        let begun: {attempt: LoginAttempt; url: string}
        const order = this.nextLogin()
        try {
            begun = await this.beginLogin(page, mode)
        } catch (error) {
            presenter.cancel?.()
            throw error
        }
        try {
            const callback = await presenter.present(begun.url, page.redirectURI)
            return await this.exchangeCode(this.codeOf(callback, begun.attempt), begun.attempt, order)
        } catch (error) {
            const failure = sojournError(error)
            // After a lost answer the same URL can be given to `signIn({callback})` once more.
            if (failure.kind !== "unreachable") await this.forgetAttempt(begun.attempt.state)
            throw failure
        }
    }

    /** A URL that does not answer a login of this device is refused, and the login goes on waiting. */
    protected signInByCallback(url: string): Promise<Account> {
        const state = parametersOf(url)?.get("state") ?? ""
        const running = this.callbacks.get(state)
        if (running) return running
        const answered = this.answer(url, state)
        this.callbacks.set(state, answered)
        // An answer that was lost can be asked for again.
        answered.catch(() => this.callbacks.delete(state))
        return answered
    }

    private async answer(url: string, state: string): Promise<Account> {
        const order = this.nextLogin()
        const attempt = await this.pendingAttempt(state)
        try {
            return await this.exchangeCode(this.codeOf(url, attempt), attempt, order)
        } catch (error) {
            // The server knows the code no more, or the user has refused.
            const code = error instanceof SojournError ? error.refusal?.code : undefined
            if (code && !["redirect_uri_mismatch", "iss_mismatch"].includes(code)) await this.forgetAttempt(state)
            throw error
        }
    }

    /** Ends a login by its code alone, for an app that has checked `state` and `iss` of the answer itself. */
    protected async signInByCode(code: string, state: string, mode?: AuthenticationMode): Promise<Account> {
        const order = this.nextLogin()
        const attempt = await this.pendingAttempt(state)
        return await this.exchangeCode(code, {...attempt, mode: mode ?? attempt.mode}, order)
    }

    // Steps

    /** Stores what the answer is checked with, and makes the URL. */
    private async beginLogin(page: LoginPage, mode: AuthenticationMode): Promise<{attempt: LoginAttempt; url: string}> {
        if (!/^[a-z][a-z0-9+.-]*:/i.test(page.redirectURI)) throw misconfigured("the redirect URI must be absolute")
        const attempt: LoginAttempt = {
            state: randomText(this.platform, 16), nonce: randomText(this.platform, 16),
            verifier: randomText(this.platform, 32), redirectURI: page.redirectURI, mode, at: this.platform.clock.wall(),
        }
        await this.prepare()
        const {configuration} = this
        const isBound = (configuration.renewal ?? "boundRefreshToken") === "boundRefreshToken"
        const key = isBound ? await this.loginKey() : null
        const words = (list: string[] | undefined): string | undefined => list?.join(" ") || undefined
        const query = form({
            response_type: "code", client_id: configuration.clientID, redirect_uri: page.redirectURI,
            scope: configuration.scope, state: attempt.state, nonce: attempt.nonce,
            code_challenge: await sha256(this.platform, attempt.verifier), code_challenge_method: "S256",
            dpop_jkt: key?.thumbprint, prompt: page.prompt, login_hint: page.loginHint, ui_locales: words(page.uiLocales),
            acr_values: words(page.acrValues), resource: configuration.resources,
        })
        await this.keepAttempt(attempt)
        return {attempt, url: `${this.server}/oauth/authorize?${query}`}
    }

    /** The code of an answer. Throws `refused` if the URL does not answer this login, or says that the login was refused. */
    private codeOf(url: string, attempt: LoginAttempt): string {
        const parameters = parametersOf(url)
        if (!parameters) throw refused("invalid_callback")
        if (!isSentTo(attempt.redirectURI, url)) throw refused("redirect_uri_mismatch")
        if (parameters.get("state") !== attempt.state) throw refused("state_mismatch")
        if (parameters.get("iss")?.replace(/\/$/, "") !== this.server) throw refused("iss_mismatch")
        const error = parameters.get("error")
        const detail = parameters.get("error_description")
        if (error === "server_error" || error === "temporarily_unavailable") throw unreachable(detail ?? error)
        if (error === "unauthorized_client") {
            throw new SojournError("notAllowed", {refusal: {status: 0, code: error, ...(detail ? {detail} : {})}})
        }
        if (error) throw refused(error, 0, detail)
        const code = parameters.get("code")
        if (!code) throw refused("invalid_callback")
        return code
    }

    private async exchangeCode(code: string, attempt: LoginAttempt, order: LoginOrder): Promise<Account> {
        const {record} = await this.prepare()
        const key = await this.loginKey()
        const {configuration} = this
        const isByKey = configuration.renewal === "deviceKey"
        const body = form({
            grant_type: "authorization_code", client_id: configuration.clientID, code, redirect_uri: attempt.redirectURI,
            code_verifier: attempt.verifier, device_id: record.device_id,
            session_id: hasSession(record) && !record.ended ? record.session_id : undefined,
            device_name: configuration.deviceName, device_platform: configuration.platform,
            device_app_version: configuration.appVersion, authentication_mode: attempt.mode,
            device_key: isByKey && key ? JSON.stringify(key.jwk) : undefined,
        })
        const request = this.post("/oauth/token", body)
        // The key is of the verifier, because a login that comes in between changes the secret of the record.
        request.fields["Idempotency-Key"] = await idempotencyKey(this.platform, utf8(attempt.verifier), "code:" + code)
        const answer = await this.loginAnswer(request, isByKey ? null : key, () => {
            throw refused("second_factor_required", 401)
        })
        if (isByKey) delete answer["refresh_token"]
        const nonce = nonceOf(answer)
        if (nonce !== undefined && nonce !== attempt.nonce) {
            // This session has no use: the server is told to end it.
            await this.change((stored) => owing(stored, answer, key?.thumbprint))
            this.payDebtsLater()
            throw refused("nonce_mismatch")
        }
        const account = await this.commitLogin(answer, key?.thumbprint, order)
        await this.forgetAttempt(attempt.state)
        return account
    }

    // Attempts

    private async keepAttempt(attempt: LoginAttempt): Promise<void> {
        const {attempts} = this.environment
        if (!attempts) return void (await this.change((record) => ({...record, pending_login: {...attempt}})))
        await attempts.keep(attempt).catch((error) => Promise.reject(sojournError(error)))
    }

    private async pendingAttempt(state: string): Promise<LoginAttempt> {
        const {attempts} = this.environment
        let found: Partial<LoginAttempt> | null | undefined
        try {
            found = attempts ? await attempts.find(state) : (await this.load())?.record.pending_login
        } catch (error) {
            throw sojournError(error)
        }
        const age = this.platform.clock.wall() - (found?.at ?? 0)
        const isWhole = found && text(found.state) && text(found.verifier) && text(found.redirectURI)
        if (!isWhole || Math.abs(age) > attemptAge) {
            const detail = "no login waits here for this answer: begin again in this app or browser"
            throw refused("no_login_pending", 0, detail)
        }
        return found as LoginAttempt
    }

    private async forgetAttempt(state: string): Promise<void> {
        const {attempts} = this.environment
        const forgotten = attempts
            ? attempts.forget(state)
            : this.change((record) => {
                if (record.pending_login?.["state"] !== state) return null
                const changed = {...record}
                delete changed.pending_login
                return changed
            })
        // If that fails, the attempt is over in an hour.
        await forgotten.catch(() => null)
    }
}

/** The parameters of a URL's query; null if one stands twice, or cannot be read. */
function parametersOf(url: string): Map<string, string> | null {
    const query = /\?([^#]*)/.exec(url)?.[1] ?? ""
    const parameters = new Map<string, string>()
    try {
        for (const pair of query.split("&").filter(Boolean)) {
            const [name = "", value = ""] = pair.replace(/\+/g, " ").split(/=(.*)/s).map(decodeURIComponent)
            if (parameters.has(name)) return null
            parameters.set(name, value)
        }
        return parameters
    } catch {
        return null
    }
}

/** Whether a URL is the redirect URI with further parameters. A host without a path may have got a slash on its way. */
function isSentTo(redirectURI: string, url: string): boolean {
    const path = (text: string): string => {
        const bare = text.replace(/[?#].*$/s, "")
        const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(bare)?.[0] ?? ""
        return origin.toLowerCase() + (bare.slice(origin.length) || (origin ? "/" : ""))
    }
    const own = parametersOf(redirectURI)
    const sent = parametersOf(url)
    if (!own || !sent || path(redirectURI) !== path(url)) return false
    return [...own].every(([name, value]) => sent.get(name) === value)
}

