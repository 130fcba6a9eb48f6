// What is stored for one user: the record of the protocol document, and changes of it without input and output.

import {bytesOf, textOf} from "./bytes.js"
import {StoreError} from "./platform.js"
import {Members, members, text} from "./verdict.js"

/** The record. Members that this version does not know are kept, because it is copied as a whole. */
export interface SessionRecord {
    schema: number
    device_id: string
    /** 32 bytes in base64url, new with each login and each sign-out. */
    retry_secret: string
    session_id?: string
    refresh_token?: string
    access_token?: string
    token_type?: string
    /** Times are Unix seconds of the server. */
    issued_at?: number
    expires_at?: number
    refresh_after?: number
    session_idle_expires_at?: number
    session_expires_at?: number
    rotation_interval?: number
    /** How the session can be renewed, as its login said; empty: not at all. */
    renewal?: string[]
    authentication_mode?: string
    user?: Members
    key_thumbprint?: string
    clock_offset?: number
    ended?: {reason: string; at: number}
    signed_out?: boolean
    debts?: Debt[]
    pending_login?: Members
    verifications?: StoredVerification[]
}

/** A session that the user left, of which the server has not heard. */
export interface Debt {
    session_id?: string
    /** The refresh token, or the access token of a session that has none. */
    token: string
    /** `refresh_token`, `Bearer` or `DPoP`. */
    kind: string
    key_thumbprint?: string
    expires_at?: number
}

/** A proof of a mailbox that is under way. It is stored before the first request, so that a lost answer is asked for again. */
export interface StoredVerification {
    purpose: string
    email: string
    /** The `Idempotency-Key` of the request; those of the later calls are derived from it. */
    key: string
    asked_at: number
    proven?: boolean
    verification_id?: string
    /** The secret of this device, without which the code is worth nothing. */
    verification_token?: string
    code_length?: number
    expires_at?: number
    resend_at?: number
}

/** A record with the version under which it is stored. */
export interface Loaded {
    version: string
    record: SessionRecord
}

/** An answer with tokens. */
export interface TokenAnswer {
    access_token: string
    issued_at: number
    [member: string]: unknown
}

const kinds = {
    session_id: "string", refresh_token: "string", access_token: "string", token_type: "string", issued_at: "number",
    expires_at: "number", refresh_after: "number", session_idle_expires_at: "number", session_expires_at: "number",
    rotation_interval: "number", renewal: "object", authentication_mode: "string", user: "object",
} as const
type SessionMember = keyof typeof kinds
const sessionMembers = Object.keys(kinds) as SessionMember[]

const isOfKind = (name: SessionMember, value: unknown): boolean =>
    value !== null && typeof value === kinds[name] && (name !== "renewal" || Array.isArray(value))

/**
 * Reads a record. Throws `corrupted` if the text is none, or has a later schema: it counts as unreadable then, and is kept. A member
 * of a wrong type counts as absent.
 */
export function parseRecord(stored: string): SessionRecord {
    const record = members(stored) as unknown as SessionRecord | null
    if (record?.schema !== 1) throw new StoreError("corrupted", record ? `schema ${record.schema}` : "not a JSON object")
    if (!text(record.device_id) || !text(record.retry_secret)) throw new StoreError("corrupted", "half a record")
    for (const name of sessionMembers) if (record[name] !== undefined && !isOfKind(name, record[name])) delete record[name]
    for (const name of ["debts", "verifications"] as const) if (!Array.isArray(record[name])) delete record[name]
    if (typeof record.ended !== "object" || !text(record.ended?.reason)) delete record.ended
    if (typeof record.clock_offset !== "number") delete record.clock_offset
    return record
}

/** Half a session, with a refresh token alone, is one as well: a renewal brings the rest. */
export const hasSession = (record: SessionRecord): boolean => !!(record.access_token || record.refresh_token)
export const isBound = (record: SessionRecord): boolean => record.token_type?.toLowerCase() === "dpop"

/** Whether the session can be renewed. One that cannot ends with its access token (`stay_logged_in` of the client). */
export const isRenewable = (record: SessionRecord): boolean => record.renewal?.length !== 0

/** Whether the access token is good for a request: for 30 seconds more. */
export const isUsable = (record: SessionRecord, now: number): boolean => (record.expires_at ?? 0) - now >= 30

/** Whether a renewal is due: strictly after `refresh_after` (rule 8). */
export const isDue = (record: SessionRecord, now: number): boolean =>
    isRenewable(record)
        ? now > (record.refresh_after ?? Infinity) || !isUsable(record, now)
        : now >= (record.expires_at ?? 0)

/** The record with what an answer brings. What the answer leaves out stays as it is. */
export function take(record: SessionRecord, answer: TokenAnswer): SessionRecord {
    const changed: SessionRecord = {...record}
    for (const name of sessionMembers) if (isOfKind(name, answer[name])) Object.assign(changed, {[name]: answer[name]})
    if (!isOfKind("refresh_after", answer["refresh_after"])) delete changed.refresh_after
    const lifetime = typeof answer["expires_in"] === "number" ? answer["expires_in"] : 3600
    if (!isOfKind("expires_at", answer["expires_at"])) changed.expires_at = answer.issued_at + lifetime
    delete changed.ended
    return changed
}

/** The record without its session, of which the server has to be told unless it has ended it (rule 13). */
export function owe(record: SessionRecord): SessionRecord {
    const changed = withoutSession(record)
    const token = record.refresh_token ?? record.access_token
    if (record.ended || !token) return changed
    const debt: Debt = {token, kind: record.refresh_token ? "refresh_token" : record.token_type ?? "Bearer"}
    if (record.session_id) debt.session_id = record.session_id
    if (isBound(record) && record.key_thumbprint) debt.key_thumbprint = record.key_thumbprint
    const end = record.session_idle_expires_at ?? record.session_expires_at
    if (end !== undefined) debt.expires_at = end
    changed.debts = [...(record.debts ?? []), debt].slice(-5)
    return changed
}

export function withoutSession(record: SessionRecord): SessionRecord {
    const changed: SessionRecord = {...record}
    for (const name of [...sessionMembers, "key_thumbprint", "ended"] as const) delete changed[name]
    return changed
}

/** The record after a sign-out. */
export function signedOut(record: SessionRecord, secret: string, isOwing: boolean): SessionRecord {
    const changed = {...(isOwing ? owe(record) : withoutSession(record)), signed_out: true, retry_secret: secret}
    delete changed.pending_login
    delete changed.verifications
    return changed
}

/** The record with the session of a login. Another session that was left without a sign-out is owed. */
export function begun(
    record: SessionRecord, answer: TokenAnswer, secret: string, thumbprint: string | undefined
): SessionRecord {
    const isOther = record.session_id !== answer["session_id"]
    const base = isOther ? owe(record) : withoutSession(record)
    base.debts = (base.debts ?? []).filter((debt) => !debt.session_id || debt.session_id !== answer["session_id"])
    delete base.signed_out
    delete base.pending_login
    const session = take(base, answer)
    session.authentication_mode = session.authentication_mode ?? "NO"
    // A user without a name may be about to sign up.
    if (session.user?.["anonymous"] !== true) delete session.verifications
    session.retry_secret = secret
    if (text(answer["device_id"])) session.device_id = answer["device_id"] as string
    if (thumbprint) session.key_thumbprint = thumbprint
    return session
}

/** The session of an answer as one that is owed, beside what is stored. */
export const owing = (record: SessionRecord, answer: TokenAnswer, thumbprint: string | undefined): SessionRecord => {
    const other = take(withoutSession(record), answer)
    if (thumbprint) other.key_thumbprint = thumbprint
    return {...record, debts: owe(other).debts ?? []}
}

/** The `nonce` of an ID token (OpenID Connect Core §2). Its signature does not matter, because the answer comes from the server. */
export function nonceOf(answer: TokenAnswer): string | undefined {
    const bytes = bytesOf(text(answer["id_token"])?.split(".")[1] ?? "")
    return text(members((bytes && textOf(bytes)) ?? "")?.["nonce"])
}
