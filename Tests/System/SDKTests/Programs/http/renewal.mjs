import {idempotencyKey, proof} from "./proof.mjs"

/** One attempt to renew what `load` returns. The caller stores the tokens by a swap, or forgets them. */
export async function attempt({server, clientID, key, load, now, nonce}) {
    const url = `${server}/oauth/token`
    const dpop = await proof(key, "POST", url, now(), {nonce})
    const sentAt = now()
    const record = await load()
    const limit = Math.min(20_000, 250 * (record.rotation_interval || 80))
    const begun = performance.now()
    try {
        const answer = await fetch(url, {
            method: "POST", redirect: "error", cache: "no-store", credentials: "omit",
            signal: AbortSignal.timeout(limit),
            headers: {DPoP: dpop, "Idempotency-Key": await idempotencyKey(record.retry_secret, record.refresh_token)},
            body: new URLSearchParams({
                grant_type: "refresh_token", refresh_token: record.refresh_token, client_id: clientID,
                device_id: record.device_id, sent_at: String(sentAt),
            }),
        })
        const body = await answer.json()
        if (performance.now() - begun > limit) return {verdict: "unreachable"}
        return {record, nonce: answer.headers.get("DPoP-Nonce"), ...verdict(answer, body)}
    } catch {
        return {verdict: "unreachable"}
    }
}

/** What an answer means: only the listed rows end a session. */
export function verdict(answer, body) {
    if (answer.status === 200 && body.access_token && body.issued_at) return {verdict: "renewed", tokens: body}
    const [reason, word] = [body.reason ?? body.code, body.reason ?? body.code ?? body.error]
    const isAboutSession = reason !== undefined && typeof body.reauthenticate === "boolean"
    if ([400, 401].includes(answer.status) && isAboutSession && (body.reauthenticate || reason === "user_deleted")) {
        return {verdict: "ended", reason}
    }
    if (["use_dpop_nonce", "invalid_dpop_proof"].includes(word)) return {verdict: "sign_again"}
    if (answer.status === 408 || answer.status === 429 || answer.status >= 500 || word === undefined) {
        return {verdict: "unreachable", retryAfter: Number(answer.headers.get("Retry-After") ?? 0)}
    }
    return {verdict: "kept", reason: word}
}
