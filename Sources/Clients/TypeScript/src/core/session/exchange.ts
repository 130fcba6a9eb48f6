// Requests to the server: what is signed, and what each answer says of time and nonces.

import {originOf} from "../configuration.js"
import {SessionBase} from "./base.js"
import {SojournError, sojournError, unreachable} from "../errors.js"
import {DeviceKey, HTTPAnswer, HTTPRequest} from "../platform.js"
import {proof, randomPart} from "../signing.js"
import {retryAfterWithin, waitWithin} from "../time.js"
import {errorOf, isSuccess, Members, members, serverTime, verdictOf, wordOf} from "../verdict.js"

const nonceAge = 200

export class Exchange extends SessionBase {
    /** The nonces for proofs, by origin. */
    private readonly nonces = new Map<string, {value: string; at: number}>()

    protected get patience(): number {
        return this.configuration.patience ?? 20
    }

    /** A request with JSON, or without content. */
    protected request(method: string, path: string, members?: object): HTTPRequest {
        const request: HTTPRequest = {method, url: this.server + path, fields: {Accept: "application/json"}}
        if (members) {
            request.fields["Content-Type"] = "application/json"
            request.body = JSON.stringify(members)
        }
        return request
    }

    /** A request with a form. */
    protected post(path: string, body: string): HTTPRequest {
        const fields = {Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        return {method: "POST", url: this.server + path, fields, body}
    }

    /** The device key, if it has that thumbprint; null if it certainly does not exist. */
    protected async deviceKey(thumbprint: string | undefined): Promise<DeviceKey | null> {
        const key = await this.environment.keys.key()
        return thumbprint === undefined || key?.thumbprint === thumbprint ? key : null
    }

    /** The key to which the next session is bound, made if there is none; null if sessions are not bound. */
    protected async loginKey(): Promise<DeviceKey | null> {
        if (this.configuration.renewal === "refreshToken") return null
        try {
            return await this.environment.keys.makeKey()
        } catch (error) {
            throw sojournError(error)
        }
    }

    protected async proof(key: DeviceKey, method: string, url: string, accessToken?: string): Promise<string> {
        const known = this.nonces.get(originOf(url))
        const nonce = known && this.uptime - known.at < nonceAge ? known.value : undefined
        return await proof(this.platform, key, {method, url, issuedAt: this.now, nonce, accessToken})
    }

    protected noteNonce(url: string, nonce: string | null): void {
        if (nonce) this.nonces.set(originOf(url), {value: nonce, at: this.uptime})
    }

    /** Sends a request, and notes what its answer says; null: no answer. */
    protected async exchange(request: HTTPRequest, limit = this.patience): Promise<HTTPAnswer | null> {
        const sent = this.uptime
        let answer: HTTPAnswer
        try {
            answer = await this.platform.send(request, limit)
        } catch {
            return null
        }
        const roundTrip = this.uptime - sent
        // The process may have stood still in between: what comes late is dropped (3).
        if (roundTrip > limit) return null
        const time = serverTime(answer)
        if (time !== null) this.time.note(time, roundTrip)
        this.noteNonce(request.url, answer.field("DPoP-Nonce"))
        return answer
    }

    /** The error of a call; null if it succeeded. A call ends no session. */
    protected errorOf(answer: HTTPAnswer): SojournError | null {
        if (isSuccess(answer)) return null
        const verdict = verdictOf(answer)
        if (verdict.kind === "renewed") return unreachable(`status ${answer.status}`, answer.status)
        if (verdict.kind !== "ended") return errorOf(verdict)
        const word = wordOf(members(answer.text)) ?? verdict.reason
        return new SojournError("refused", {refusal: {status: answer.status, code: word}})
    }

    /** The answer to a request without an access token. */
    protected async plainAnswer(request: HTTPRequest): Promise<HTTPAnswer> {
        const answer = await this.exchange(request)
        if (!answer) throw unreachable("no answer")
        const error = this.errorOf(answer)
        if (error) throw error
        return answer
    }

    /**
     * Sends a request until an answer comes, three times at most. `lost` is told of the first try without one: a call that it has
     * fulfilled can look as if it were refused.
     */
    protected async insist(send: () => Promise<HTTPAnswer>, lost: () => void = () => {}): Promise<HTTPAnswer> {
        for (let attempt = 1; ; attempt++) {
            try {
                return await send()
            } catch (error) {
                const cause = error instanceof SojournError ? error.unreachable : undefined
                if (!cause) throw error
                lost()
                if (attempt > 2 || (cause.retryAfter ?? 0) > retryAfterWithin) throw error
                await this.pauseWithin(attempt, cause.retryAfter)
            }
        }
    }

    protected pauseWithin(attempt: number, retryAfter: number | undefined): Promise<void> {
        return this.pause(waitWithin(attempt, retryAfter, randomPart(this.platform)))
    }

    /** The members of an answer with such a member. */
    protected membersOf(answer: HTTPAnswer, name: string): Members {
        const body = members(answer.text)
        if (!body || body[name] === undefined || body[name] === null) {
            throw unreachable("not an answer of the server", answer.status)
        }
        return body
    }
}
