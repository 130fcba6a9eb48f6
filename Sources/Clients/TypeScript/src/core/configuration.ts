// The settings of a client, and the server that they name.

import {misconfigured} from "./errors.js"

export interface SojournConfiguration {
    /** The server's public URL, equal to its `server.issuer`: `https`, or `http` on a loopback address. */
    server: string
    clientID: string
    /** One user is signed in per slot. Apps with several users at once use several slots. */
    slot?: string
    /** How sessions are renewed: by a refresh token that is bound to the device key (default), by one alone, or by the key alone. */
    renewal?: "boundRefreshToken" | "refreshToken" | "deviceKey"
    /** The device ID, if the app has one of its own. */
    deviceID?: string
    /** The device's name in the user's list of devices. */
    deviceName?: string
    /** For example `Firefox 153`. Each login and each renewal names it. */
    platform?: string
    appVersion?: string
    /** The language of mails to users without a language of their own, for example `de`. */
    language?: string
    /** The scope to ask for at a login. Without `account` the verbs about the account throw `notAllowed`. */
    scope?: string
    /** APIs to ask for at a login (RFC 8707). */
    resources?: string[]
    /** The origins of the app's own APIs: `fetch` gives a token to them alone. */
    apis?: string[]
    /** Whether this process renews (default). */
    mayRenew?: boolean
    /** How many seconds one attempt may take. The server's rotation interval lowers it, if that is short. */
    patience?: number
    /** How many seconds a call waits for a renewal that is due while the stored token is still good. */
    renewalWait?: number
    /** How many seconds an unlock lasts; absent: until `lock()`, or until the process ends. */
    unlockLasts?: number
    /** Gets lines about what happens: no tokens, no names, no content. */
    log?(line: string): void
}

const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/i

/** Whether tokens may be sent to a URL. */
export const isSafe = (url: string): boolean => /^https:\/\/[^/?#\s]+/i.test(url) || loopback.test(url)

/** The server's URL without a slash at its end. */
export function serverBase(url: string): string {
    if (!isSafe(url)) throw misconfigured("the server's URL must be https, or http on a loopback address")
    if (/[?#]/.test(url)) throw misconfigured("the server's URL must have no query and no fragment")
    return url.replace(/\/+$/, "")
}

/** Scheme, host and port of a URL, in the form of browsers. */
export function originOf(url: string): string {
    const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@]*@)?([^/?#]*)/i.exec(url)
    if (!parts) return ""
    const scheme = (parts[1] ?? "").toLowerCase()
    const host = (parts[3] ?? "").toLowerCase()
    return `${scheme}://${host.replace(scheme === "https" ? /:443$/ : /:80$/, "")}`
}

