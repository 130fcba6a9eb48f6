// Why a call failed.

import {KeyError, PromptError, StoreError} from "./platform.js"
import type {SecondFactorLogin} from "./verbs/second-factor.js"

/** Only `notSignedIn` and `ended` mean that the app shows the login. */
export type SojournErrorKind =
    /** No user is signed in here. */
    | "notSignedIn"
    /** The store or the keys are locked. Try again later; nothing is lost. */
    | "locked"
    /** The store failed. The record is kept. */
    | "store"
    /** The keyring failed. The keys are kept. */
    | "key"
    /** The server has ended the session, for `reason`. */
    | "ended"
    /** Logins are switched off, for `reason`; the tokens are kept. */
    | "suspended"
    /** The server asks for the user's presence (RFC 9470): `requirement`. */
    | "presenceRequired"
    /** The first proof of a login was right, and the server asks for a second one: `login` ends the login. */
    | "secondFactorRequired"
    /** The server refused the call: `refusal`. The session is not concerned. */
    | "refused"
    /** The client's settings at the server do not have what this verb needs: a scope, a grant, a way of login. `refusal` says which. */
    | "notAllowed"
    /** No answer of the server: the network, 429, 5xx, or a page of a proxy. */
    | "unreachable"
    /** The user closed the page, or the session that the call was for has been replaced meanwhile. */
    | "cancelled"
    /** The app is set up wrongly: the client, the URL, a mode that the server does not know. */
    | "misconfigured"

/** What the server asks of the user (RFC 9470 §3). */
export interface PresenceRequirement {
    /** The ways that are accepted: `presence`, `password`, and later ones. */
    ways: string[]
    /** How many seconds ago the user may have proved to be present. */
    maxAge?: number
}

/** A refused call that says nothing about the session. */
export interface Refusal {
    /** The status of the answer; 0 for what the browser of a login brought. */
    status: number
    /** The server's word, for example `invalid_credentials` or `username_taken`. */
    code: string
    /** A sentence for developers. */
    detail?: string
    /** The part of the request that is wrong. */
    member?: string
    /** How many tries are left, where tries are counted. */
    attemptsLeft?: number
    /** Whether a wrong code of an authenticator app would have been right at another time, so that its clock is wrong. */
    clockDiffers?: boolean
}

/** Why no usable answer came. */
export interface Unreachable {
    /** What happened, for the log: no tokens and no content. */
    detail: string
    status?: number
    /** Seconds to wait, from the server. */
    retryAfter?: number
}

interface Parts {
    reason?: string
    detail?: string
    requirement?: PresenceRequirement
    refusal?: Refusal
    unreachable?: Unreachable
    login?: SecondFactorLogin
    error?: Error
}

export class SojournError extends Error {
    /** The server's word about the end or the suspension of a session, or about a wrong set-up. */
    readonly reason?: string
    readonly detail?: string
    readonly requirement?: PresenceRequirement
    readonly refusal?: Refusal
    readonly unreachable?: Unreachable
    readonly login?: SecondFactorLogin
    /** The error of the store or of the keys. */
    readonly error?: Error

    constructor(readonly kind: SojournErrorKind, parts: Parts = {}) {
        const said = [parts.reason ?? parts.refusal?.code, parts.detail ?? parts.refusal?.detail ?? parts.unreachable?.detail]
        super([kind, ...said, parts.error?.message].filter(Boolean).join(": "))
        this.name = "SojournError"
        Object.assign(this, parts)
    }
}

export const refused = (code: string, status = 0, detail?: string): SojournError =>
    new SojournError("refused", {refusal: detail ? {status, code, detail} : {status, code}})

export const unreachable = (detail: string, status?: number): SojournError =>
    new SojournError("unreachable", {unreachable: status === undefined ? {detail} : {detail, status}})

export const misconfigured = (detail: string): SojournError => new SojournError("misconfigured", {detail})

/** Any error as one of a call. */
export function sojournError(error: unknown): SojournError {
    if (error instanceof SojournError) return error
    if (error instanceof StoreError) return new SojournError(error.kind === "locked" ? "locked" : "store", {error})
    if (error instanceof KeyError) return new SojournError(error.kind === "locked" ? "locked" : "key", {error})
    if (error instanceof PromptError) {
        switch (error.kind) {
            case "cancelled": return new SojournError("cancelled")
            case "alreadyRegistered": return refused("passkey_exists")
            case "failed": return misconfigured(error.detail)
        }
    }
    return unreachable(String(error))
}
