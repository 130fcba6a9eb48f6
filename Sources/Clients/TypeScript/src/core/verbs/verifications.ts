// The proof of a mailbox: the request, the code, and the mail once more. Each call is sent until an answer comes, three times at
// most, with one `Idempotency-Key`, so that a lost answer costs no try of the user and no second mail.

import {AccountCalls} from "./account.js"
import {utf8} from "../bytes.js"
import {refused, SojournError, sojournError, unreachable} from "../errors.js"
import {HTTPAnswer, HTTPRequest} from "../platform.js"
import {SessionRecord, StoredVerification} from "../record.js"
import {idempotencyKey, randomText} from "../signing.js"
import {integer, text} from "../verdict.js"

/** A new account, a login by a code, or a new password in place of a forgotten one. */
export type Purpose = "sign_up" | "sign_in" | "reset"

/** The proof of a mailbox that is under way. It is stored beside the session, and survives a new start of the app. */
export interface Verification {
    readonly id: string
    readonly purpose: Purpose
    /** The mailbox, as the app has given it. */
    readonly email: string
    /** How many digits the code has. */
    readonly codeLength: number
    /** In Unix seconds of the server. */
    readonly expiresAt: number
    /** From when another mail can be sent. */
    readonly resendAfter: number
    /** Whether the server has taken the code, so that only the last call of the purpose is left. */
    readonly isProven: boolean
    /** Shows the server the code of the mail. `signIn({code})` does it by itself. */
    confirm(code: string): Promise<Verification>
    /** Has the mail sent once more, with the same code. Earlier than `resendAfter` nothing is sent. */
    resend(): Promise<Verification>
    /** Gives the proof up on this device: a later call for the same mailbox is another one. */
    cancel(): Promise<void>
}

/** How long the server recognizes the key of a request without an answer, in seconds. */
const keyAge = 600

/** A stored proof with an answer. */
export type Answered = StoredVerification & {verification_id: string; verification_token: string}

const isAnswered = (stored: StoredVerification | undefined): stored is Answered =>
    !!(text(stored?.verification_id) && text(stored?.verification_token))

export const noVerification = (): SojournError => refused("no_verification_pending")

export abstract class Verifications extends AccountCalls {
    /** The proof of that purpose that is under way; null: there is none, or no answer to its request has come. */
    async verification(purpose: Purpose): Promise<Verification | null> {
        const stored = found((await this.load())?.record, purpose)
        return isAnswered(stored) ? this.verificationOf(stored) : null
    }

    /** Asks for a proof. A request for the same mailbox is the same request until the code has expired, or was shown. */
    protected async ask(purpose: Purpose, email: string): Promise<Verification> {
        const deviceID = (await this.prepare()).record.device_id
        const {now} = this
        const fresh: StoredVerification = {purpose, email, key: randomText(this.platform, 16), asked_at: now}
        let asked = fresh
        await this.change((record) => {
            const known = found(record, purpose)
            const isGood = known?.email === email && !known.proven && now < (known.expires_at ?? known.asked_at + keyAge)
            asked = isGood ? known : fresh
            return isGood ? null : keeping(record, fresh)
        })
        const {clientID, language} = this.configuration
        const request = this.request("POST", "/v1/verifications", {
            purpose, email, client_id: clientID, device_id: deviceID, language,
        })
        request.fields["Idempotency-Key"] = asked.key
        return await this.received(await this.verificationAnswer(request, asked), asked)
    }

    private verificationOf(stored: Answered): Verification {
        return {
            id: stored.verification_id, purpose: stored.purpose as Purpose, email: stored.email,
            codeLength: stored.code_length ?? 8, expiresAt: stored.expires_at ?? 0, resendAfter: stored.resend_at ?? 0,
            isProven: !!stored.proven,
            confirm: (code) => this.confirmVerification(stored, code),
            resend: () => this.resendVerification(stored),
            cancel: () => this.forgetVerification(stored.purpose, stored.verification_id).catch((error) => {
                throw sojournError(error)
            }),
        }
    }

    private async confirmVerification(of: Answered, code: string): Promise<Verification> {
        const stored = await this.pending(of.purpose as Purpose, of.verification_id)
        if (stored.proven) return this.verificationOf(stored)
        const path = `/v1/verifications/${encodeURIComponent(stored.verification_id)}/code`
        await this.verificationAnswer(await this.derived(stored, path, "code:" + code, {code}), stored)
        return this.verificationOf(await this.noteProof(stored))
    }

    private async resendVerification(of: Answered): Promise<Verification> {
        const stored = await this.pending(of.purpose as Purpose, of.verification_id)
        const path = `/v1/verifications/${encodeURIComponent(stored.verification_id)}/resend`
        // A mail that may be sent again is another request.
        const request = await this.derived(stored, path, `resend:${stored.resend_at ?? 0}`)
        return await this.received(await this.verificationAnswer(request, stored), stored)
    }

    private async derived(stored: Answered, path: string, name: string, members?: object): Promise<HTTPRequest> {
        const request = this.request("POST", path, members)
        request.fields["Authorization"] = "Bearer " + stored.verification_token
        request.fields["Idempotency-Key"] = await idempotencyKey(this.platform, utf8(stored.key), "call:" + name)
        return request
    }

    /** Stores that the server has taken the code of a proof. */
    protected async noteProof(stored: Answered): Promise<Answered> {
        const proven = {...stored, proven: true}
        await this.replaceVerification(stored, proven)
        return proven
    }

    /** The first stored proof of these purposes with a code that was shown. */
    protected async proven(...purposes: Purpose[]): Promise<Answered> {
        const record = (await this.load())?.record
        for (const purpose of purposes) {
            const stored = found(record, purpose)
            if (isAnswered(stored) && stored.proven) return stored
        }
        throw noVerification()
    }

    /** The stored proof of that purpose to which an answer has come. */
    protected async pending(purpose: Purpose, id?: string): Promise<Answered> {
        const stored = found((await this.load())?.record, purpose)
        if (!isAnswered(stored) || (id !== undefined && stored.verification_id !== id)) throw noVerification()
        return stored
    }

    /** Removes a proof, because it has done its work, or the server says that it is over. */
    protected async forgetVerification(purpose: string, id: string): Promise<void> {
        await this.update((record) => {
            if (found(record, purpose)?.verification_id !== id) return null
            return {...record, verifications: (record.verifications ?? []).filter((other) => other.purpose !== purpose)}
        })
    }

    /** Forgets the proof if the server says that it is over. If that fails, the next request finds out. */
    protected async noteEnd(error: unknown, stored: StoredVerification): Promise<void> {
        const isOver = error instanceof SojournError && error.refusal?.code === "verification_over"
        if (isOver && stored.verification_id) {
            await this.forgetVerification(stored.purpose, stored.verification_id).catch(() => null)
        }
    }

    private async received(answer: HTTPAnswer, asked: StoredVerification): Promise<Verification> {
        const body = this.membersOf(answer, "verification_id")
        const id = text(body["verification_id"])
        const token = text(body["verification_token"]) ?? asked.verification_token
        const expiresAt = integer(body["expires_at"])
        if (!id || !token || expiresAt === undefined || (asked.verification_id ?? id) !== id) {
            throw unreachable("not an answer of the server", answer.status)
        }
        const answered: Answered = {
            ...asked, verification_id: id, verification_token: token, code_length: integer(body["code_length"]) ?? 8,
            expires_at: expiresAt, resend_at: this.now + (integer(body["resend_after"]) ?? 0),
        }
        await this.replaceVerification(asked, answered)
        return this.verificationOf(answered)
    }

    /** Stores what has become of a proof, unless another one has taken its place meanwhile. */
    private async replaceVerification(old: StoredVerification, next: StoredVerification): Promise<void> {
        await this.change((record) => (found(record, old.purpose)?.key === old.key ? keeping(record, next) : null))
    }

    private async verificationAnswer(request: HTTPRequest, stored: StoredVerification): Promise<HTTPAnswer> {
        try {
            return await this.insist(() => this.plainAnswer(request))
        } catch (error) {
            await this.noteEnd(error, stored)
            throw error
        }
    }
}

const found = (record: SessionRecord | undefined, purpose: string): StoredVerification | undefined =>
    record?.verifications?.find((stored) => stored?.purpose === purpose)

const keeping = (record: SessionRecord, stored: StoredVerification): SessionRecord => ({
    ...record, verifications: [...(record.verifications ?? []).filter((other) => other.purpose !== stored.purpose), stored],
})
