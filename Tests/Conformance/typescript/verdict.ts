// What an answer means for the session: the table of the protocol document (rule 7), without input and output.

import {TokenAnswer} from "./record"

export interface Answer {
    status: number
    /** The value of a field; null if there is none. */
    field(name: string): string | null
    text: string
}

export type Verdict =
    | {kind: "renewed"; answer: TokenAnswer}
    | {kind: "ended"; reason: string}
    | {kind: "suspended"; reason: string}
    | {kind: "presence_required"}
    | {kind: "sign_again"}
    | {kind: "unreachable"; retryAfter?: number}
    | {kind: "refused"; reason: string; detail?: string}

type Members = Record<string, unknown>

function members(text: string): Members | null {
    try {
        const value: unknown = JSON.parse(text)
        return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null
    } catch {
        return null
    }
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined)

/** Lists what is final. All that is not in it keeps the session. */
export function verdictOf(answer: Answer, isKeyGone: boolean): Verdict {
    const unreachable: Verdict = {kind: "unreachable", ...retryAfter(answer)}
    const body = members(answer.text)
    if (answer.status === 200) {
        if (!body || !text(body["access_token"]) || typeof body["issued_at"] !== "number") return unreachable
        return {kind: "renewed", answer: body as TokenAnswer}
    }
    if (answer.status < 400 || answer.status >= 500 || answer.status === 408 || answer.status === 429) return unreachable
    if (!body) return unreachable
    const reason = text(body["reason"]) ?? text(body["code"])
    const word = reason ?? text(body["error"])
    if (!word) return unreachable
    const again = body["reauthenticate"]
    if ((answer.status === 400 || answer.status === 401) && reason && typeof again === "boolean") {
        if (again || reason === "user_deleted") return {kind: "ended", reason}
        if (reason === "binding_mismatch" && isKeyGone) return {kind: "ended", reason: "key_lost"}
    }
    switch (word) {
        case "login_disabled_by_user":
        case "login_disabled_by_admin":
        case "device_mismatch":
        case "binding_mismatch":
            return {kind: "suspended", reason: word}
        case "insufficient_user_authentication":
            return {kind: "presence_required"}
        case "use_dpop_nonce":
        case "invalid_dpop_proof":
        case "invalid_assertion":
            return {kind: "sign_again"}
        default:
            const detail = text(body["detail"]) ?? text(body["error_description"])
            return {kind: "refused", reason: word, ...(detail ? {detail} : {})}
    }
}

/** The seconds of `Retry-After`, an hour at most. */
function retryAfter(answer: Answer): {retryAfter?: number} {
    const seconds = Number(answer.field("Retry-After") ?? NaN)
    return Number.isInteger(seconds) && seconds >= 0 ? {retryAfter: Math.min(seconds, 3600)} : {}
}

/** The server's time, if this is an answer of the server itself: `Date` counts only beside its errors (rule 8). */
export function serverTime(answer: Answer): number | null {
    const body = members(answer.text)
    if (answer.status === 200) return typeof body?.["issued_at"] === "number" ? body["issued_at"] : null
    if (!body || !(text(body["reason"]) ?? text(body["code"]) ?? text(body["error"]))) return null
    const date = Date.parse(answer.field("Date") ?? "")
    return Number.isNaN(date) || answer.field("Age") !== null ? null : Math.floor(date / 1000)
}
