// What a client needs of the machine on which it runs.

import {DeviceKey} from "./crypto"
import {Answer} from "./verdict"

/** A record as it is stored. */
export interface Stored {
    version: string
    text: string
}

/** The store cannot tell whether there is a record (rule 1). */
export class StoreError extends Error {
    constructor(readonly kind: "locked" | "failed") {
        super(`the store: ${kind}`)
    }
}

/** The store has three answers: a record, null for certainly nothing, or a `StoreError`. */
export interface Store {
    load(): Promise<Stored | null>
    /** Writes if the stored version is still `expected`, durably. False: another version is stored. */
    replace(expected: string | null, text: string): Promise<boolean>
    /** Renames a record that cannot be read (rule 19). */
    setAside(): Promise<void>
}

/** The keys of the device. `key` returns null only if there is certainly none. */
export interface Keys {
    key(): Promise<DeviceKey | null>
    makeKey(): Promise<DeviceKey>
}

export interface Clock {
    /** Unix seconds by the clock that the user can set. */
    wall(): number
    /** Seconds by a clock that nobody can set. On a phone it has to run while the device sleeps. */
    uptime(): number
}

export interface Request {
    method: string
    url: string
    fields: Record<string, string>
    body?: string
}

/** Sends a request, and throws if no answer comes within so many seconds. */
export type Transport = (request: Request, limit: number) => Promise<Answer>

/** Sends by `fetch`: no redirects, no cookies, no cache. */
export const fetchTransport: Transport = async (request, limit) => {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), limit * 1000)
    try {
        const response = await fetch(request.url, {
            method: request.method, headers: request.fields, body: request.body ?? null, redirect: "manual",
            credentials: "omit", cache: "no-store", signal: controller.signal,
        })
        const text = await response.text()
        return {status: response.status, field: (name) => response.headers.get(name), text}
    } finally {
        clearTimeout(timer)
    }
}
