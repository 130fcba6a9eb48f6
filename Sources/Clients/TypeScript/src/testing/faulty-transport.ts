// A network with faults, in front of any `send`.

import {HTTPAnswer, HTTPRequest, Platform} from "../core/platform.js"

export type Fault =
    | "pass"
    /** The server never sees the request. */
    | "loseRequest"
    /** The server has acted, and its answer is lost. */
    | "loseAnswer"
    /** The request reaches the server twice. */
    | "duplicate"
    /** Another answer comes in the place of the server's: a page of a portal, a status of a proxy. */
    | {status: number; text?: string; fields?: Record<string, string>}

export class FaultyTransport {
    /** What happens to the next requests, in order; then `rest`. */
    script: Fault[] = []
    rest: Fault = "pass"
    readonly seen: HTTPRequest[] = []

    constructor(private readonly through: Platform["send"]) {}

    readonly send = async (request: HTTPRequest, limit: number): Promise<HTTPAnswer> => {
        this.seen.push(request)
        const fault = this.script.shift() ?? this.rest
        if (typeof fault === "object") {
            const {status, text = "", fields = {}} = fault
            return {status, text, field: (name) => fields[name] ?? null}
        }
        if (fault === "loseRequest") throw new Error("the request was lost")
        const answer = await this.through(request, limit)
        if (fault === "loseAnswer") throw new Error("the answer was lost")
        return fault === "duplicate" ? await this.through(request, limit) : answer
    }
}
