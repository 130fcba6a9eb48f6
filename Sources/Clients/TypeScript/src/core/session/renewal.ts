// A renewal: sign, load, send, swap. The numbers in comments are those of the rules in "How an app stays signed in".

import {form} from "../bytes.js"
import {SojournError, sojournError} from "../errors.js"
import {Exchange} from "./exchange.js"
import {KeyError, StoreError} from "../platform.js"
import {hasSession, isBound, isRenewable, Loaded, SessionRecord, take, TokenAnswer} from "../record.js"
import {assertion, idempotencyKey, secretOf} from "../signing.js"
import {retryAfterWithin} from "../time.js"
import {errorOf, isSuccess, members, text, Verdict, verdictOf} from "../verdict.js"

const tokenPath = "/oauth/token"
/** The longest time between loading a record and sending its token. */
const loadedAgeMax = 1

export type Outcome =
    | {kind: "renewed" | "overtaken"; loaded: Loaded}
    | {kind: "notSignedIn"}
    | {kind: "ended"; reason: string}
    /** The record is kept as it is; the verdict says why it is not renewed. */
    | {kind: "kept"; verdict: Verdict}
    /** The store or the keys failed. The record is kept. */
    | {kind: "failed"; error: SojournError}

/** The signatures of one request. */
interface Signatures {
    fields: Record<string, string>
    assertion?: string
    /** Whether the key of the session certainly does not exist. A key with another thumbprint is not the session's. */
    isKeyGone: boolean
}

/** What the server's answer needs in order to be stored. */
interface Presented {
    verdict: Verdict
    sentUptime: number
}

const unreachable = (detail: string): Verdict => ({kind: "unreachable", cause: {detail}})

export class Renewal extends Exchange {
    /** One renewal for each version of the record (11). */
    private readonly flights = new Map<string, Promise<Outcome>>()

    protected get isRenewing(): boolean {
        return this.flights.size > 0
    }

    protected get flightsUnderWay(): Promise<unknown> {
        return Promise.all(this.flights.values())
    }

    /** Called when a renewal has brought a session that owes the server a sign-out. */
    protected payDebtsLater(): void {}

    /** The renewal of that version; begun, if there is none. Callers that give up do not end it. */
    protected flight(seen: Loaded): Promise<Outcome> {
        const running = this.flights.get(seen.version)
        if (running) return running
        const flight = this.renew(seen)
            .catch((error: unknown): Outcome => ({kind: "failed", error: sojournError(error)}))
            .then((outcome) => {
                this.flights.delete(seen.version)
                this.note(outcome)
                return outcome
            })
        this.flights.set(seen.version, flight)
        return flight
    }

    /** Draws the conclusions from a renewal. */
    private note(outcome: Outcome): void {
        this.log(`renewal: ${outcome.kind === "kept" ? outcome.verdict.kind : outcome.kind}`)
        switch (outcome.kind) {
            case "renewed":
                this.reachability = {kind: "current"}
                this.heldError = null
                if (this.presence?.isOfAPI === false) this.presence = null
                this.retries.noteAnswer()
                if (outcome.loaded.record.debts?.length) this.payDebtsLater()
                break
            case "kept": {
                const {verdict} = outcome
                this.heldError = errorOf(verdict)
                if (verdict.kind === "presenceRequired") this.presence = {requirement: verdict.requirement, isOfAPI: false}
                else if (verdict.kind === "suspended") this.reachability = {kind: "suspended", suspension: verdict.reason}
                else if (this.reachability.kind !== "unreachable") this.reachability = {kind: "unreachable", since: this.now}
                this.retries.noteFailure(verdict.kind === "unreachable" ? verdict.cause.retryAfter : undefined)
                break
            }
            case "failed":
                this.heldError = outcome.error
                this.retries.noteFailure()
                break
            case "overtaken": case "notSignedIn": case "ended": break
        }
        this.publishState()
    }

    private async renew(seen: Loaded): Promise<Outcome> {
        let isSignedAgain = false
        let isReloaded = false
        for (let attempt = 1; ; ) {
            let verdict: Verdict
            let record: SessionRecord
            let sentUptime: number
            try {
                // What can wait comes before the load: nothing stands between loading and sending (3).
                const signatures = await this.signatures(seen.record)
                const key = await this.retryKey(seen.record)
                const sentAt = this.now
                const loadedAt = this.uptime
                const loaded = await this.loadStored()
                if (!loaded || !hasSession(loaded.record)) return {kind: "notSignedIn"}
                if (loaded.record.ended) return {kind: "ended", reason: loaded.record.ended.reason}
                if (loaded.version !== seen.version) return {kind: "overtaken", loaded}
                if (this.uptime - loadedAt > loadedAgeMax && !isReloaded) {
                    isReloaded = true
                    continue
                }
                record = loaded.record
                const presented = await this.present(record, sentAt, key, signatures)
                verdict = presented.verdict
                sentUptime = presented.sentUptime
            } catch (error) {
                if (error instanceof StoreError || error instanceof KeyError) return {kind: "failed", error: sojournError(error)}
                throw error
            }
            switch (verdict.kind) {
                case "renewed": return await this.commit(seen.version, record, take(record, verdict.answer), sentUptime)
                case "ended": {
                    const ended = {reason: verdict.reason, at: this.now}
                    return await this.commit(seen.version, record, {...record, ended}, sentUptime)
                }
                case "signAgain":
                    if (isSignedAgain) return {kind: "kept", verdict}
                    isSignedAgain = true
                    continue
                case "unreachable": {
                    const {retryAfter} = verdict.cause
                    if (attempt >= 3 || (retryAfter ?? 0) > retryAfterWithin) return {kind: "kept", verdict}
                    await this.pauseWithin(attempt, retryAfter)
                    attempt += 1
                    continue
                }
                default: return {kind: "kept", verdict}
            }
        }
    }

    /** Signs a renewal (14, 15). The keys can make it wait. */
    private async signatures(record: SessionRecord): Promise<Signatures> {
        const isByKey = !record.refresh_token
        if (!isRenewable(record) || !(isBound(record) || isByKey)) return {fields: {}, isKeyGone: false}
        const key = await this.deviceKey(record.key_thumbprint)
        if (!key) return {fields: {}, isKeyGone: true}
        const signatures: Signatures = {fields: {}, isKeyGone: false}
        if (isBound(record)) signatures.fields["DPoP"] = await this.proof(key, "POST", this.server + tokenPath)
        const user = text(record.user?.["user_id"])
        if (isByKey && record.session_id && user) {
            signatures.assertion = await assertion(this.platform, key, record.session_id, user, this.server, this.now)
        }
        return signatures
    }

    /** The `Idempotency-Key` that each attempt has, in each process and after each start (4). */
    private async retryKey(record: SessionRecord): Promise<string> {
        const token = record.refresh_token ?? ""
        const key = await idempotencyKey(this.platform, secretOf(record.retry_secret), token)
        return key
    }

    private async present(
        record: SessionRecord, sentAt: number, key: string, signatures: Signatures
    ): Promise<Presented> {
        const sentUptime = this.uptime
        if (!isRenewable(record)) return {verdict: await this.confirm(record), sentUptime}
        const {configuration} = this
        const token = record.refresh_token
        if (!token && !signatures.assertion) {
            const verdict: Verdict = signatures.isKeyGone ? {kind: "ended", reason: "key_lost"} : unreachable("no way to renew")
            return {verdict, sentUptime}
        }
        const credential = token
            ? {grant_type: "refresh_token", refresh_token: token, id_token: "false"}
            : {grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: signatures.assertion}
        const body = form({
            ...credential, client_id: configuration.clientID, device_id: record.device_id,
            device_platform: configuration.platform, device_app_version: configuration.appVersion,
            sent_at: String(sentAt), resource: configuration.resources,
        })
        const request = this.post(tokenPath, body)
        Object.assign(request.fields, signatures.fields, token ? {"Idempotency-Key": key} : {})
        const answer = await this.exchange(request, this.limit(record))
        return {verdict: answer ? verdictOf(answer, signatures.isKeyGone) : unreachable("no answer"), sentUptime}
    }

    /** How long one attempt may take: requests of two processes have to fit into one rotation interval. */
    private limit(record: SessionRecord): number {
        const interval = record.rotation_interval ?? 0
        return interval > 0 ? Math.min(this.patience, Math.max(interval / 4, 0.5)) : this.patience
    }

    /** Asks the server whether a session that nothing renews goes on (`stay_logged_in` of the client). */
    private async confirm(record: SessionRecord): Promise<Verdict> {
        const key = isBound(record) ? await this.deviceKey(record.key_thumbprint) : null
        const isOver = this.time.isAnchored && this.now >= (record.expires_at ?? 0)
        if (isBound(record) && !key) return {kind: "ended", reason: isOver ? "max_lifetime_reached" : "key_lost"}
        const request = this.request("GET", "/v1/me")
        const token = record.access_token ?? ""
        request.fields["Authorization"] = `${record.token_type ?? "Bearer"} ${token}`
        if (key) request.fields["DPoP"] = await this.proof(key, "GET", request.url, token)
        const answer = await this.exchange(request, this.limit(record))
        if (!answer) return unreachable("no answer")
        if (isSuccess(answer)) {
            if (!members(answer.text)) return unreachable("not an answer of the server")
            // The answer brings no tokens: those of the record stay.
            return {kind: "renewed", answer: {...record} as unknown as TokenAnswer}
        }
        const verdict = verdictOf(answer)
        const isUnknown = verdict.kind === "refused" && verdict.refusal.status === 401 && verdict.refusal.code === "invalid_token"
        return isUnknown ? {kind: "ended", reason: "max_lifetime_reached"} : verdict
    }

    /** Stores what came of a renewal, if the record that was presented is still stored (2, 5, 6). */
    private async commit(
        version: string, presented: SessionRecord, record: SessionRecord, sentUptime: number
    ): Promise<Outcome> {
        const offset = this.time.recordOffset
        const changed = offset === undefined ? record : {...record, clock_offset: offset}
        try {
            // A process that stood still after the answer came could store what the server has left behind meanwhile.
            const isLate = this.uptime - sentUptime > this.limit(presented)
            const isStored = !isLate && await this.replace(version, changed)
            const loaded = await this.loadStored()
            if (!loaded || !hasSession(loaded.record)) return {kind: "notSignedIn"}
            if (loaded.record.ended) return {kind: "ended", reason: loaded.record.ended.reason}
            return {kind: isStored ? "renewed" : "overtaken", loaded}
        } catch (error) {
            return {kind: "failed", error: sojournError(error)}
        }
    }
}
