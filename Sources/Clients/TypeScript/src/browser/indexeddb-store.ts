// The record of a session in IndexedDB. A swap is one transaction, so that no lock is needed, and none is left behind (rule 12).

import {SessionStore, StoredRecord} from "../core/platform.js"
import {Database} from "./database.js"
import {IndexedDBKeys} from "./indexeddb-keys.js"

const name = "record"
/** What a stored value that is none of this client's counts as: a record that cannot be read, and is kept. */
const foreign: StoredRecord = {version: "foreign", text: ""}

/** Where a store tells other tabs that it has written. */
export interface Announcer {
    announce(): void
    onAnnouncement(look: () => void): () => void
}

export class IndexedDBStore implements SessionStore {
    readonly isPersistent = true

    /** `observe` is called between the steps of a swap; tests stop the page there. */
    constructor(
        private readonly database: Database, private readonly random: () => string, private readonly others: Announcer,
        private readonly keys?: IndexedDBKeys, private readonly observe: (point: string) => void = () => undefined
    ) {}

    load(): Promise<StoredRecord | null> {
        return this.database.run(["record"], "readonly", (store, result: (value: StoredRecord | null) => void) => {
            const request = store("record").get(name)
            request.onsuccess = () => result(read(request.result))
        })
    }

    async replace(expected: string | null, text: string | null): Promise<boolean> {
        const next: StoredRecord | null = text === null ? null : {version: this.random(), text}
        const isWritten = await this.database.run(["record", "keys"], "readwrite", (store, result: (value: boolean) => void) => {
            const records = store("record")
            const request = records.get(name)
            request.onsuccess = () => {
                result(false)
                if ((read(request.result)?.version ?? null) !== expected) return
                // The record of a bound session is worth nothing without its key, so one transaction holds both.
                if (next) this.keys?.restore(store("keys"))
                const writing = next ? records.put(next, name) : records.delete(name)
                writing.onsuccess = () => {
                    result(true)
                    this.observe("temp-written")
                }
            }
        })
        if (!isWritten) return false
        this.observe("renamed")
        this.others.announce()
        return true
    }

    async setAside(): Promise<void> {
        const aside = `unreadable-${this.random()}`
        await this.database.run(["record"], "readwrite", (store) => {
            const records = store("record")
            const request = records.get(name)
            request.onsuccess = () => {
                if (request.result === undefined) return
                records.put(request.result, aside)
                records.delete(name)
            }
        })
        this.others.announce()
    }

    onChange(look: () => void): () => void {
        return this.others.onAnnouncement(look)
    }
}

function read(value: unknown): StoredRecord | null {
    if (value === undefined) return null
    const {version, text} = (value ?? {}) as Partial<StoredRecord>
    return typeof version === "string" && typeof text === "string" ? {version, text} : foreign
}
