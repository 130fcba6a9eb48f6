// Starts and sign-outs, and the sessions of which the server has still to be told.

import {sojournError} from "../errors.js"
import {HTTPRequest, StoreError} from "../platform.js"
import {Debt, hasSession} from "../record.js"
import {SessionState} from "../state.js"
import {Tokens} from "./tokens.js"
import {isSuccess, members, verdictOf, wordOf} from "../verdict.js"

export class SigningOut extends Tokens {
    protected signOuts = 0
    private isPaying = false
    private payments: Promise<void> = Promise.resolve()
    private isWatching = false

    /**
     * Reads the store, and renews in the background, whether a renewal is due or not. To be called at each launch, and when the app
     * comes to the foreground. It never throws, and does not wait for the network.
     */
    async start(): Promise<SessionState> {
        this.watchStore()
        this.retries.noteStart()
        const loaded = await this.load().catch(() => null)
        const record = loaded?.record
        if (loaded && record && hasSession(record) && !record.ended) {
            const mayRenew = this.configuration.mayRenew !== false && this.environment.isInFront?.() !== false
            if (mayRenew && this.isOpen(record) && !this.retries.hold(false)) void this.flight(loaded)
        } else if (record?.debts?.length) {
            this.payDebtsLater()
        }
        return this.state
    }

    /** Reads the store, and sends nothing: the state without the server. */
    async restore(): Promise<SessionState> {
        this.watchStore()
        await this.load().catch(() => null)
        return this.state
    }

    /** Loads again when the store says that another tab or process has written. */
    private watchStore(): void {
        if (this.isWatching) return
        this.isWatching = true
        this.store.onChange?.(() => void this.load().catch(() => null))
    }

    /**
     * Signs the user out: at once, and offline too. The server is told as soon as it can be reached, now or after a later start (13).
     * Returns whether the sign-out is stored: if not, the state is `signedOut` all the same, and each later call tries to write again.
     */
    async signOut(): Promise<boolean> {
        return await this.leave(true)
    }

    /** Forgets this device: signs out, tells the server if it can be reached, and deletes the record and the key. */
    async forgetDevice(): Promise<void> {
        await this.leave(true)
        await this.payDebts()
        try {
            await this.removeRecord()
            this.isSigningOut = false
            await this.environment.keys.deleteKey()
        } catch (error) {
            throw sojournError(error)
        }
        this.publishState()
    }

    private async removeRecord(): Promise<void> {
        try {
            for (let round = 0; round < 16; round++) {
                const loaded = await this.loadStored()
                if (!loaded || await this.replace(loaded.version, null)) break
            }
            await this.loadStored()
        } catch (error) {
            if (!(error instanceof StoreError) || error.kind !== "corrupted") throw error
            await this.store.setAside()
        }
    }

    /** Removes everything of the user. `isOwing`: whether the server still has to be told. */
    protected async leave(isOwing: boolean): Promise<boolean> {
        this.signOuts += 1
        this.isSigningOut = true
        this.isOwing = isOwing
        this.publishState()
        try {
            await this.settleSignOut()
        } catch (error) {
            this.log(`the sign-out could not be stored: ${sojournError(error).kind}`)
            return false
        }
        this.payDebtsLater()
        return true
    }

    /** Waits until the server has been told of each sign-out and no renewal is under way, for so many seconds. */
    async settle(seconds: number): Promise<boolean> {
        let isOver = false
        const cancel = this.platform.after(seconds, () => (isOver = true))
        const timeUp = this.pause(seconds)
        try {
            for (let round = 0; !isOver; round++) {
                await Promise.race([timeUp, Promise.all([this.flightsUnderWay, this.payments])])
                if (isOver) break
                const isPaid = await this.isOwingNothing()
                if (isPaid && !this.isRenewing) return true
                // What could not be told is tried once more.
                if (!isPaid && round > 0) return false
                if (!isPaid) this.payDebtsLater()
            }
            return false
        } finally {
            cancel()
        }
    }

    private async isOwingNothing(): Promise<boolean> {
        try {
            return !(await this.load())?.record.debts?.length
        } catch {
            return false
        }
    }

    // Debts

    /** Tells the server of the sign-outs that it has not heard of. The caller does not wait. */
    protected override payDebtsLater(): void {
        const earlier = this.payments
        this.payments = this.payDebts().then(() => earlier)
    }

    protected async payDebts(): Promise<void> {
        if (this.isPaying) return
        this.isPaying = true
        try {
            const tried = new Set<string>()
            for (;;) {
                const debts = (await this.loadStored())?.record.debts ?? []
                const debt = debts.find((debt) => !tried.has(debt.token))
                if (!debt) return
                tried.add(debt.token)
                const isOver = debt.expires_at !== undefined && debt.expires_at < this.now
                const payment = isOver ? "paid" : await this.pay(debt)
                if (payment === "unreachable") return
                if (payment === "paid") await this.forgive(debt)
            }
        } catch (error) {
            this.log(`sign-outs are still to be told: ${sojournError(error).kind}`)
        } finally {
            this.isPaying = false
        }
    }

    private async forgive(debt: Debt): Promise<void> {
        await this.update((record) =>
            ({...record, debts: (record.debts ?? []).filter((other) => other.token !== debt.token)}))
    }

    private async pay(debt: Debt): Promise<"paid" | "refused" | "unreachable"> {
        for (let attempt = 0; attempt < 2; attempt++) {
            const request = this.logout(debt)
            if (debt.key_thumbprint) {
                const key = await this.deviceKey(debt.key_thumbprint)
                // Without its key the session cannot be ended from here. It ends by itself.
                if (!key) return "paid"
                const token = debt.kind === "refresh_token" ? undefined : debt.token
                request.fields["DPoP"] = await this.proof(key, "POST", request.url, token)
            }
            const answer = await this.exchange(request)
            if (!answer) return "unreachable"
            if (isSuccess(answer)) return "paid"
            const verdict = verdictOf(answer)
            if (verdict.kind === "signAgain") continue
            if (verdict.kind === "unreachable") return "unreachable"
            // The server knows the token no more.
            const isUnknown = wordOf(members(answer.text)) === "invalid_token"
            return verdict.kind === "ended" || isUnknown ? "paid" : "refused"
        }
        return "refused"
    }

    private logout(debt: Debt): HTTPRequest {
        if (debt.kind === "refresh_token") return this.request("POST", "/v1/logout", {refresh_token: debt.token})
        const request = this.request("POST", "/v1/logout")
        request.fields["Authorization"] = `${debt.kind} ${debt.token}`
        return request
    }
}
