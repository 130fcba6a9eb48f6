// A login with a phone, for the device that asks (RFC 8628): the picture, the number, the approval, and the session.

import {form} from "../bytes.js"
import {refused, SojournError, sojournError, unreachable} from "../errors.js"
import {Factors} from "./factors.js"
import {DeviceKey, HTTPRequest} from "../platform.js"
import {idempotencyKey, secretOf} from "../signing.js"
import {Account} from "../state.js"
import {retryAfterWithin} from "../time.js"
import {integer, isSuccess, Members, members, text, verdictOf} from "../verdict.js"

/** What the app shows while the user takes the phone. */
export type PhoneLoginEvent =
    /** The text of the picture, which changes every ten seconds until a phone has scanned it. */
    | {kind: "code"; qr: string; link?: string; userCode?: string; verificationURI?: string; until: number}
    /** A phone has scanned the picture: the user types this number there. */
    | {kind: "number"; number: number}
    | {kind: "approved"}

/** The part of an `AbortSignal` that is used. */
export interface Abort {
    readonly aborted: boolean
    addEventListener?(type: "abort", listener: () => void): void
}

export interface PhoneLoginOptions {
    onChange(event: PhoneLoginEvent): void
    /** Ends the wait. The login at the server ends by itself. */
    signal?: Abort
    /** Where the phone leads back to, for an app on the phone itself: `link` of the event opens the other app. */
    redirectURI?: string
    /** What the phone shows as the words of this device: one line of at most 200 characters. */
    text?: string
}

interface Asked {
    login: string
    code: string
    body: Members
    key: DeviceKey | null
}

/** How long one request waits for a change, in seconds. */
const wait = 25

const overWords: Record<string, string> = {canceled: "access_denied", timed_out: "expired_token", failed: "login_failed"}

export abstract class PhoneLogins extends Factors {
    /**
     * Signs in with a phone of the user, which lets this device in. The app draws `qr` of each event. A refusal by the user is
     * `access_denied`, and without an approval in time the code is `expired_token`.
     */
    async signInByPhone(options: PhoneLoginOptions): Promise<Account> {
        const cancelled = new Promise<never>((_, reject) => {
            const give = (): void => reject(new SojournError("cancelled"))
            if (options.signal?.aborted) give()
            options.signal?.addEventListener?.("abort", give)
        })
        cancelled.catch(() => null)
        return await Promise.race([cancelled, this.letIn(options)])
    }

    private async letIn(options: PhoneLoginOptions): Promise<Account> {
        const order = this.nextLogin()
        const asked = await this.askPhone(options)
        await this.follow(asked, options)
        const {record} = await this.prepare()
        const request = this.post("/oauth/token", form({
            grant_type: "urn:ietf:params:oauth:grant-type:device_code", client_id: this.configuration.clientID,
            device_code: asked.code, device_id: record.device_id,
        }))
        const secret = secretOf(record.retry_secret)
        request.fields["Idempotency-Key"] = await idempotencyKey(this.platform, secret, "device:" + asked.code)
        for (let round = 0; ; round++) {
            if (options.signal?.aborted) throw new SojournError("cancelled")
            try {
                const answer = await this.loginAnswer(request, asked.key, () => {
                    throw refused("second_factor_required", 401)
                })
                return await this.commitLogin(answer, asked.key?.thumbprint, order)
            } catch (error) {
                const code = error instanceof SojournError ? error.refusal?.code : undefined
                if ((code !== "authorization_pending" && code !== "slow_down") || round > 10) throw error
                await this.pause(integer(asked.body["interval"]) ?? 5)
            }
        }
    }

    private async askPhone(options: PhoneLoginOptions): Promise<Asked> {
        await this.prepare()
        const key = await this.loginKey()
        const {clientID, scope, resources} = this.configuration
        const request = this.post("/oauth/device_authorization", form({
            client_id: clientID, scope, resource: resources, redirect_uri: options.redirectURI,
            announce_info: options.text === undefined ? undefined : JSON.stringify({text: options.text}),
        }))
        const answer = await this.insist(() => this.provenAnswer(request, key))
        const body = this.membersOf(answer, "device_code")
        const login = text(body["login_id"])
        const code = text(body["device_code"])
        if (!login || !code) throw unreachable("not an answer of the server", answer.status)
        this.show(body, body, options)
        return {login, code, body, key}
    }

    /** The answer to a request with a proof of the key, signed again once. */
    private async provenAnswer(plain: HTTPRequest, key: DeviceKey | null): ReturnType<Factors["plainAnswer"]> {
        for (let attempt = 0; ; attempt++) {
            const request = {...plain, fields: {...plain.fields}}
            try {
                if (key) request.fields["DPoP"] = await this.proof(key, request.method, request.url)
            } catch (error) {
                throw sojournError(error)
            }
            const answer = await this.exchange(request)
            if (!answer) throw unreachable("no answer")
            if (isSuccess(answer)) return answer
            if (attempt === 0 && verdictOf(answer).kind === "signAgain") continue
            throw this.errorOf(answer) ?? unreachable(`status ${answer.status}`, answer.status)
        }
    }

    /** Waits until the user has approved the login. What gets no answer is asked again until the login is over. */
    private async follow(asked: Asked, options: PhoneLoginOptions): Promise<void> {
        let version = ""
        let failures = 0
        for (;;) {
            if (options.signal?.aborted) throw new SojournError("cancelled")
            const query = form({wait: String(wait), version: version || undefined})
            const request = this.request("GET", `/v1/logins/${encodeURIComponent(asked.login)}?${query}`)
            request.fields["Authorization"] = "Bearer " + asked.code
            const answer = await this.exchange(request, wait + this.patience)
            const body = answer && isSuccess(answer) ? members(answer.text) : null
            const event = text(body?.["event"])
            if (!body || !event) {
                const error = answer && !isSuccess(answer) ? this.errorOf(answer) : null
                if (error && error.kind !== "unreachable") throw error
                failures += 1
                const retryAfter = error?.unreachable?.retryAfter
                await this.pauseWithin(failures, retryAfter === undefined ? undefined : Math.max(retryAfter, retryAfterWithin))
                continue
            }
            failures = 0
            version = text(body["version"]) ?? ""
            if (overWords[event]) throw refused(overWords[event] as string)
            if (event === "approved" || event === "logged_in") {
                options.onChange({kind: "approved"})
                return
            }
            this.show(body, asked.body, options)
        }
    }

    private show(body: Members, asked: Members, options: PhoneLoginOptions): void {
        const number = integer(body["number"])
        const qr = text(body["qr"])
        if (number !== undefined) return options.onChange({kind: "number", number})
        if (!qr) return
        const [link, userCode, verificationURI] =
            [asked["link"], asked["user_code"], asked["verification_uri"]].map(text)
        options.onChange({
            kind: "code", qr, until: integer(body["qr_expires_at"]) ?? 0, ...(link && {link}), ...(userCode && {userCode}),
            ...(verificationURI && {verificationURI}),
        })
    }
}
