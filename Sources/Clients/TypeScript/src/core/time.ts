// The server's time (rule 8), and the waits after failures (rule 9).

import {Clock} from "./platform.js"

/** An answer that took longer says too little about the server's time. */
const roundTripMax = 5

/** A clock that never runs ahead of the real time, if the platform has two. */
export const cautious = (clock: Clock): number => (clock.cautious ? clock.cautious() : clock.uptime())

/**
 * The server's time, as far as a device can tell it. It goes on by a clock that people cannot set; after a sleep it may be behind until
 * the next answer, which costs a request that is signed again.
 */
export class ServerClock {
    private anchor: {server: number; uptime: number} | null = null
    private readonly start: {wall: number; uptime: number}
    private offset = 0

    constructor(private readonly clock: Clock) {
        this.start = {wall: clock.wall(), uptime: cautious(clock)}
    }

    /** Whether the server has told its time to this process. Before that, the time is a guess by the wall clock. */
    get isAnchored(): boolean {
        return this.anchor !== null
    }

    /** Unix seconds of the server. */
    now(): number {
        const from = this.anchor ?? {server: this.start.wall + this.offset, uptime: this.start.uptime}
        return Math.floor(from.server + cautious(this.clock) - from.uptime)
    }

    /** The offset from the wall clock in the record, which counts until the server answers. */
    recall(offset: number): void {
        this.offset = offset
    }

    /** The offset for the record; undefined before the first answer. */
    get recordOffset(): number | undefined {
        return this.isAnchored ? this.now() - Math.floor(this.clock.wall()) : undefined
    }

    note(server: number, roundTrip: number): void {
        if (this.anchor && roundTrip > roundTripMax) return
        this.anchor = {server, uptime: cautious(this.clock)}
    }
}

const withinRenewal = [0.5, 2]
const betweenRenewals = [5, 10, 30, 60]
const withoutTokenMax = 30
const beyondRetryAfter = [10, 20]

/** The longest `Retry-After` for which one request waits. A longer one ends it, and holds the next one back. */
export const retryAfterWithin = 5

const asked = (retryAfter: number, part: number): number => (retryAfter > 0 ? retryAfter + part : 0)

/**
 * The wait in seconds before the retry of that number (1 is the first) within one renewal. `part` is random, from 0 to 1, so that
 * clients which an outage brought into step do not come back together.
 */
export const waitWithin = (attempt: number, retryAfter: number | undefined, part: number): number =>
    retryAfter !== undefined
        ? asked(retryAfter, part)
        : part * (withinRenewal[Math.min(attempt, withinRenewal.length) - 1] ?? 2)

/** Holds all callers back after a renewal that got no answer. */
export class Retries {
    private failures = 0
    private heldUntil = 0
    private patientUntil = 0
    private isServersWord = false

    constructor(private readonly clock: Clock, private readonly random: () => number) {}

    /** The seconds that a caller waits; 0: it may go on. One with a token that works waits for longer. */
    hold(hasToken: boolean): number {
        return Math.max(0, (hasToken ? this.patientUntil : this.heldUntil) - cautious(this.clock))
    }

    noteFailure(retryAfter?: number): void {
        const longest = betweenRenewals[Math.min(this.failures, betweenRenewals.length - 1)] ?? 60
        const beyond = beyondRetryAfter[Math.min(this.failures, beyondRetryAfter.length - 1)] ?? 20
        this.failures += 1
        this.isServersWord = retryAfter !== undefined
        const now = cautious(this.clock)
        const part = this.random()
        if (retryAfter !== undefined) {
            this.heldUntil = now + asked(retryAfter, part)
            this.patientUntil = this.heldUntil + part * beyond
        } else {
            this.heldUntil = now + part * Math.min(longest, withoutTokenMax)
            this.patientUntil = now + part * longest
        }
    }

    noteAnswer(): void {
        this.failures = this.heldUntil = this.patientUntil = 0
        this.isServersWord = false
    }

    /** The network may be another one when the app comes to the foreground. What the server asked for holds. */
    noteStart(): void {
        if (!this.isServersWord) this.heldUntil = 0
        this.patientUntil = this.heldUntil
    }
}
