// The key of a device: a pair on P-256 that no script can export. IndexedDB stores it as it is, beside the record.

import {DeviceKey, KeyError, Keys, PublicJWK} from "../core/platform.js"
import {newKeyPair, publicJWK, webDeviceKey} from "../web/webcrypto.js"
import {Database, NoDatabase} from "./database.js"

const name = "device"

interface StoredPair {
    privateKey: CryptoKey
    jwk: PublicJWK
}

/** A new pair. Only its public half leaves WebCrypto. */
export async function newPair(crypto: Crypto): Promise<StoredPair> {
    const pair = await newKeyPair(crypto, false)
    return {privateKey: pair.privateKey, jwk: publicJWK(await crypto.subtle.exportKey("jwk", pair.publicKey))}
}

export class IndexedDBKeys implements Keys {
    /** The stored pair, as this page has last seen it. */
    private seen: StoredPair | null = null

    constructor(private readonly database: Database, private readonly crypto: Crypto) {}

    async key(): Promise<DeviceKey | null> {
        const value = await this.asked(this.database.run(["keys"], "readonly", (store, result: (value: unknown) => void) => {
            const request = store("keys").get(name)
            request.onsuccess = () => result(request.result)
        }))
        if (value === undefined) {
            this.seen = null
            return null
        }
        return await this.opened(value)
    }

    async makeKey(): Promise<DeviceKey> {
        const stored = await this.key()
        if (stored) return stored
        // Made before the transaction, because one does not outlive an `await` of WebCrypto.
        const pair = await newPair(this.crypto)
        const value = await this.asked(this.database.run(["keys"], "readwrite", (store, result: (value: unknown) => void) => {
            const keys = store("keys")
            const adding = keys.add(pair, name)
            adding.onsuccess = () => result(pair)
            adding.onerror = (event) => {
                if (adding.error?.name !== "ConstraintError") return
                // Another tab was first: its key is the device's, and the transaction goes on.
                event.preventDefault()
                event.stopPropagation()
                const reading = keys.get(name)
                reading.onsuccess = () => result(reading.result)
            }
        }))
        return await this.opened(value)
    }

    async deleteKey(): Promise<void> {
        this.seen = null
        await this.asked(this.database.run(["keys"], "readwrite", (store) => void store("keys").delete(name)))
    }

    /** Writes the pair once more into a store that has lost it while the page was open. A pair that is there stays. */
    restore(keys: IDBObjectStore): void {
        const pair = this.seen
        if (!pair) return
        const reading = keys.getKey(name)
        reading.onsuccess = () => {
            if (reading.result === undefined) keys.add(pair, name)
        }
    }

    private async opened(value: unknown): Promise<DeviceKey> {
        const {privateKey, jwk} = (value ?? {}) as Partial<StoredPair>
        if (!(privateKey instanceof CryptoKey) || !jwk) throw new KeyError("corrupted")
        this.seen = {privateKey, jwk}
        return await webDeviceKey(this.crypto, privateKey, jwk)
    }

    /** An error of the database is none of "there is no key". */
    private async asked<Value>(answer: Promise<Value>): Promise<Value> {
        try {
            return await answer
        } catch (error) {
            throw error instanceof NoDatabase ? error : new KeyError("failed")
        }
    }
}
