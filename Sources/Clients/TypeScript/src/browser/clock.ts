// Two clocks of a browser, of which each fails in its own way: one stops while the machine sleeps, people set the other.

import {Clock} from "../core/platform.js"

/** Where the time comes from, in milliseconds; tests have their own. */
export interface TimeSource {
    /** Goes on by itself, and may stand still while the machine sleeps. */
    steady(): number
    /** Unix time, as people have set it. */
    wall(): number
}

const pageTime: TimeSource = {steady: () => performance.now(), wall: () => Date.now()}

/** Milliseconds by which the clocks may differ before one of them counts as set, or as having stood still. */
const difference = 1000

/** Adds up what both clocks advance: the larger part for deadlines, the smaller one for `sent_at`. Neither sum runs backwards. */
export class BrowserClock implements Clock {
    private steady: number
    private walled: number
    /** What is left of the time before the last jump of a clock. */
    private readonly before = {larger: 0, smaller: 0}
    private readonly last = {larger: 0, smaller: 0}

    constructor(private readonly source: TimeSource = pageTime) {
        this.steady = source.steady()
        this.walled = source.wall()
    }

    wall(): number {
        return this.source.wall() / 1000
    }

    uptime(): number {
        this.look()
        return this.last.larger / 1000
    }

    cautious(): number {
        this.look()
        return this.last.smaller / 1000
    }

    private look(): void {
        const [steady, walled] = [this.source.steady(), this.source.wall()]
        const advances = [steady - this.steady, walled - this.walled] as const
        const larger = this.before.larger + Math.max(0, ...advances)
        const smaller = this.before.smaller + Math.max(0, Math.min(...advances))
        this.last.larger = Math.max(this.last.larger, larger)
        this.last.smaller = Math.max(this.last.smaller, smaller)
        // Only a jump begins a new sum: the clocks tick at different moments, and small differences would add up.
        if (Math.abs(advances[0] - advances[1]) < difference) return
        this.steady = steady
        this.walled = walled
        Object.assign(this.before, this.last)
    }
}
