// New accounts, logins by a mailed code, forgotten passwords, another mailbox, and the end of an account.

import {utf8} from "../bytes.js"
import {refused, SojournError} from "../errors.js"
import {hasSession} from "../record.js"
import {LoginOptions} from "./signing-in.js"
import {idempotencyKey} from "../signing.js"
import {account, Account, AuthenticationMode} from "../state.js"
import {tokenOf} from "../session/tokens.js"
import {Answered, Verification, Verifications} from "./verifications.js"
import {integer, members} from "../verdict.js"

/** Another mailbox of the user, before its proof. */
export interface EmailChange {
    email: string
    /** How many digits the code has. */
    codeLength: number
    /** In Unix seconds of the server. */
    expiresAt: number
    /** From when another call sends the mail once more. */
    resendAfter: number
}

export type SignUpSecret = {password: string} | {passkey: true}

const codeOf = (error: unknown): string | undefined => (error instanceof SojournError ? error.refusal?.code : undefined)

export abstract class SigningUp extends Verifications {
    /**
     * Begins a sign-up: the server sends a code to the mailbox. A mailbox that has an account gets a mail that says so; the answer is
     * the same. Calling again for the same mailbox goes on with the code that was sent.
     */
    async signUp(email: string): Promise<Verification> {
        return await this.ask("sign_up", email)
    }

    /**
     * Makes the account of the mailbox that `confirm` has proven, and signs the user in. A signed-in anonymous user becomes the user of
     * the account, and keeps ID and session; with a password only.
     */
    async finishSignUp(
        by: SignUpSecret & {username?: string; mode?: AuthenticationMode}
    ): Promise<Account> {
        const proof = await this.proven("sign_up", "sign_in")
        try {
            const token = {verification_token: proof.verification_token, username: by.username}
            if ("passkey" in by) return await this.signUpByPasskey(proof, token, by.mode ?? "NO")
            const body = {...token, password: by.password}
            const record = (await this.current().catch(() => null))?.record
            const isNamed = !record || !hasSession(record) || record.ended || !account(record.user).isAnonymous
            if (isNamed) return await this.logIn({members: body, isSignUp: true}, {mode: by.mode ?? "NO"})
            const call = {method: "POST", path: "/v1/sign-up", members: body, isForItself: true}
            const user = await this.storeProfile(await this.keyed(call), true)
            await this.forgetVerification(proof.purpose, proof.verification_id).catch(() => null)
            return user
        } catch (error) {
            await this.noteEnd(error, proof)
            throw error
        }
    }

    private async signUpByPasskey(proof: Answered, token: object, mode: AuthenticationMode): Promise<Account> {
        const body = {verification_token: proof.verification_token}
        const request = this.request("POST", "/v1/sign-up/passkey-options", body)
        const passkey = await this.registration(() => this.insist(() => this.plainAnswer(request)))
        return await this.logIn({members: {...token, passkey}, isSignUp: true}, {mode})
    }

    /** Ends a login by a code. A mailbox without an account is `account_missing`; `finishSignUp` can make the account then. */
    protected async signInByMailedCode(code: string, options: LoginOptions): Promise<Account> {
        const stored = await this.pending("sign_in")
        try {
            return await this.logIn({members: {verification_token: stored.verification_token, code}}, options)
        } catch (error) {
            if (codeOf(error) === "account_missing") await this.noteProof(stored)
            await this.noteEnd(error, stored)
            throw error
        }
    }

    /** Begins the reset of a forgotten password. After `confirm` the app calls `resetPassword`. */
    async requestPasswordReset(email: string): Promise<Verification> {
        return await this.ask("reset", email)
    }

    /** Sets the password of the user of the proven mailbox. All sessions of the user end, and the user logs in anew. */
    async resetPassword(to: string): Promise<void> {
        const proof = await this.proven("reset")
        const request = this.request("POST", "/v1/password-reset", {
            verification_token: proof.verification_token, new_password: to,
        })
        const secret = utf8(proof.verification_token)
        request.fields["Idempotency-Key"] = await idempotencyKey(this.platform, secret, "call:" + request.body)
        let wasLost = false
        try {
            await this.insist(() => this.plainAnswer(request), () => (wasLost = true))
        } catch (error) {
            // The proof was good a moment ago: a try without an answer has used it.
            const isSpent = error instanceof SojournError && error.refusal?.member === "reset_token"
            if (!isSpent) throw error
            if (!wasLost) {
                await this.forgetVerification("reset", proof.verification_id).catch(() => null)
                throw refused("verification_over", 400)
            }
        }
        await this.forgetVerification("reset", proof.verification_id).catch(() => null)
        // The session of this device has ended if it was the same user's: a renewal finds out.
        const record = this.cache?.loaded?.record
        if (record && hasSession(record)) this.reject(tokenOf(record))
    }

    // Another mailbox

    /**
     * Begins the change to another mailbox: the server sends a code to it, and tells the old one. The user must have proved to be
     * present in the last five minutes, or `password` does: otherwise the error is `presenceRequired`.
     */
    async changeEmail(email: string, password?: string): Promise<EmailChange> {
        const body = {email, password, language: this.configuration.language}
        const call = {method: "POST", path: "/v1/me/email", members: body, isForItself: true, isNewEachTime: true}
        const answer = this.membersOf(await this.keyed(call), "expires_at")
        return {
            email, codeLength: integer(answer["code_length"]) ?? 8, expiresAt: integer(answer["expires_at"]) ?? 0,
            resendAfter: this.now + (integer(answer["resend_after"]) ?? 0),
        }
    }

    /** Ends the change by the code of the mail. The old mailbox can undo the change for seven days. */
    async confirmEmail(code: string): Promise<Account> {
        const known = account((await this.current())?.record.user).email
        const call = {method: "POST", path: "/v1/me/email/confirm", members: {code}, isForItself: true}
        try {
            return await this.storeProfile(await this.keyed(call))
        } catch (error) {
            // The answer to an earlier try may have been lost: the profile says whether it has succeeded.
            const user = codeOf(error) === "verification_over" ? await this.refreshProfile().catch(() => null) : null
            if (!user || user.email === known) throw error
            return user
        }
    }

    // The end

    /**
     * Asks the server to delete the account, and signs the user out on this device. The user has some days for `cancelDeletion`.
     * Returns when the account will be deleted; null: it is deleted, or the answer with the time was lost.
     */
    async deleteAccount(password?: string): Promise<number | null> {
        const body = {password, language: this.configuration.language}
        const call = {method: "DELETE", path: "/v1/me", members: body, isForItself: true}
        let wasLost = false
        let time: number | undefined
        try {
            const answer = await this.insist(() => this.call(call), () => (wasLost = true))
            time = integer(members(answer.text)?.["delete_at"])
        } catch (error) {
            // The session has ended meanwhile, or logins are off: that was the try without an answer.
            const isOver = error instanceof SojournError && (error.kind === "suspended" ||
                (error.kind === "ended" && ["user_deleted", "revoked_by_user"].includes(error.reason ?? "")))
            if (!wasLost || !isOver) throw error
        }
        await this.leave(false)
        return time ?? null
    }

    /** Signs the user of an account in that waits for its deletion, and keeps the account. */
    async cancelDeletion(
        by: ({username: string; password: string} | {passkey: true}) & {mode?: AuthenticationMode}
    ): Promise<Account> {
        const options = {mode: by.mode ?? "NO", cancelsDeletion: true}
        if ("passkey" in by) return await this.signInByPasskey(options)
        return await this.logIn(this.passwordOf(by.username, by.password), options)
    }
}
