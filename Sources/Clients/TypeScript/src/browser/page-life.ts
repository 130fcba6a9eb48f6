// What happens to a page: it comes to the front, comes back by Back and Forward, and gets a network again.

/** The part of a window that is heeded; tests have their own. */
export interface PageWindow {
    addEventListener(name: string, heed: (event: {persisted?: boolean}) => void): void
    document?: {visibilityState: string; addEventListener(name: string, heed: () => void): void}
    matchMedia?(query: string): {matches: boolean}
    navigator?: {storage?: {persist?(): Promise<boolean>}}
}

/** Calls back whenever a page may show what is no longer true. */
export function onReturn(page: PageWindow | undefined, look: () => void): void {
    if (!page) return
    // Back shows the page as it was left, also as it was before a sign-out.
    page.addEventListener("pageshow", (event) => {
        if (event.persisted) look()
    })
    page.addEventListener("online", look)
    page.document?.addEventListener("visibilitychange", () => {
        if (isInFront(page)) look()
    })
}

/** A hidden tab renews only when it is asked. A worker has no document, and is asked. */
export const isInFront = (page: PageWindow | undefined): boolean => page?.document?.visibilityState !== "hidden"

/** Asks the browser to keep what is stored. Firefox asks the user in turn, so the answer is not awaited. */
export function askToKeep(page: PageWindow | undefined): void {
    try {
        page?.navigator?.storage?.persist?.().catch(() => undefined)
    } catch {
        // The browser has the function, and forbids it here.
    }
}

/** Whether the page was installed, so that its user expects to stay signed in. */
export function isInstalled(page: PageWindow | undefined): boolean {
    try {
        return page?.matchMedia?.("(display-mode: standalone)").matches === true
    } catch {
        return false
    }
}
