// Calls with the access token.

import {SojournError, unreachable} from "../errors.js"
import {HTTPAnswer, HTTPRequest} from "../platform.js"
import {hasSession, isUsable} from "../record.js"
import {SigningOut} from "./signing-out.js"
import {idempotencyKey, randomText, secretOf} from "../signing.js"
import {account, Account} from "../state.js"
import {AccessToken, tokenOf} from "./tokens.js"
import {isSuccess, members, serverTime, text, Verdict, verdictOf} from "../verdict.js"

/** A call about the account. */
export interface AccountCall {
    method: string
    path: string
    members?: object
    /** Whether a required presence concerns this call alone, so that the session goes on without it. */
    isForItself?: boolean
    /** Whether the call shows the presence that a renewal waits for. */
    answersDemand?: boolean
    /** Whether each call is another request, although it says the same: an earlier answer is not meant. */
    isNewEachTime?: boolean
}

export class Calls extends SigningOut {
    /** Makes a call. If the server refuses the access token, it is renewed once; what the renewal finds counts. */
    protected async call(call: AccountCall, fields: Record<string, string> = {}): Promise<HTTPAnswer> {
        const request = this.request(call.method, call.path, call.members)
        Object.assign(request.fields, fields)
        const answer = await this.authorizedAnswer(request, call.answersDemand ? await this.tokenDuringDemand() : undefined)
        const error = this.errorOf(answer)
        if (!error) return answer
        if (error.requirement && !call.isForItself) this.noteDemand(error.requirement)
        throw error
    }

    /** The stored token, if a demand for the user holds back the renewal that would bring another one. */
    private async tokenDuringDemand(): Promise<AccessToken | undefined> {
        try {
            await this.accessToken()
            return undefined
        } catch (error) {
            const record = (await this.current())?.record
            const isDemand = error instanceof SojournError && error.kind === "presenceRequired"
            if (!isDemand || !record || !this.isOpen(record) || !isUsable(record, this.now)) throw error
            return tokenOf(record)
        }
    }

    /** Sends a request. The answer is a refusal as well. `opening`: the stored token, for a call that nothing renews. */
    protected async authorizedAnswer(plain: HTTPRequest, opening?: AccessToken): Promise<HTTPAnswer> {
        let token = opening ?? (await this.accessToken())
        let isRenewed = !!opening
        let isSignedAgain = false
        for (;;) {
            const authorization = await this.authorization(plain.method, plain.url, token)
            const answer = await this.exchange({...plain, fields: {...plain.fields, ...authorization}})
            if (!answer) throw unreachable("no answer")
            if (isSuccess(answer)) {
                if (serverTime(answer) !== null) this.noteReached()
                return answer
            }
            const verdict = verdictOf(answer)
            this.noteWord(verdict)
            if (verdict.kind === "signAgain" && !isSignedAgain) {
                isSignedAgain = true
            } else if (!isRenewed && answer.status === 401 && isAboutToken(verdict)) {
                isRenewed = true
                // The server itself has refused the token: this is worth a renewal, however recent the last one is.
                this.rejections = []
                token = await this.accessToken({after: token})
            } else {
                return answer
            }
        }
    }

    /** Notes what the server has just said of the session. During a wait after a failed renewal it is the newer word. */
    private noteWord(verdict: Verdict): void {
        if (verdict.kind === "unreachable") return
        this.noteReached()
        if (verdict.kind !== "suspended") return
        this.reachability = {kind: "suspended", suspension: verdict.reason}
        if (this.heldError) this.heldError = new SojournError("suspended", {reason: verdict.reason})
        this.publishState()
    }

    /**
     * Makes a call until an answer comes, with an `Idempotency-Key` that is the same for the same call in this session, also after a
     * new start of the app.
     */
    protected async keyed(call: AccountCall): Promise<HTTPAnswer> {
        const record = (await this.current())?.record
        if (!record || !hasSession(record)) throw new SojournError("notSignedIn")
        const salt = call.isNewEachTime ? randomText(this.platform, 16) : ""
        const said = `call:${call.method} ${call.path} ${salt}${call.members ? JSON.stringify(call.members) : ""}`
        const key = await idempotencyKey(this.platform, secretOf(record.retry_secret), said)
        return await this.insist(() => this.call(call, {"Idempotency-Key": key}))
    }

    /** Stores the profile of an answer. `isRenewing`: the next call renews the access token, which says something else of the user. */
    protected async storeProfile(answer: HTTPAnswer, isRenewing = false): Promise<Account> {
        const user = this.membersOf(answer, "user_id")
        const due = this.now - 1
        await this.change((record) => {
            if (!hasSession(record) || record.user?.["user_id"] !== user["user_id"]) return null
            const isSame = JSON.stringify(record.user) === JSON.stringify(user)
            if (isSame && !isRenewing) return null
            return {...record, user, ...(isRenewing ? {refresh_after: Math.min(record.refresh_after ?? due, due)} : {})}
        })
        return account(user)
    }

    /** The items of a list. */
    protected itemsOf(answer: HTTPAnswer): Record<string, unknown>[] {
        const items = this.membersOf(answer, "items")["items"]
        if (!Array.isArray(items)) throw unreachable("not an answer of the server", answer.status)
        return items.filter((item): item is Record<string, unknown> => !!members(JSON.stringify(item ?? null)))
    }

    protected textOf(answer: HTTPAnswer, name: string): string {
        const value = text(this.membersOf(answer, name)[name])
        if (!value) throw unreachable("not an answer of the server", answer.status)
        return value
    }
}

function isAboutToken(verdict: Verdict): boolean {
    if (verdict.kind === "ended" || verdict.kind === "suspended") return true
    return verdict.kind === "refused" && verdict.refusal.code === "invalid_token"
}
