// A platform of WebCrypto and `fetch`, for browsers and Node.

import {Clock, HTTPAnswer, HTTPRequest, Platform} from "../core/platform.js"
import {hmacBy, sha256By} from "./webcrypto.js"

export interface WebParts {
    crypto: Crypto
    fetch: typeof globalThis.fetch
    clock: Clock
}

/** An answer that is longer is none of the server's. */
const lengthMax = 1 << 20

export function webPlatform({crypto, fetch, clock}: WebParts): Platform {
    return {
        clock,
        randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
        sha256: (message) => sha256By(crypto, message),
        hmacSHA256: (key, message) => hmacBy(crypto, key, message),
        send: (request, limit) => send(fetch, request, limit),
        after(seconds, action) {
            const timer = setTimeout(action, Math.min(seconds, 2 ** 31 / 1000 - 1) * 1000)
            return () => clearTimeout(timer)
        },
    }
}

/** Sends a request: no redirects, no cookies, no cache. */
async function send(fetch: typeof globalThis.fetch, request: HTTPRequest, limit: number): Promise<HTTPAnswer> {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), limit * 1000)
    try {
        const response = await fetch(request.url, {
            method: request.method, headers: request.fields, body: request.body ?? null, redirect: "manual",
            credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", signal: controller.signal,
        })
        const text = await response.text()
        if (text.length > lengthMax) throw new Error("the answer is too long")
        return {status: response.status, field: (name) => response.headers.get(name), text}
    } finally {
        clearTimeout(timer)
    }
}
