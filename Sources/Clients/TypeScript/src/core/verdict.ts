// What an answer means for the session: the table of the protocol document (rule 7), without input and output.

import {PresenceRequirement, Refusal, SojournError, Unreachable} from "./errors.js"
import {HTTPAnswer} from "./platform.js"
import {TokenAnswer} from "./record.js"

export type Members = Record<string, unknown>

/** A login that waits for its second factor, as the server says it. */
export interface Challenge {
    /** The first proof, sealed by the server; absent: it comes again. */
    token?: string
    methods: string[]
}

export type Verdict =
    | {kind: "renewed"; answer: TokenAnswer}
    /** The server has ended the session of the token that was presented. The only verdict that does. */
    | {kind: "ended"; reason: string}
    | {kind: "suspended"; reason: string}
    | {kind: "presenceRequired"; requirement: PresenceRequirement}
    | {kind: "secondFactorRequired"; challenge: Challenge}
    | {kind: "signAgain"}
    | {kind: "unreachable"; cause: Unreachable}
    | {kind: "refused"; refusal: Refusal}
    | {kind: "misconfigured"; refusal: Refusal}
    | {kind: "notAllowed"; refusal: Refusal}

/** The members of a JSON object; null if the text is none. */
export function members(text: string): Members | null {
    try {
        const value: unknown = JSON.parse(text)
        return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null
    } catch {
        return null
    }
}

/** A text that is not empty. */
export const text = (value: unknown): string | undefined => (typeof value === "string" && value ? value : undefined)

/** A whole number. */
export const integer = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined)

/** The texts in a list. */
export const texts = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []

/** Whether the server has granted a call. Pages of portals have the status 200 as well, but are no JSON (rule 7). */
export const isSuccess = ({status, text}: HTTPAnswer): boolean =>
    status >= 200 && status < 300 && (text.trim() === "" || !!members(text))

/** The stable word of an error of the server: `reason`, else `code`, else `error`. */
export const wordOf = (body: Members | null): string | undefined =>
    body ? text(body["reason"]) ?? text(body["code"]) ?? text(body["error"]) : undefined

function refusalOf(body: Members, status: number, code: string): Refusal {
    const refusal: Refusal = {status, code}
    const detail = text(body["detail"]) ?? text(body["error_description"])
    const attemptsLeft = integer(body["attempts_left"])
    if (detail) refusal.detail = detail
    if (text(body["member"])) refusal.member = body["member"] as string
    if (attemptsLeft !== undefined) refusal.attemptsLeft = attemptsLeft
    if (body["clock_differs"] === true) refusal.clockDiffers = true
    return refusal
}

function requirementOf(body: Members): PresenceRequirement {
    const ways = (text(body["acr_values"]) ?? "").split(" ").filter(Boolean)
    const maxAge = integer(body["max_age"])
    return maxAge === undefined ? {ways} : {ways, maxAge}
}

function challengeOf(body: Members): Challenge {
    const token = text(body["login_token"])
    return token ? {token, methods: texts(body["methods"])} : {methods: texts(body["methods"])}
}

/** Lists what is final. All that is not in it keeps the session. `isKeyGone`: the key of the session certainly does not exist. */
export function verdictOf(answer: HTTPAnswer, isKeyGone = false): Verdict {
    const status = answer.status
    const cause: Unreachable = {detail: `status ${status}`, status, ...retryAfter(answer)}
    const unreachable: Verdict = {kind: "unreachable", cause}
    const body = members(answer.text)
    if (status === 200) {
        if (!body || !text(body["access_token"]) || integer(body["issued_at"]) === undefined) return unreachable
        return {kind: "renewed", answer: body as TokenAnswer}
    }
    if (status < 400 || status >= 500 || status === 408 || status === 429) return unreachable
    if (!body) return unreachable
    const word = wordOf(body)
    if (!word) return unreachable
    if (word === "second_factor_required" && Array.isArray(body["methods"])) {
        return {kind: "secondFactorRequired", challenge: challengeOf(body)}
    }
    const reason = text(body["reason"]) ?? text(body["code"])
    const again = body["reauthenticate"]
    if ((status === 400 || status === 401) && reason && typeof again === "boolean") {
        if (again || reason === "user_deleted") return {kind: "ended", reason}
        if (reason === "binding_mismatch" && isKeyGone) return {kind: "ended", reason: "key_lost"}
    }
    return kept(word, body, status)
}

/** The meaning of an error that ends nothing. */
function kept(word: string, body: Members, status: number): Verdict {
    const refusal = refusalOf(body, status, word)
    switch (word) {
        case "login_disabled_by_user":
        case "login_disabled_by_admin":
        case "device_mismatch":
        case "binding_mismatch":
            return {kind: "suspended", reason: word}
        case "insufficient_user_authentication":
            return {kind: "presenceRequired", requirement: requirementOf(body)}
        case "use_dpop_nonce":
        case "invalid_dpop_proof":
        case "invalid_assertion":
            return {kind: "signAgain"}
        case "invalid_client":
        case "origin_not_allowed":
            return {kind: "misconfigured", refusal}
        case "insufficient_scope":
        case "login_method_not_allowed":
        case "unauthorized_client":
        case "unsupported_grant_type":
            return {kind: "notAllowed", refusal}
        default:
            return {kind: "refused", refusal}
    }
}

/** The error of a call with that verdict; null if it was granted. */
export function errorOf(verdict: Verdict): SojournError | null {
    switch (verdict.kind) {
        case "renewed": return null
        case "ended": case "suspended": return new SojournError(verdict.kind, {reason: verdict.reason})
        case "presenceRequired": return new SojournError(verdict.kind, {requirement: verdict.requirement})
        case "refused": case "notAllowed": return new SojournError(verdict.kind, {refusal: verdict.refusal})
        case "unreachable": return new SojournError(verdict.kind, {unreachable: verdict.cause})
        case "misconfigured": {
            const {code, detail} = verdict.refusal
            return new SojournError(verdict.kind, detail ? {reason: code, detail} : {reason: code})
        }
        case "signAgain": {
            const detail = "the server refuses this device's signatures, or its clock"
            return new SojournError("unreachable", {unreachable: {detail}})
        }
        // Only a login can go on by it, and takes the challenge before.
        case "secondFactorRequired":
            return new SojournError("refused", {refusal: {status: 401, code: "second_factor_required"}})
    }
}

/** Seconds since 1970 of a date of HTTP; null if the text is none. */
function seconds(date: string | null): number | null {
    const milliseconds = date && date.endsWith(" GMT") ? Date.parse(date) : NaN
    return Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1000)
}

/** The seconds of `Retry-After`, as a number or as a date beside `Date`; an hour at most. */
function retryAfter(answer: HTTPAnswer): {retryAfter?: number} {
    const value = answer.field("Retry-After")
    if (value === null) return {}
    if (/^\d+$/.test(value)) return {retryAfter: Math.min(Number(value), 3600)}
    const until = seconds(value)
    const now = seconds(answer.field("Date"))
    return until === null || now === null ? {} : {retryAfter: Math.min(Math.max(until - now, 0), 3600)}
}

/** The server's time, if this is an answer of the server itself: `Date` counts only beside its JSON, and not beside `Age` (rule 8). */
export function serverTime(answer: HTTPAnswer): number | null {
    const body = members(answer.text)
    if (!body) return null
    const issuedAt = integer(body["issued_at"])
    if (answer.status === 200 && text(body["access_token"]) && issuedAt !== undefined) return issuedAt
    if (answer.field("Age") !== null || !(isSuccess(answer) || wordOf(body))) return null
    return seconds(answer.field("Date"))
}
