// Record, key and logins under way: in IndexedDB, or in memory where the browser has none. Nothing else is ever written to.

import {MemoryStore} from "../core/index.js"
import {DeviceKey, Keys, LoginAttempt, LoginAttempts, SessionStore, StoreError, StoredRecord} from "../core/platform.js"
import {webDeviceKey} from "../web/webcrypto.js"
import {Database, NoDatabase} from "./database.js"
import {Announcer, IndexedDBStore} from "./indexeddb-store.js"
import {IndexedDBKeys, newPair} from "./indexeddb-keys.js"
import {IndexedDBAttempts, PopupAttempts} from "./login-attempts.js"

/** What the parts of a storage are made of. */
export interface StorageParts {
    database: Database
    crypto: Crypto
    others: Announcer
    /** Text of 16 random bytes. */
    random(): string
    /** Unix seconds by the wall clock. */
    now(): number
    observe?(point: string): void
}

/** The name of the database: one for each client, server and slot. Two servers can share a host, each with a path of its own. */
export function databaseName(server: string, clientID: string, slot = "default"): string {
    const {host, pathname} = new URL(server)
    return `sojourn/${encodeURIComponent(clientID)}@${host}${pathname.replace(/\/+$/, "")}/${encodeURIComponent(slot)}`
}

export class BrowserStorage implements SessionStore, Keys, PopupAttempts {
    /** False once the browser has said that it keeps nothing for this page. */
    isPersistent = true
    private wasThere = false
    private readonly records: {lasting: SessionStore; fleeting: SessionStore}
    private readonly pairs: {lasting: IndexedDBKeys; fleeting: Keys}
    private readonly logins: {lasting: PopupAttempts; fleeting: PopupAttempts}

    constructor(private readonly parts: StorageParts) {
        const {database, crypto, others, random, now, observe} = parts
        const keys = new IndexedDBKeys(database, crypto)
        const store = new IndexedDBStore(database, random, others, keys, observe)
        this.records = {lasting: store, fleeting: new MemoryStore()}
        this.pairs = {lasting: keys, fleeting: new MemoryKeys(crypto)}
        this.logins = {lasting: new IndexedDBAttempts(database, now), fleeting: new MemoryAttempts()}
    }

    load(): Promise<StoredRecord | null> {
        return this.either(this.records, (store) => store.load())
    }

    replace(expected: string | null, text: string | null): Promise<boolean> {
        return this.either(this.records, (store) => store.replace(expected, text))
    }

    setAside(): Promise<void> {
        return this.either(this.records, (store) => store.setAside())
    }

    onChange(look: () => void): () => void {
        return this.parts.others.onAnnouncement(look)
    }

    key(): Promise<DeviceKey | null> {
        return this.either(this.pairs, (keys) => keys.key())
    }

    makeKey(): Promise<DeviceKey> {
        return this.either(this.pairs, (keys) => keys.makeKey())
    }

    deleteKey(): Promise<void> {
        return this.either(this.pairs, (keys) => keys.deleteKey())
    }

    keep(attempt: LoginAttempt): Promise<void> {
        return this.either(this.logins, (logins) => logins.keep(attempt))
    }

    find(state: string): Promise<LoginAttempt | null> {
        return this.either(this.logins, (logins) => logins.find(state))
    }

    forget(state: string): Promise<void> {
        return this.either(this.logins, (logins) => logins.forget(state))
    }

    notePopup(state: string): Promise<void> {
        return this.either(this.logins, (logins) => logins.notePopup(state))
    }

    isPopup(state: string): Promise<boolean> {
        return this.either(this.logins, (logins) => logins.isPopup(state))
    }

    private async either<Part, Value>(
        parts: {lasting: Part; fleeting: Part}, use: (part: Part) => Promise<Value>
    ): Promise<Value> {
        if (!this.isPersistent) return await use(parts.fleeting)
        try {
            const value = await use(parts.lasting)
            this.wasThere = true
            return value
        } catch (error) {
            if (!(error instanceof NoDatabase)) throw error
            // A database that was there before is not missing: the store cannot tell (rule 1).
            if (this.wasThere) throw new StoreError("failed", "IndexedDB is refused")
            this.isPersistent = false
            return await use(parts.fleeting)
        }
    }
}

class MemoryKeys implements Keys {
    private made: Promise<DeviceKey> | null = null

    constructor(private readonly crypto: Crypto) {}

    async key(): Promise<DeviceKey | null> {
        return (await this.made) ?? null
    }

    makeKey(): Promise<DeviceKey> {
        return (this.made ??= newPair(this.crypto).then((pair) => webDeviceKey(this.crypto, pair.privateKey, pair.jwk)))
    }

    async deleteKey(): Promise<void> {
        this.made = null
    }
}

class MemoryAttempts implements LoginAttempts, PopupAttempts {
    private readonly attempts = new Map<string, LoginAttempt>()

    async keep(attempt: LoginAttempt): Promise<void> {
        this.attempts.set(attempt.state, attempt)
    }

    async find(state: string): Promise<LoginAttempt | null> {
        return this.attempts.get(state) ?? null
    }

    async forget(state: string): Promise<void> {
        this.attempts.delete(state)
    }

    async notePopup(): Promise<void> {
        // The popup has a memory of its own, and reports to the page that opened it.
    }

    async isPopup(): Promise<boolean> {
        return false
    }
}
