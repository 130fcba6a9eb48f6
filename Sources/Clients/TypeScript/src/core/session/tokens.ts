// Access tokens for calls to APIs.

import {isSafe} from "../configuration.js"
import {misconfigured, PresenceRequirement, refused, SojournError, sojournError, unreachable} from "../errors.js"
import {DeviceKey, KeyError} from "../platform.js"
import {hasSession, isDue, isRenewable, isUsable, Loaded, SessionRecord} from "../record.js"
import {Outcome, Renewal} from "./renewal.js"
import {errorOf} from "../verdict.js"

/**
 * usable: good for 30 seconds more; a renewal that is due is tried first, but not waited for longer than `renewalWait`. fresh:
 * renewed since `refresh_after`, or an error. after: another one than this, which an API has refused.
 */
export type Need = "usable" | "fresh" | {after: AccessToken}

/** An access token, with what a request to an API needs. */
export interface AccessToken {
    value: string
    /** `Bearer` or `DPoP`. */
    type: string
    /** In Unix seconds of the server. */
    expiresAt: number
}

/** A request to an API, as `callAPI` needs it. */
export interface APICall<A> {
    method: string
    url: string
    /** Whether the request can be sent again: a stream has been read after the first time. */
    isRepeatable: boolean
    send(fields: Record<string, string>): Promise<A>
    status(answer: A): number
    field(answer: A, name: string): string | null
}

/** For how many seconds an API that refuses every token does not make every call a renewal. */
const rejectionAge = 10

export const tokenOf = (record: SessionRecord): AccessToken => ({
    value: record.access_token ?? "", type: record.token_type ?? "Bearer", expiresAt: record.expires_at ?? 0,
})

const noOtherToken = (): SojournError => refused("invalid_token", 401, "the API has refused the newest token")

const allowsStoredToken = (error: SojournError): boolean =>
    ["unreachable", "suspended", "refused", "notAllowed", "misconfigured", "store", "key", "locked"].includes(error.kind)

export class Tokens extends Renewal {
    /** An access token for a call to an API. When nothing is due, it comes from memory. */
    async accessToken(need: Need = "usable"): Promise<AccessToken> {
        let user: unknown
        for (let round = 0; round < 4; round++) {
            const loaded = (this.cached() ?? {loaded: await this.current()}).loaded
            const record = loaded?.record
            if (!loaded || !record || !hasSession(record)) throw new SojournError("notSignedIn")
            if (record.ended) throw new SojournError("ended", {reason: record.ended.reason})
            if (!this.isOpen(record)) throw new SojournError("presenceRequired", {requirement: this.waysToOpen()})
            if (user !== undefined && user !== record.user?.["user_id"]) throw new SojournError("cancelled")
            user = record.user?.["user_id"]
            if (!this.needsRenewal(record, need)) {
                if (typeof need === "object" && need.after.value === record.access_token) throw noOtherToken()
                return tokenOf(record)
            }
            const token = await this.renewed(loaded, need)
            if (!token) continue
            // No other token follows the one of a session that nothing renews.
            if (typeof need === "object" && need.after.value === token.value && !isRenewable(record)) throw noOtherToken()
            return token
        }
        throw unreachable("the record changes all the time")
    }

    /** Tells that an API has refused an access token with 401, so that the next call renews it. For other HTTP clients. */
    reject(token: AccessToken): void {
        this.rejected = token.value
    }

    /** The fields that carry an access token: `Authorization`, and the proof of the key if the token is bound. */
    async authorize(method: string, url: string, token?: AccessToken): Promise<Record<string, string>> {
        return await this.authorization(method, url, token ?? (await this.accessToken()))
    }

    /** Waits for a renewal, or takes the stored token; null: the record has to be looked at again. */
    private async renewed(loaded: Loaded, need: Need): Promise<AccessToken | null> {
        const {record} = loaded
        const token = tokenOf(record)
        const isGood = need === "usable" && token.value !== this.rejected && isUsable(record, this.now)
        // Due is not expired (10). No time of the client's own ends a token that the server has not confirmed (8).
        const isTaken = need === "usable" && token.value !== this.rejected && token.value !== "" && !this.time.isAnchored
        const fallback = isGood || isTaken ? token : null
        const obstacle = this.obstacle(isGood)
        if (obstacle) {
            if (fallback && allowsStoredToken(obstacle)) return fallback
            throw obstacle
        }
        if (this.isRefused(record, need)) this.rejections.push(this.uptime)
        const flight = this.flight(loaded)
        const outcome = isGood ? await this.within(this.configuration.renewalWait ?? 3, flight) : await flight
        return outcome ? this.tokenAfter(outcome, fallback) : token
    }

    /** What comes of a promise in that time; null: it takes longer, and goes on. */
    private within<T>(seconds: number, promise: Promise<T>): Promise<T | null> {
        return new Promise((resolve, reject) => {
            const cancel = this.platform.after(seconds, () => resolve(null))
            promise.then(resolve, reject).finally(cancel)
        })
    }

    private tokenAfter(outcome: Outcome, fallback: AccessToken | null): AccessToken | null {
        switch (outcome.kind) {
            case "renewed": return tokenOf(outcome.loaded.record)
            case "overtaken": return null
            case "notSignedIn": throw new SojournError("notSignedIn")
            case "ended": throw new SojournError("ended", {reason: outcome.reason})
            case "kept": case "failed": {
                const error = outcome.kind === "failed" ? outcome.error : errorOf(outcome.verdict)
                if (fallback && error && allowsStoredToken(error)) return fallback
                throw error ?? unreachable("no verdict")
            }
        }
    }

    private isRefused(record: SessionRecord, need: Need): boolean {
        const refused = typeof need === "object" ? need.after.value : need === "usable" ? this.rejected : null
        return refused !== null && refused === record.access_token
    }

    private needsRenewal(record: SessionRecord, need: Need): boolean {
        if (this.isRefused(record, need)) {
            // A caller that needs another token asks the server once more, because the session may have ended since.
            this.rejections = this.rejections.filter((at) => this.uptime - at < rejectionAge)
            if (this.rejections.length < (need === "usable" ? 1 : 2)) return true
        }
        return isDue(record, this.now)
    }

    /** Why no renewal can begin now. A caller with a token that works waits longer (9). */
    private obstacle(hasToken: boolean): SojournError | null {
        if (this.configuration.mayRenew === false) return unreachable("this process leaves renewals to another one")
        const hold = this.retries.hold(hasToken)
        if (!hold) return null
        const cause = this.heldError?.unreachable
        if (!cause) return this.heldError ?? unreachable("waiting")
        return new SojournError("unreachable", {unreachable: {...cause, retryAfter: Math.ceil(hold)}})
    }

    protected async authorization(method: string, url: string, token: AccessToken): Promise<Record<string, string>> {
        if (!isSafe(url)) throw misconfigured("access tokens are sent only by https, or http to a loopback address")
        const fields: Record<string, string> = {Authorization: `${token.type} ${token.value}`}
        if (token.type.toLowerCase() !== "dpop") return fields
        const key = await this.sessionKey()
        fields["DPoP"] = await this.proof(key, method, url, token.value)
        return fields
    }

    /** The key to which the session is bound. */
    protected async sessionKey(): Promise<DeviceKey> {
        try {
            const key = await this.deviceKey(this.cache?.loaded?.record.key_thumbprint)
            if (key) return key
        } catch (error) {
            throw sojournError(error)
        }
        throw new SojournError("key", {error: new KeyError("corrupted", "the key of the session does not exist")})
    }

    /** Notes that an API asks for the user. */
    protected noteDemand(requirement: PresenceRequirement): void {
        this.presence = {requirement, isOfAPI: true}
        this.publishState()
    }

    /** Calls an API. Its 401 is no verdict: the token is renewed once, and the call is repeated once (7). */
    protected async callAPI<A>(call: APICall<A>): Promise<A> {
        let token = await this.accessToken()
        let isRenewed = false
        let isSignedAgain = false
        for (;;) {
            const answer = await call.send(await this.authorization(call.method, call.url, token))
            this.noteNonce(call.url, call.field(answer, "DPoP-Nonce"))
            if (call.status(answer) !== 401) return answer
            const challenge = call.field(answer, "WWW-Authenticate") ?? ""
            if (challenge.includes("insufficient_user_authentication")) {
                this.noteDemand(demandOf(challenge))
                return answer
            }
            if (!call.isRepeatable) {
                this.reject(token)
                return answer
            }
            if (challenge.includes("use_dpop_nonce") && !isSignedAgain) {
                isSignedAgain = true
            } else if (!isRenewed) {
                isRenewed = true
                try {
                    token = await this.accessToken({after: token})
                } catch (error) {
                    if (error instanceof SojournError && error.refusal?.code === "invalid_token") return answer
                    throw error
                }
            } else {
                return answer
            }
        }
    }
}

/** The requirement in a challenge of `WWW-Authenticate` (RFC 9470 §3). */
function demandOf(challenge: string): PresenceRequirement {
    const value = (name: string): string | undefined => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1]
    const ways = (value("acr_values") ?? "").split(" ").filter(Boolean)
    const maxAge = value("max_age")
    return maxAge && /^\d+$/.test(maxAge) ? {ways, maxAge: Number(maxAge)} : {ways}
}
