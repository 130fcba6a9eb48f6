// The server's login page, by a redirect of this page or in a popup. Nothing opens in a hidden frame.

import {SojournError} from "../core/errors.js"
import {LoginPresenter, PromptError} from "../core/platform.js"
import {Channel} from "./channel.js"
import {PopupAttempts} from "./login-attempts.js"

/** The part of a window that a login needs; tests have their own. */
export interface Place {
    location: {href: string; assign(url: string): void}
    open(url: string, target: string, features: string): Popup | null
    addEventListener(name: string, heed: (event: {persisted?: boolean}) => void): void
    removeEventListener(name: string, heed: (event: {persisted?: boolean}) => void): void
}

export interface Popup {
    location: {replace(url: string): void}
    opener: unknown
    close(): void
}

/**
 * Leaves the page. The answer comes to a page that is loaded later. The promise ends only if the user comes back by the button of
 * the browser, and the page goes on where it stood; the login is not given up then, because Forward may lead to it again.
 */
export function leave(place: Place, url: string): Promise<never> {
    return new Promise((_, reject) => {
        const back = (event: {persisted?: boolean}): void => {
            if (!event.persisted) return
            place.removeEventListener("pageshow", back)
            reject(new SojournError("cancelled"))
        }
        place.addEventListener("pageshow", back)
        place.location.assign(url)
    })
}

/** How a login in a popup has ended there: the session is in the store, which all tabs share. */
export type PopupEnd = {error?: string}

/**
 * Opens a popup at once, because browsers block one that opens after an `await`. The page of the redirect URI ends the login in the
 * popup, and reports it by a channel: `Cross-Origin-Opener-Policy` cuts `opener` and `closed` off, so neither is looked at. Whether
 * the user has closed the popup cannot be seen, therefore the app offers to cancel.
 */
export class PopupPresenter implements LoginPresenter {
    /** Set when the popup itself has ended the login. */
    end: PopupEnd | null = null
    private readonly popup: Popup | null

    constructor(
        place: Place, private readonly channel: Channel, private readonly attempts: Pick<PopupAttempts, "notePopup">,
        private readonly signal?: AbortSignal
    ) {
        this.popup = signal?.aborted ? null : place.open("", "_blank", "popup,width=480,height=720")
    }

    /** Whether the browser has refused to open it. */
    get isBlocked(): boolean {
        return !this.popup && !this.signal?.aborted
    }

    async present(url: string): Promise<string> {
        if (!this.popup || this.signal?.aborted) throw new PromptError("cancelled")
        const state = new URL(url).searchParams.get("state") ?? ""
        await this.attempts.notePopup(state)
        return await new Promise((resolve, reject) => {
            const stop = (): void => {
                stopReports()
                this.signal?.removeEventListener("abort", abort)
            }
            const abort = (): void => {
                stop()
                this.popup?.close()
                reject(new PromptError("cancelled"))
            }
            const stopReports = this.channel.onReport((report) => {
                if (report.state !== state) return
                stop()
                if (report.callback !== undefined) return resolve(report.callback)
                this.end = report.error === undefined ? {} : {error: report.error}
                reject(new PromptError("cancelled"))
            })
            this.signal?.addEventListener("abort", abort)
            if (!this.popup || this.signal?.aborted) return abort()
            // The login page cannot lead this page elsewhere.
            this.popup.opener = null
            this.popup.location.replace(url)
        })
    }

    cancel(): void {
        this.popup?.close()
    }
}
