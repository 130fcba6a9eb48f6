// One IndexedDB database, which is opened again when the browser has closed it.

import {StoreError} from "../core/platform.js"

const storeNames = ["record", "keys", "logins"] as const
export type StoreName = (typeof storeNames)[number]

/** The browser keeps nothing for this page: an old private window, or a mode without IndexedDB. */
export class NoDatabase extends Error {}

/** A part of a transaction. It calls `result` in callbacks of its requests: a promise between them would end the transaction. */
export type Work<Value> = (store: (name: StoreName) => IDBObjectStore, result: (value: Value) => void) => void

export interface DatabaseOptions {
    /** What stands for `indexedDB`; a getter, because the mere look may throw. */
    factory?: () => IDBFactory | null | undefined
    /** The milliseconds after which a transaction is given up. */
    limit?: number
    /** The milliseconds before the second and the third try. */
    pauses?: readonly [number, number]
}

const version = 1

/** Errors of the database itself, as opposed to those of its content, begin with a look at whether there is one at all. */
const isAbsent = (error: unknown): boolean =>
    error instanceof NoDatabase || (error as {name?: string} | null)?.name === "SecurityError"

export class Database {
    private opening: Promise<IDBDatabase> | null = null
    private readonly factory: () => IDBFactory | null | undefined
    private readonly limit: number
    private readonly pauses: readonly [number, number]

    constructor(readonly name: string, options: DatabaseOptions = {}) {
        this.factory = options.factory ?? (() => globalThis.indexedDB)
        this.limit = options.limit ?? 5000
        this.pauses = options.pauses ?? [50, 500]
    }

    /**
     * Runs one transaction, up to three times, because a browser may close the connection at any time. What it returns counts: the
     * transaction is complete, and durable. After the limit it is aborted, and the store "cannot tell".
     */
    async run<Value>(names: StoreName[], mode: IDBTransactionMode, work: Work<Value>): Promise<Value> {
        const end = new Deadline(this.limit)
        try {
            for (let attempt = 0; ; attempt++) {
                try {
                    return await this.attempt(names, mode, work, end)
                } catch (error) {
                    if (isAbsent(error)) throw new NoDatabase(this.name)
                    const pause = this.pauses[attempt]
                    if (pause === undefined || end.isOver || isFinal(error)) throw new StoreError("failed")
                    await end.race(new Promise<void>((resume) => setTimeout(resume, pause)))
                }
            }
        } catch (error) {
            if (error instanceof NoDatabase) throw error
            throw new StoreError("failed")
        } finally {
            end.clear()
        }
    }

    private async attempt<Value>(
        names: StoreName[], mode: IDBTransactionMode, work: Work<Value>, end: Deadline
    ): Promise<Value> {
        const opening = this.open()
        let database: IDBDatabase
        try {
            database = await end.race(opening)
        } catch (error) {
            // An open request can hang for ever. The next call makes one of its own.
            this.forget(opening)
            throw error
        }
        try {
            return await transact(database, names, mode, work, end)
        } catch (error) {
            // The handle is of no use after `InvalidStateError`; after other errors a new one costs little.
            this.forget(opening)
            throw error
        }
    }

    private open(): Promise<IDBDatabase> {
        if (this.opening) return this.opening
        const opening: Promise<IDBDatabase> = this.openNow().then((database) => {
            database.onclose = () => this.forget(opening)
            database.onversionchange = () => this.forget(opening)
            if (this.opening !== opening) database.close()
            return database
        })
        this.opening = opening
        return opening
    }

    /** Closes a handle, when its transactions are over. */
    private forget(opening: Promise<IDBDatabase>): void {
        if (this.opening === opening) this.opening = null
        opening.then((database) => database.close(), () => undefined)
    }

    private async openNow(): Promise<IDBDatabase> {
        const factory = this.factory()
        if (!factory) throw new NoDatabase(this.name)
        let database: IDBDatabase
        try {
            database = await opened(factory.open(this.name, version))
        } catch (error) {
            const name = (error as DOMException).name
            // Old private windows of Firefox refuse so. No other browser has this error here.
            if (name === "InvalidStateError") throw new NoDatabase(this.name)
            // A later version of this client has been here. Its database is used as it is, and never made older.
            if (name !== "VersionError") throw error
            database = await opened(factory.open(this.name))
        }
        if (storeNames.every((name) => database.objectStoreNames.contains(name))) return database
        // A missing store is an error, and no reason to delete anything (rule 19).
        database.close()
        throw new StoreError("failed")
    }
}

/** Errors that another try does not cure: the disk is full, or the database is another one. */
const isFinal = (error: unknown): boolean =>
    error instanceof StoreError || ["QuotaExceededError", "DataCloneError"].includes((error as DOMException).name)

function opened(request: IDBOpenDBRequest): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
        request.onupgradeneeded = () => {
            const database = request.result
            for (const name of storeNames) {
                if (!database.objectStoreNames.contains(name)) database.createObjectStore(name)
            }
        }
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
    })
}

function transact<Value>(
    database: IDBDatabase, names: StoreName[], mode: IDBTransactionMode, work: Work<Value>, end: Deadline
): Promise<Value> {
    // Strict, because a record must not be there at `pagehide` and be gone at the next load.
    const transaction = database.transaction(names, mode, {durability: "strict"})
    const done = new Promise<Value>((resolve, reject) => {
        let value: Value
        transaction.oncomplete = () => resolve(value)
        transaction.onabort = () => reject(transaction.error ?? new DOMException("aborted", "AbortError"))
        work((name) => transaction.objectStore(name), (result) => { value = result })
    })
    return end.race(done).catch((error) => {
        try {
            // A transaction that waits behind a frozen tab must not write later what no caller expects any more.
            transaction.abort()
        } catch {
            // It is over already.
        }
        throw error
    })
}

/** A moment after which waiting is over. */
class Deadline {
    isOver = false
    private readonly timer: ReturnType<typeof setTimeout>
    private readonly over: Promise<never>

    constructor(milliseconds: number) {
        let reject: (error: Error) => void = () => undefined
        this.over = new Promise<never>((_, refuse) => { reject = refuse })
        this.over.catch(() => undefined)
        this.timer = setTimeout(() => {
            this.isOver = true
            reject(new StoreError("failed"))
        }, milliseconds)
    }

    race<Value>(promise: Promise<Value>): Promise<Value> {
        return Promise.race([promise, this.over])
    }

    clear(): void {
        clearTimeout(this.timer)
    }
}
