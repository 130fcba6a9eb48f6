// What is stored for one user: the record of the protocol document, and changes of it without input and output.

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
    authentication_mode?: string
    user?: {user_id?: string; username?: string}
    key_thumbprint?: string
    clock_offset?: number
    ended?: {reason: string; at: number}
    signed_out?: boolean
    debts?: Debt[]
}

/** A session that the user left, of which the server has not heard. */
export interface Debt {
    session_id?: string
    token: string
    kind: "refresh_token"
    key_thumbprint?: string
    expires_at?: number
}

/** An answer with tokens. */
export interface TokenAnswer {
    access_token: string
    issued_at: number
    [member: string]: unknown
}

const sessionMembers = [
    "session_id", "refresh_token", "access_token", "token_type", "issued_at", "expires_at", "refresh_after",
    "session_idle_expires_at", "session_expires_at", "rotation_interval", "authentication_mode", "user",
] as const

/** Reads a record. Throws if the text is none, or has a later schema: it counts as unreadable then, and is kept. */
export function parseRecord(text: string): SessionRecord {
    const record = JSON.parse(text) as SessionRecord
    if (record.schema !== 1 || !record.device_id || !record.retry_secret) throw new Error("not a record of schema 1")
    return record
}

export const hasSession = (record: SessionRecord): boolean => record.access_token !== undefined
export const isBound = (record: SessionRecord): boolean => record.token_type?.toLowerCase() === "dpop"

/** Whether the access token is good for a request: for 30 seconds more. */
export const isUsable = (record: SessionRecord, now: number): boolean => (record.expires_at ?? 0) - now >= 30

/** Whether a renewal is due: strictly after `refresh_after` (rule 8). */
export const isDue = (record: SessionRecord, now: number): boolean =>
    now > (record.refresh_after ?? Infinity) || !isUsable(record, now)

/** The record with what an answer brings. What the answer leaves out stays as it is. */
export function take(record: SessionRecord, answer: TokenAnswer): SessionRecord {
    const changed: SessionRecord = {...record}
    for (const name of sessionMembers) {
        if (answer[name] !== undefined && answer[name] !== null) Object.assign(changed, {[name]: answer[name]})
    }
    changed.expires_at = (answer["expires_at"] ?? answer.issued_at + Number(answer["expires_in"] ?? 3600)) as number
    delete changed.ended
    return changed
}

/** The record without its session, of which the server has to be told unless it has ended it (rule 13). */
export function owe(record: SessionRecord): SessionRecord {
    const changed: SessionRecord = {...record}
    for (const name of [...sessionMembers, "key_thumbprint", "ended"] as const) delete changed[name]
    if (!hasSession(record) || record.ended || !record.refresh_token) return changed
    const debt: Debt = {token: record.refresh_token, kind: "refresh_token"}
    if (record.session_id) debt.session_id = record.session_id
    if (isBound(record) && record.key_thumbprint) debt.key_thumbprint = record.key_thumbprint
    const end = record.session_idle_expires_at ?? record.session_expires_at
    if (end !== undefined) debt.expires_at = end
    changed.debts = [...(record.debts ?? []), debt].slice(-5)
    return changed
}

/** The record after a sign-out. */
export const signedOut = (record: SessionRecord, secret: string): SessionRecord => ({
    ...owe(record), signed_out: true, retry_secret: secret,
})

/** The record with the session of a login. Another session that was left without a sign-out is owed. */
export function begun(
    record: SessionRecord, answer: TokenAnswer, secret: string, thumbprint: string | undefined
): SessionRecord {
    const isOther = record.session_id !== answer["session_id"]
    const base = isOther ? owe(record) : {...record}
    base.debts = (base.debts ?? []).filter((debt) => debt.session_id !== answer["session_id"])
    delete base.signed_out
    delete base.key_thumbprint
    const session = take(base, answer)
    session.retry_secret = secret
    if (typeof answer["device_id"] === "string") session.device_id = answer["device_id"]
    if (thumbprint) session.key_thumbprint = thumbprint
    return session
}
