// The client for browsers, and for web views and workers with IndexedDB: this page's life and its tabs. The rest is the core's.
//
// Reading order: sojourn.ts, browser-storage.ts, database.ts, indexeddb-store.ts, login-presenters.ts.

export * from "../core/index.js"
export {BrowserClock, TimeSource} from "./clock.js"
export {BrowserParts, BrowserOptions, PageSignIn, Sojourn} from "./sojourn.js"
export {databaseName} from "./browser-storage.js"
export {WebPasskeys} from "./web-passkeys.js"
