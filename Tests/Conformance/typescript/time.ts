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

/** The wait in seconds before the retry of that number (1 is the first) within one renewal. */
export const waitWithin = (attempt: number, retryAfter?: number): number =>
    retryAfter ?? Math.random() * (withinRenewal[Math.min(attempt, withinRenewal.length) - 1] ?? 2)

/** Holds all callers back after a renewal that got no answer. */
export class Retries {
    private failures = 0
    private heldUntil = 0
    private isServersWord = false

    constructor(private readonly clock: Clock) {}

    get isHeld(): boolean {
        return this.heldUntil > this.clock.uptime()
    }

    noteFailure(retryAfter?: number): void {
        const longest = betweenRenewals[Math.min(this.failures++, betweenRenewals.length - 1)] ?? 60
        this.isServersWord = retryAfter !== undefined
        this.heldUntil = this.clock.uptime() + (retryAfter ?? Math.random() * longest)
    }

    noteAnswer(): void {
        this.failures = this.heldUntil = 0
    }

    /** The network may be another one when the app comes to the foreground. What the server asked for holds. */
    noteStart(): void {
        if (!this.isServersWord) this.heldUntil = 0
    }
}
