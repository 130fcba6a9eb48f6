// A store and keys in files, for programs that run in Node. Several processes may share the folder.

import {link, mkdir, open, readdir, readFile, rename, rm} from "node:fs/promises"
import {DeviceKey, deviceKey, newKey, randomText} from "./crypto"
import {Keys, Store, StoreError, Stored} from "./platform"

const codeOf = (error: unknown): string => (error as {code?: string}).code ?? ""

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
 * one process alone, so that no lock is needed, and none can be left behind (rule 12).
 */
export class FileStore implements Store {
    /** `observe` is called between the steps of a swap; tests end the process there. */
    constructor(private readonly folder: string, private readonly observe: (point: string) => void = () => {}) {}

    private path(version: number): string {
        return `${this.folder}/session.${version}.json`
    }

    /** The numbers of the files, the highest first. */
    private async versions(): Promise<number[]> {
        const names = await readdir(this.folder).catch((error) => {
            if (codeOf(error) === "ENOENT") return []
            throw new StoreError("failed")
        })
        const numbers = names.map((name) => Number(/^session\.(\d+)\.json$/.exec(name)?.[1] ?? 0))
        return numbers.filter((number) => number > 0).sort((left, right) => right - left)
    }

    async load(): Promise<Stored | null> {
        for (;;) {
            const version = (await this.versions())[0]
            if (version === undefined) return null
            try {
                return {version: String(version), text: await readFile(this.path(version), "utf8")}
            } catch (error) {
                // Another process has swapped meanwhile.
                if (codeOf(error) !== "ENOENT") throw new StoreError("failed")
            }
        }
    }

    async replace(expected: string | null, text: string): Promise<boolean> {
        await mkdir(this.folder, {recursive: true, mode: 0o700})
        const versions = await this.versions()
        if ((versions[0] ?? 0) !== Number(expected ?? 0)) return false
        const next = (versions[0] ?? 0) + 1
        const temp = `${this.folder}/new-${randomText(9)}`
        try {
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
            throw new StoreError("failed")
        } finally {
            await rm(temp, {force: true})
        }
        for (const old of versions) await rm(this.path(old), {force: true})
        return true
    }

    async setAside(): Promise<void> {
        const version = (await this.versions())[0]
        if (version) await rename(this.path(version), `${this.folder}/unreadable-${randomText(9)}`)
    }
}

/** Keeps the key in `device.jwk`. A program that can read the file has the key. */
export class FileKeys implements Keys {
    constructor(private readonly folder: string) {}

    async key(): Promise<DeviceKey | null> {
        try {
            return await deviceKey(JSON.parse(await readFile(`${this.folder}/device.jwk`, "utf8")) as JsonWebKey)
        } catch (error) {
            if (codeOf(error) === "ENOENT") return null
            throw error
        }
    }

    async makeKey(): Promise<DeviceKey> {
        const stored = await this.key()
        if (stored) return stored
        await mkdir(this.folder, {recursive: true, mode: 0o700})
        const temp = `${this.folder}/new-${randomText(9)}`
        await write(temp, JSON.stringify(await newKey()))
        try {
            // Another process may have been first: its key is the device's.
            await link(temp, `${this.folder}/device.jwk`).catch((error) => {
                if (codeOf(error) !== "EEXIST") throw error
            })
        } finally {
            await rm(temp, {force: true})
        }
        const key = await this.key()
        if (!key) throw new Error("the key is gone")
        return key
    }
}
