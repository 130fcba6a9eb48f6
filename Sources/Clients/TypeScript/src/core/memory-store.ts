// A store in memory, for tests and for browsers that keep nothing.

import {SessionStore, StoredRecord} from "./platform.js"

export class MemoryStore implements SessionStore {
    readonly isPersistent = false
    /** Records that could not be read. */
    readonly asides: string[] = []
    private stored: StoredRecord | null = null
    private writes = 0
    private readonly lookers = new Set<() => void>()

    async load(): Promise<StoredRecord | null> {
        return this.stored
    }

    async replace(expected: string | null, text: string | null): Promise<boolean> {
        if ((this.stored?.version ?? null) !== expected) return false
        this.stored = text === null ? null : {version: String(++this.writes), text}
        for (const look of [...this.lookers]) look()
        return true
    }

    async setAside(): Promise<void> {
        if (this.stored) this.asides.push(this.stored.text)
        this.stored = null
    }

    onChange(look: () => void): () => void {
        this.lookers.add(look)
        return () => void this.lookers.delete(look)
    }
}
