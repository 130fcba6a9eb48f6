// A store and keys in files, for programs that run in Node. Several processes may share the folder.

import {createHash, randomBytes, webcrypto} from "node:crypto"
import {link, mkdir, open, readdir, readFile, rename, rm} from "node:fs/promises"
import {DeviceKey, KeyError, Keys, SessionStore, StoredRecord, StoreError} from "../core/platform.js"
import {importPrivateKey, newKeyPair, webDeviceKey} from "../web/webcrypto.js"

const randomName = (): string => randomBytes(9).toString("base64url")

const codeOf = (error: unknown): string => (error as {code?: string}).code ?? ""

const failure = (error: unknown): StoreError =>
    new StoreError(["EACCES", "EPERM"].includes(codeOf(error)) ? "denied" : "failed", codeOf(error) || String(error))

/** Writes a file durably, which only its owner can read. */
async function write(path: string, text: string): Promise<void> {
    const file = await open(path, "w", 0o600)
    try {
        await file.writeFile(text)
        await file.sync()
    } finally {
        await file.close()
    }
}

async function sync(folder: string): Promise<void> {
    const handle = await open(folder, "r")
    await handle.sync().finally(() => handle.close())
}

/**
 * Keeps the record in `session.N.json`, where N is the version. A swap links a finished file to the next number, which succeeds for
 * one process alone, so that no lock is needed, and none can be left behind (rule 12). Numbers begin anew once the record is gone:
 * the client sees a number with a hash of the content, which no later record has.
 */
export class FileStore implements SessionStore {
    readonly isPersistent = true

    /** `observe` is called between the steps of a swap; tests end the process there. */
    constructor(private readonly folder: string, private readonly observe: (point: string) => void = () => {}) {}

    private path(version: number): string {
        return `${this.folder}/session.${version}.json`
    }

    /** The numbers of the files, the highest first. */
    private async versions(): Promise<number[]> {
        const names = await readdir(this.folder).catch((error) => {
            if (codeOf(error) === "ENOENT") return []
            throw failure(error)
        })
        const numbers = names.map((name) => Number(/^session\.(\d+)\.json$/.exec(name)?.[1] ?? 0))
        return numbers.filter((number) => number > 0).sort((left, right) => right - left)
    }

    async load(): Promise<StoredRecord | null> {
        for (;;) {
            const version = (await this.versions())[0]
            if (version === undefined) return null
            try {
                const text = await readFile(this.path(version), "utf8")
                return {version: `${version}-${createHash("sha256").update(text).digest("base64url")}`, text}
            } catch (error) {
                // Another process has swapped meanwhile.
                if (codeOf(error) !== "ENOENT") throw failure(error)
            }
        }
    }

    async replace(expected: string | null, text: string | null): Promise<boolean> {
        if (((await this.load())?.version ?? null) !== expected) return false
        const versions = await this.versions()
        if ((versions[0] ?? 0) !== parseInt(expected ?? "0", 10)) return false
        if (text === null) return await this.remove(versions)
        const next = (versions[0] ?? 0) + 1
        const temp = `${this.folder}/new-${randomName()}`
        try {
            await mkdir(this.folder, {recursive: true, mode: 0o700})
            await write(temp, text)
            this.observe("temp-written")
            await link(temp, this.path(next))
            await sync(this.folder)
            this.observe("renamed")
            // The number was free again, because others have swapped twice meanwhile.
            if (((await this.versions())[0] ?? 0) > next) {
                await rm(this.path(next), {force: true})
                return false
            }
        } catch (error) {
            if (codeOf(error) === "EEXIST") return false
            throw failure(error)
        } finally {
            await rm(temp, {force: true})
        }
        for (const old of versions) await rm(this.path(old), {force: true})
        return true
    }

    /** Removes the record: the oldest file first, so that no older one counts in between. */
    private async remove(versions: number[]): Promise<boolean> {
        try {
            for (const version of [...versions].reverse()) await rm(this.path(version), {force: true})
            return true
        } catch (error) {
            throw failure(error)
        }
    }

    async setAside(): Promise<void> {
        const version = (await this.versions())[0]
        try {
            if (version) await rename(this.path(version), `${this.folder}/unreadable-${randomName()}`)
        } catch (error) {
            if (codeOf(error) !== "ENOENT") throw failure(error)
        }
    }
}

/** Keeps the key in `device.jwk`. A program that can read the file has the key. */
export class FileKeys implements Keys {
    private known: DeviceKey | null = null

    constructor(private readonly folder: string) {}

    async key(): Promise<DeviceKey | null> {
        if (this.known) return this.known
        let text: string
        try {
            text = await readFile(`${this.folder}/device.jwk`, "utf8")
        } catch (error) {
            if (codeOf(error) === "ENOENT") return null
            throw new KeyError("failed", codeOf(error))
        }
        try {
            const jwk = JSON.parse(text) as JsonWebKey
            this.known = await webDeviceKey(webcrypto, await importPrivateKey(webcrypto, jwk), jwk)
            return this.known
        } catch {
            throw new KeyError("corrupted", "device.jwk holds no key")
        }
    }

    async makeKey(): Promise<DeviceKey> {
        const stored = await this.key()
        if (stored) return stored
        const temp = `${this.folder}/new-${randomName()}`
        try {
            await mkdir(this.folder, {recursive: true, mode: 0o700})
            const pair = await newKeyPair(webcrypto, true)
            await write(temp, JSON.stringify(await webcrypto.subtle.exportKey("jwk", pair.privateKey)))
            // Another process may have been first: its key is the device's.
            await link(temp, `${this.folder}/device.jwk`).catch((error) => {
                if (codeOf(error) !== "EEXIST") throw error
            })
            await sync(this.folder)
        } catch (error) {
            throw new KeyError("failed", codeOf(error) || String(error))
        } finally {
            await rm(temp, {force: true})
        }
        const key = await this.key()
        if (!key) throw new KeyError("failed", "the key is gone")
        return key
    }

    async deleteKey(): Promise<void> {
        this.known = null
        await rm(`${this.folder}/device.jwk`, {force: true})
    }
}
