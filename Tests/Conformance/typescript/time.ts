// The server's time (rule 8), and the waits after failures (rule 9).

import {Clock} from "./platform"

/** The server's time, as far as a device can tell it. It goes on by a clock that the user cannot set. */
export class ServerClock {
    private anchor: {server: number; uptime: number} | null = null
    private readonly start: {wall: number; uptime: number}
    private offset = 0

    constructor(private readonly clock: Clock) {
        this.start = {wall: clock.wall(), uptime: clock.uptime()}
    }

    /** Whether the server has told its time to this process. Before that, the time is a guess by the wall clock. */
    get isAnchored(): boolean {
        return this.anchor !== null
    }

    /** Unix seconds of the server. */
    now(): number {
        const from = this.anchor ?? {server: this.start.wall + this.offset, uptime: this.start.uptime}
        return Math.floor(from.server + this.clock.uptime() - from.uptime)
    }

    /** The offset from the wall clock in the record, which counts until the server answers. */
    recall(offset: number): void {
        this.offset = offset
    }

    /** The offset for the record; undefined before the first answer. */
    get recordOffset(): number | undefined {
        return this.isAnchored ? this.now() - Math.floor(this.clock.wall()) : undefined
    }

    note(server: number): void {
        this.anchor = {server, uptime: this.clock.uptime()}
    }
}

const withinRenewal = [0.5, 2]
const betweenRenewals = [5, 10, 30, 60]
const withoutTokenMax = 30
const beyondRetryAfter = [10, 20]

const asked = (retryAfter: number): number => retryAfter > 0 ? retryAfter + Math.random() : 0

/** The wait in seconds before the retry of that number (1 is the first) within one renewal. */
export const waitWithin = (attempt: number, retryAfter?: number): number =>
    retryAfter !== undefined
        ? asked(retryAfter)
        : Math.random() * (withinRenewal[Math.min(attempt, withinRenewal.length) - 1] ?? 2)

/** Holds all callers back after a renewal that got no answer. */
export class Retries {
    private failures = 0
    private heldUntil = 0
    private patientUntil = 0
    private isServersWord = false

    constructor(private readonly clock: Clock) {}

    /** Whether a caller waits; one with a token that works can wait for longer. */
    isHeld(hasToken: boolean): boolean {
        return (hasToken ? this.patientUntil : this.heldUntil) > this.clock.uptime()
    }

    noteFailure(retryAfter?: number): void {
        const longest = betweenRenewals[Math.min(this.failures, betweenRenewals.length - 1)] ?? 60
        const beyond = beyondRetryAfter[Math.min(this.failures, beyondRetryAfter.length - 1)] ?? 20
        this.failures += 1
        this.isServersWord = retryAfter !== undefined
        const now = this.clock.uptime()
        const part = Math.random()
        if (retryAfter !== undefined) {
            this.heldUntil = now + asked(retryAfter)
            this.patientUntil = this.heldUntil + part * beyond
        } else {
            this.heldUntil = now + part * Math.min(longest, withoutTokenMax)
            this.patientUntil = now + part * longest
        }
    }

    noteAnswer(): void {
        this.failures = this.heldUntil = this.patientUntil = 0
    }

    /** The network may be another one when the app comes to the foreground. What the server asked for holds. */
    noteStart(): void {
        if (!this.isServersWord) this.heldUntil = 0
        this.patientUntil = this.heldUntil
    }
}
