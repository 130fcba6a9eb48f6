// A clock that a test moves.

import {Clock} from "../core/platform.js"

interface Timer {
    at: number
    action: () => void
}

export class ManualClock implements Clock {
    private seconds = 0
    private wallSeconds: number
    private readonly timers = new Set<Timer>()

    constructor(wall = 1_800_000_000) {
        this.wallSeconds = wall
    }

    wall(): number {
        return this.wallSeconds
    }

    uptime(): number {
        return this.seconds
    }

    /** Sets the clock that people can set. */
    setWall(wall: number): void {
        this.wallSeconds = wall
    }

    after(seconds: number, action: () => void): () => void {
        const timer = {at: this.seconds + seconds, action}
        this.timers.add(timer)
        return () => void this.timers.delete(timer)
    }

    /** Lets seconds pass, and calls back all timers that are due by then, in order. */
    advance(seconds: number): void {
        const end = this.seconds + seconds
        this.wallSeconds += seconds
        for (;;) {
            const next = [...this.timers].filter((timer) => timer.at <= end).sort((left, right) => left.at - right.at)[0]
            this.seconds = next ? Math.max(this.seconds, next.at) : end
            if (!next) return
            this.timers.delete(next)
            next.action()
        }
    }
}
