// The client of a browser: the core's verbs, with this page's storage, network, events and login page.

import {
    Account, AuthenticationMode, Environment, LoginPage, SessionState, SignIn, SojournConfiguration, SojournError, Verification,
} from "../core/index.js"
import {base64url} from "../core/bytes.js"
import {serverBase} from "../core/configuration.js"
import {refused} from "../core/errors.js"
import {webPlatform} from "../web/platform.js"
import {WebSojourn} from "../web/web-sojourn.js"
import {BrowserStorage, databaseName} from "./browser-storage.js"
import {Channel} from "./channel.js"
import {BrowserClock} from "./clock.js"
import {Database} from "./database.js"
import {leave, Place, PopupPresenter} from "./login-presenters.js"
import {askToKeep, isInFront, isInstalled, onReturn, PageWindow} from "./page-life.js"
import {WebPasskeys} from "./web-passkeys.js"

/** A login on the server's page. It leaves this page, or opens a popup, in the same tick as the click. */
export interface PageSignIn {
    /** The redirect URI may be relative to this page. */
    page: LoginPage
    mode?: AuthenticationMode
    popup?: boolean
    /** Gives the login in a popup up: a page cannot see that the user has closed it. */
    signal?: AbortSignal
}

/** Parts that an app or a test replaces. */
export interface BrowserParts extends Partial<Omit<Environment, "platform">> {
    fetch?: typeof globalThis.fetch
    clock?: Environment["platform"]["clock"]
    /** Called between the steps of a swap. */
    observe?(point: string): void
}

export type BrowserOptions = SojournConfiguration

/** For how many seconds a page that comes to the front again does not ask the server once more. */
const startAge = 60

export class Sojourn extends WebSojourn {
    private readonly page: (PageWindow & Place) | undefined
    private readonly storage: BrowserStorage
    private readonly channel: Channel
    private startedAt = -Infinity

    constructor(options: BrowserOptions, parts: BrowserParts = {}) {
        const page = (globalThis as {window?: PageWindow & Place}).window
        if (!page && !parts.store && !globalThis.indexedDB) {
            // A server that renders pages would give one user the session of another.
            throw new SojournError("misconfigured", {detail: "there is no window: give a store, and one object for each user"})
        }
        const fetch = parts.fetch ?? ((input: RequestInfo | URL, init?: RequestInit) => globalThis.fetch(input, init))
        const clock = parts.clock ?? new BrowserClock()
        const name = databaseName(serverBase(options.server), options.clientID, options.slot)
        const channel = new Channel(name)
        const random = (): string => base64url(globalThis.crypto.getRandomValues(new Uint8Array(16)))
        const storage = new BrowserStorage({
            database: new Database(name), crypto: globalThis.crypto, others: channel, random, now: () => clock.wall(),
            ...(parts.observe ? {observe: parts.observe} : {}),
        })
        super(options, {
            platform: webPlatform({crypto: globalThis.crypto, fetch, clock}),
            store: parts.store ?? storage, keys: parts.keys ?? storage, attempts: parts.attempts ?? storage,
            passkeys: parts.passkeys ?? new WebPasskeys(),
            isInFront: parts.isInFront ?? (() => isInFront(page)),
            onSignedIn: parts.onSignedIn ?? (() => askToKeep(page)),
        }, fetch)
        this.page = page
        this.storage = storage
        this.channel = channel
        onReturn(page, () => void this.look(clock.uptime()))
        if (isInstalled(page)) askToKeep(page)
    }

    /** Begins a login by a code that the server sends to the mailbox. `signIn({code})` ends it. */
    override signIn(how: {emailCodeFor: string}): Promise<Verification>
    /** Signs a user in. A login on the server's page leaves this page, or opens a popup. */
    override signIn(how: SignIn | PageSignIn): Promise<Account>
    override signIn(how: SignIn | PageSignIn | {emailCodeFor: string}): Promise<Account | Verification> {
        if ("page" in how && !("through" in how)) {
            const page = how as PageSignIn
            return page.popup ? this.signInByPopup(page) : this.signInByRedirect(page)
        }
        if ("callback" in how) return this.signInHere(how)
        return super.signIn(how as SignIn)
    }

    /** Reads the store when the page comes to the front, and asks the server, unless it has just been asked. */
    private async look(now: number): Promise<void> {
        const isRecent = now - this.startedAt < startAge
        await (isRecent ? this.restore() : this.start())
    }

    override start(): Promise<SessionState> {
        this.startedAt = this.environment.platform.clock.uptime()
        return super.start()
    }

    private get place(): Place {
        if (this.page) return this.page
        throw new SojournError("misconfigured", {detail: "there is no window"})
    }

    private async signInByRedirect(how: PageSignIn): Promise<Account> {
        const {place} = this
        // A page that forgets everything when it is left cannot end a login that comes back by a redirect.
        await this.storage.find("").catch(() => null)
        if (!this.storage.isPersistent && this.environment.attempts === this.storage) throw refused("storage_unavailable")
        return await leave(place, await this.beginSignIn(this.resolved(how.page), how.mode))
    }

    private async signInByPopup(how: PageSignIn): Promise<Account> {
        // Before any `await`, because browsers block popups that open later.
        const popup = new PopupPresenter(this.place, this.channel, this.storage, how.signal)
        if (popup.isBlocked) throw refused("popup_blocked")
        const mode = how.mode === undefined ? {} : {mode: how.mode}
        try {
            return await super.signIn({page: this.resolved(how.page), through: popup, ...mode})
        } catch (error) {
            if (!popup.end) throw error
            // The popup has stored the session, or said why it has not.
            const state = await this.restore()
            if (popup.end.error === undefined && state.kind === "signedIn") return state.account
            throw refused(popup.end.error ?? "no_session")
        } finally {
            popup.cancel()
        }
    }

    /** A URL that may be relative to this page. */
    protected override absolute(url: string): string {
        return super.absolute(url, this.page?.location.href)
    }

    private resolved(page: LoginPage): LoginPage {
        return {...page, redirectURI: this.absolute(page.redirectURI)}
    }

    /** Ends a login on the page of the redirect URI, which may stand in a popup. */
    private async signInHere(how: {callback: string}): Promise<Account> {
        const state = new URL(how.callback).searchParams.get("state") ?? ""
        const isPopup = await this.storage.isPopup(state).catch(() => false)
        try {
            const account = await super.signIn(how)
            this.leaveCallback(how.callback)
            this.channel.report({state})
            if (isPopup) this.closeWindow()
            return account
        } catch (error) {
            if (this.reportFailure(state, how.callback, error)) {
                if (error instanceof SojournError && error.refusal) this.leaveCallback(how.callback)
                if (isPopup) this.closeWindow()
            }
            throw error
        }
    }

    /** Tells the page that has opened this one. False: the user can try again here. */
    private reportFailure(state: string, callback: string, error: unknown): boolean {
        if (!(error instanceof SojournError) || error.kind === "unreachable") return false
        const code = error.refusal?.code ?? error.kind
        // Another page may have the verifier in its memory, and end the login there.
        this.channel.report(code === "no_login_pending" ? {state, callback} : {state, error: code})
        return true
    }

    /** A reload does not send the code again, and shows no error that is over. */
    private leaveCallback(callback: string): void {
        const history = (globalThis as {history?: History}).history
        if (this.page?.location.href !== callback || !history) return
        const url = new URL(callback)
        const names = ["code", "state", "iss", "session_state", "scope", "error", "error_description", "error_uri"]
        for (const name of names) url.searchParams.delete(name)
        history.replaceState(history.state, "", url)
    }

    private closeWindow(): void {
        (this.page as {close?(): void} | undefined)?.close?.()
    }
}
