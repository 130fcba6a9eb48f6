// A client that keeps the rules of "How an app stays signed in". The numbers in comments are those of the rules.
//
// Reading order: verdict.ts (what is final), record.ts (what is stored), client.ts: accessToken, renew, signIn, signOut.

import {DeviceKey, idempotencyKey, proof, randomText} from "./crypto"
import {Clock, Keys, Request, Store, StoreError, Stored, Transport} from "./platform"
import {
    begun, Debt, hasSession, isBound, isDue, isUsable, owe, parseRecord, SessionRecord, signedOut, take, TokenAnswer,
} from "./record"
import {Retries, ServerClock, waitWithin} from "./time"
import {Answer, serverTime, Verdict, verdictOf} from "./verdict"

/** Why a call failed. Only `not-signed-in` and `ended` mean that the app shows the login. */
export class SessionError extends Error {
    constructor(
        readonly code:
            "not-signed-in" | "ended" | "suspended" | "presence-required" | "unreachable" | "refused" | "locked" | "other",
        readonly reason?: string,
        /** The server's sentence about the reason, for the log. */
        readonly detail?: string
    ) {
        super([code, reason, detail].filter(Boolean).join(": "))
    }
}

export interface State {
    state: "starting" | "locked" | "store-failed" | "signed-out" | "signed-in" | "ended" | "presence-required"
    user?: string
    reason?: string
}

/** usable: renewed if that is due and possible. fresh: renewed if that is due. renewed: another one than `refused`. */
export type Need = "usable" | "fresh" | "renewed"

export interface AccessToken {
    value: string
    type: string
}

interface Loaded {
    version: string
    record: SessionRecord
}

type Outcome =
    | {kind: "renewed" | "overtaken"; loaded: Loaded}
    | {kind: "not_signed_in"}
    | {kind: "ended"; reason: string}
    | {kind: "kept"; verdict: Verdict}
    | {kind: "store_failed"}

export interface Settings {
    server: string
    clientID: string
    isBound: boolean
    store: Store
    keys: Keys
    clock: Clock
    transport: Transport
}

const pause = (seconds: number): Promise<void> => new Promise((resume) => setTimeout(resume, seconds * 1000))

export class SojournClient {
    private readonly time: ServerClock
    private readonly retries: Retries
    private heldVerdict: Verdict | null = null
    /** One renewal for each version of the record (11). */
    private readonly flights = new Map<string, Promise<Outcome>>()
    private nonce: string | undefined
    private current: State = {state: "starting"}
    private isDemanded = false
    private renewedForRefusalAt = -Infinity
    private signOuts = 0
    private isPaying = false

    constructor(private readonly settings: Settings) {
        this.time = new ServerClock(settings.clock)
        this.retries = new Retries(settings.clock)
    }

    /** The last known state. */
    get state(): State {
        return this.current
    }

    /** Reads the store, and tells the server of sign-outs that it has not heard of. To be called at each launch. */
    async start(): Promise<State> {
        this.retries.noteStart()
        await this.load().catch(() => null)
        void this.payDebts()
        return this.state
    }

    // Tokens

    async accessToken(need: Need = "usable", refused?: string): Promise<AccessToken> {
        for (let round = 0; round < 4; round++) {
            const loaded = await this.load()
            if (!loaded || !hasSession(loaded.record)) throw new SessionError("not-signed-in")
            const record = loaded.record
            if (record.ended) throw new SessionError("ended", record.ended.reason)
            const token = {value: record.access_token ?? "", type: record.token_type ?? "Bearer"}
            const now = this.time.now()
            const isRefused = need === "renewed" && refused === token.value
            // An API that refuses every token must not make every call a renewal.
            const isWorthIt = isRefused && this.settings.clock.uptime() - this.renewedForRefusalAt >= 10
            if (!isDue(record, now) && !isWorthIt) return token
            // Due is not expired (10). No time of the client's own ends a token that the server has not confirmed (8).
            const isGood = need === "usable" && isUsable(record, now)
            const fallback = isGood || (need === "usable" && !this.time.isAnchored) ? token : null
            if (this.retries.isHeld(isGood)) {
                if (fallback) return fallback
                throw this.error(this.heldVerdict ?? {kind: "unreachable"})
            }
            if (isRefused) this.renewedForRefusalAt = this.settings.clock.uptime()
            const flight = this.flight(loaded)
            const outcome = isGood ? await Promise.race([flight, pause(3).then(() => null)]) : await flight
            if (outcome === null) return token
            switch (outcome.kind) {
                case "renewed": {
                    const renewed = outcome.loaded.record
                    return {value: renewed.access_token ?? "", type: renewed.token_type ?? "Bearer"}
                }
                case "overtaken": continue
                case "not_signed_in": throw new SessionError("not-signed-in")
                case "ended": throw new SessionError("ended", outcome.reason)
                case "store_failed":
                    if (fallback) return fallback
                    throw new SessionError("locked")
                case "kept":
                    if (fallback && outcome.verdict.kind !== "presence_required") return fallback
                    throw this.error(outcome.verdict)
            }
        }
        throw new SessionError("unreachable")
    }

    /** Calls an API. Its 401 is no verdict: it renews once, and the call is repeated once (7). */
    async call(url: string): Promise<Answer> {
        let token = await this.accessToken()
        let answer = await this.callOnce(url, token)
        if (answer.status !== 401) return answer
        token = await this.accessToken("renewed", token.value)
        answer = await this.callOnce(url, token)
        return answer
    }

    private async callOnce(url: string, token: AccessToken): Promise<Answer> {
        const request: Request = {method: "GET", url, fields: {Authorization: `${token.type} ${token.value}`}}
        if (token.type.toLowerCase() !== "dpop") return await this.settings.transport(request, 20)
        const key = await this.settings.keys.key()
        if (key) request.fields["DPoP"] = await proof(key, "GET", url, this.time.now(), this.nonce, token.value)
        return await this.settings.transport(request, 20)
    }

    // A renewal

    private flight(seen: Loaded): Promise<Outcome> {
        const running = this.flights.get(seen.version)
        if (running) return running
        const flight = this.renew(seen).then((outcome) => {
            this.flights.delete(seen.version)
            this.note(outcome)
            return outcome
        })
        this.flights.set(seen.version, flight)
        return flight
    }

    private note(outcome: Outcome): void {
        switch (outcome.kind) {
            case "renewed":
                this.isDemanded = false
                this.heldVerdict = null
                this.retries.noteAnswer()
                void this.payDebts()
                break
            case "kept": {
                const verdict = outcome.verdict
                this.isDemanded = verdict.kind === "presence_required"
                this.heldVerdict = verdict
                this.retries.noteFailure(verdict.kind === "unreachable" ? verdict.retryAfter : undefined)
                break
            }
            case "store_failed": this.retries.noteFailure(); break
            case "overtaken": case "not_signed_in": case "ended": break
        }
        if (this.isDemanded && this.current.state === "signed-in") this.current = {state: "presence-required"}
    }

    private async renew(seen: Loaded): Promise<Outcome> {
        let isSignedAgain = false
        for (let attempt = 1; ; ) {
            let verdict: Verdict
            let record: SessionRecord
            try {
                const fields = await this.proofFields(seen.record, "/oauth/token")
                if (fields === "failed") return {kind: "kept", verdict: {kind: "unreachable"}}
                // Nothing that can wait stands between loading and sending (3).
                const sentAt = this.time.now()
                const loaded = await this.load()
                if (!loaded || !hasSession(loaded.record)) return {kind: "not_signed_in"}
                if (loaded.record.ended) return {kind: "ended", reason: loaded.record.ended.reason}
                if (loaded.version !== seen.version) return {kind: "overtaken", loaded}
                record = loaded.record
                verdict = await this.present(record, sentAt, fields === "gone" ? {} : fields, fields === "gone")
            } catch (error) {
                if (error instanceof SessionError) return {kind: "store_failed"}
                throw error
            }
            switch (verdict.kind) {
                case "renewed": return await this.commit(seen.version, take(record, verdict.answer), "renewed")
                case "ended": {
                    const ended = {reason: verdict.reason, at: this.time.now()}
                    return await this.commit(seen.version, {...record, ended}, "ended")
                }
                case "sign_again":
                    if (isSignedAgain) return {kind: "kept", verdict: {kind: "unreachable"}}
                    isSignedAgain = true
                    continue
                case "unreachable":
                    if (attempt >= 3 || (verdict.retryAfter ?? 0) > 5) return {kind: "kept", verdict}
                    await pause(waitWithin(attempt, verdict.retryAfter))
                    attempt += 1
                    continue
                default: return {kind: "kept", verdict}
            }
        }
    }

    private async present(
        record: SessionRecord, sentAt: number, fields: Record<string, string>, isKeyGone: boolean
    ): Promise<Verdict> {
        const token = record.refresh_token ?? ""
        const form = new URLSearchParams({
            grant_type: "refresh_token", refresh_token: token, client_id: this.settings.clientID,
            device_id: record.device_id, sent_at: String(sentAt), id_token: "false",
        })
        const key = await idempotencyKey(record.retry_secret, token)
        const interval = record.rotation_interval ?? 0
        const limit = interval > 0 ? Math.min(20, Math.max(interval / 4, 0.5)) : 20
        const answer = await this.exchange({
            method: "POST", url: this.settings.server + "/oauth/token", body: form.toString(),
            fields: {...fields, "Content-Type": "application/x-www-form-urlencoded", "Idempotency-Key": key},
        }, limit)
        return answer ? verdictOf(answer, isKeyGone) : {kind: "unreachable"}
    }

    /** Stores what came of a renewal, if the record that was presented is still stored (2, 5, 6). */
    private async commit(version: string, record: SessionRecord, kind: "renewed" | "ended"): Promise<Outcome> {
        const offset = this.time.recordOffset
        const changed = offset === undefined ? record : {...record, clock_offset: offset}
        try {
            const isStored = await this.settings.store.replace(version, JSON.stringify(changed))
            const loaded = await this.load()
            if (!loaded || !hasSession(loaded.record)) return {kind: "not_signed_in"}
            if (loaded.record.ended) return {kind: "ended", reason: loaded.record.ended.reason}
            return {kind: isStored && kind === "renewed" ? "renewed" : "overtaken", loaded}
        } catch {
            return {kind: "store_failed"}
        }
    }

    // Logins and sign-outs

    async signIn(username: string, password: string): Promise<string> {
        const signOuts = this.signOuts
        // Stored before the login is sent, so that a lost answer is asked for again with the same key (4).
        const record = (await this.prepare()).record
        const key = this.settings.isBound ? await this.settings.keys.makeKey() : null
        const body = JSON.stringify({
            client_id: this.settings.clientID, device: {id: record.device_id}, password,
            username,
        })
        const retryKey = await idempotencyKey(record.retry_secret, "login:" + body)
        const answer = await this.login(body, retryKey, key)
        const isLate = signOuts !== this.signOuts
        const secret = randomText(32)
        await this.update((stored) =>
            // The user has signed out meanwhile: this session goes as well.
            isLate ? {...owe(take(stored, answer)), signed_out: true} : begun(stored, answer, secret, key?.thumbprint))
        void this.payDebts()
        if (isLate) throw new SessionError("other", "signed out meanwhile")
        this.retries.noteAnswer()
        this.isDemanded = false
        return this.state.user ?? username
    }

    private async login(body: string, retryKey: string, key: DeviceKey | null): Promise<TokenAnswer> {
        let isSignedAgain = false
        for (let attempt = 1; ; ) {
            const url = this.settings.server + "/v1/login"
            const fields: Record<string, string> = {"Content-Type": "application/json", "Idempotency-Key": retryKey}
            if (key) fields["DPoP"] = await proof(key, "POST", url, this.time.now(), this.nonce)
            const answer = await this.exchange({method: "POST", url, fields, body}, 20)
            const verdict: Verdict = answer ? verdictOf(answer, false) : {kind: "unreachable"}
            if (verdict.kind === "renewed") return verdict.answer
            if (verdict.kind === "sign_again" && !isSignedAgain) {
                isSignedAgain = true
            } else if (verdict.kind === "unreachable" && attempt < 3 && (verdict.retryAfter ?? 0) <= 5) {
                await pause(waitWithin(attempt, verdict.retryAfter))
                attempt += 1
            } else if (verdict.kind === "ended") {
                // A login has no session that could have ended.
                throw new SessionError("refused", verdict.reason)
            } else {
                throw this.error(verdict)
            }
        }
    }

    /** Signs out at once, and tells the server when it can be reached (13). */
    async signOut(): Promise<void> {
        this.signOuts += 1
        this.current = {state: "signed-out"}
        const secret = randomText(32)
        await this.update((record) => (hasSession(record) ? signedOut(record, secret) : null))
        void this.payDebts()
    }

    private async payDebts(): Promise<void> {
        if (this.isPaying) return
        this.isPaying = true
        try {
            const tried = new Set<string>()
            for (;;) {
                const debts = (await this.load())?.record.debts ?? []
                const debt = debts.find((debt) => !tried.has(debt.token))
                if (!debt) return
                tried.add(debt.token)
                const isOver = debt.expires_at !== undefined && debt.expires_at < this.time.now()
                const payment = isOver ? "paid" : await this.pay(debt)
                if (payment === "unreachable") return
                if (payment === "paid") {
                    await this.update((record) =>
                        ({...record, debts: (record.debts ?? []).filter((other) => other.token !== debt.token)}))
                }
            }
        } catch (error) {
            if (!(error instanceof SessionError || error instanceof StoreError)) throw error
        } finally {
            this.isPaying = false
        }
    }

    private async pay(debt: Debt): Promise<"paid" | "refused" | "unreachable"> {
        for (let attempt = 0; attempt < 2; attempt++) {
            const url = this.settings.server + "/v1/logout"
            const fields: Record<string, string> = {"Content-Type": "application/json"}
            if (debt.key_thumbprint) {
                const key = await this.settings.keys.key()
                // Without its key the session cannot be ended from here. It ends by itself.
                if (key?.thumbprint !== debt.key_thumbprint) return "paid"
                fields["DPoP"] = await proof(key, "POST", url, this.time.now(), this.nonce)
            }
            const body = JSON.stringify({refresh_token: debt.token})
            const answer = await this.exchange({method: "POST", url, fields, body}, 20)
            if (!answer) return "unreachable"
            if (answer.status >= 200 && answer.status < 300) return "paid"
            const verdict = verdictOf(answer, false)
            if (verdict.kind === "sign_again") continue
            if (verdict.kind === "unreachable") return "unreachable"
            const isUnknown = verdict.kind === "refused" && verdict.reason === "invalid_token"
            return verdict.kind === "ended" || isUnknown ? "paid" : "refused"
        }
        return "refused"
    }

    // The store

    /** Loads the record, and publishes the state that follows from it. */
    private async load(): Promise<Loaded | null> {
        let stored: Stored | null
        try {
            stored = await this.settings.store.load()
        } catch (error) {
            // A store that cannot tell is no missing session (1). What was read before is still shown.
            if (this.current.state === "starting") {
                const isLocked = error instanceof StoreError && error.kind === "locked"
                this.current = {state: isLocked ? "locked" : "store-failed"}
            }
            throw new SessionError("locked")
        }
        let loaded: Loaded | null
        try {
            loaded = stored && {version: stored.version, record: parseRecord(stored.text)}
        } catch (error) {
            this.current = {state: "store-failed"}
            throw error
        }
        if (loaded?.record.clock_offset !== undefined) this.time.recall(loaded.record.clock_offset)
        this.current = this.stateOf(loaded?.record)
        return loaded
    }

    private stateOf(record: SessionRecord | undefined): State {
        if (!record || !hasSession(record)) return {state: "signed-out"}
        if (record.ended) return {state: "ended", reason: record.ended.reason}
        return {state: this.isDemanded ? "presence-required" : "signed-in", user: record.user?.username ?? ""}
    }

    /** Changes the stored record, as often as another process is first. */
    private async update(change: (record: SessionRecord) => SessionRecord | null): Promise<void> {
        for (let round = 0; round < 16; round++) {
            const loaded = await this.load()
            const changed = loaded && change(loaded.record)
            if (!loaded || !changed) return
            if (await this.settings.store.replace(loaded.version, JSON.stringify(changed))) {
                await this.load()
                return
            }
        }
        throw new SessionError("other", "the record changes all the time")
    }

    /** The stored record; written, if there is none. One that cannot be read is set aside, and kept (19). */
    private async prepare(): Promise<Loaded> {
        for (let round = 0; round < 16; round++) {
            try {
                const loaded = await this.load()
                if (loaded) return loaded
            } catch (error) {
                if (error instanceof SessionError) throw error
                await this.settings.store.setAside()
            }
            const record: SessionRecord = {schema: 1, device_id: randomText(16), retry_secret: randomText(32)}
            await this.settings.store.replace(null, JSON.stringify(record))
        }
        throw new SessionError("other", "the record changes all the time")
    }

    // The wire

    /** The proof of the key of a session (14, 15); gone: the key certainly does not exist; failed: it cannot be asked. */
    private async proofFields(record: SessionRecord, path: string): Promise<Record<string, string> | "gone" | "failed"> {
        if (!isBound(record)) return {}
        try {
            const key = await this.settings.keys.key()
            if (key?.thumbprint !== record.key_thumbprint || !key) return "gone"
            return {DPoP: await proof(key, "POST", this.settings.server + path, this.time.now(), this.nonce)}
        } catch {
            return "failed"
        }
    }

    /** Sends a request, and notes what its answer says of time and nonces; null: no answer. */
    private async exchange(request: Request, limit: number): Promise<Answer | null> {
        const sent = this.settings.clock.uptime()
        let answer: Answer
        try {
            answer = await this.settings.transport(request, limit)
        } catch {
            return null
        }
        // The process may have stood still in between: what comes late is dropped (3).
        if (this.settings.clock.uptime() - sent > limit) return null
        const time = serverTime(answer)
        if (time !== null) this.time.note(time)
        this.nonce = answer.field("DPoP-Nonce") ?? this.nonce
        return answer
    }

    private error(verdict: Verdict): SessionError {
        switch (verdict.kind) {
            case "suspended": return new SessionError("suspended", verdict.reason)
            case "refused": return new SessionError("refused", verdict.reason, verdict.detail)
            case "presence_required": return new SessionError("presence-required")
            case "ended": return new SessionError("ended", verdict.reason)
            default: return new SessionError("unreachable")
        }
    }
}
