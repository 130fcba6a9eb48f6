// The record in memory and in the store, and the state that follows from it.

import {serverBase, SojournConfiguration} from "../configuration.js"
import {PresenceRequirement, SojournError, sojournError} from "../errors.js"
import {Environment, Platform, SessionStore, StoredRecord, StoreError} from "../platform.js"
import {hasSession, Loaded, parseRecord, SessionRecord, signedOut} from "../record.js"
import {randomPart, randomText} from "../signing.js"
import {account, AuthenticationMode, Reachability, SessionState, StateBox} from "../state.js"
import {Retries, ServerClock} from "../time.js"

/** For how many seconds a loaded record is good for calls by which nothing is renewed. */
const cacheAge = 1

export class SessionBase {
    protected readonly server: string
    protected readonly platform: Platform
    protected readonly store: SessionStore
    protected readonly box = new StateBox({kind: "starting"})
    /** The record as it was last loaded, and when. Nothing that could not be stored is ever here. */
    protected cache: {loaded: Loaded | null; at: number} | undefined
    protected readonly time: ServerClock
    protected readonly retries: Retries
    /** Why the last renewal failed. */
    protected heldError: SojournError | null = null
    protected reachability: Reachability = {kind: "current"}
    /** What was asked of the user: by the server until a renewal succeeds, by an API until the user's presence is shown. */
    protected presence: {requirement: PresenceRequirement; isOfAPI: boolean} | null = null
    /** The session that the user has opened here, and when. */
    protected unlocked: {session: string | undefined; at: number} | null = null
    protected rejected: string | null = null
    protected rejections: number[] = []
    /** A sign-out that the store has not taken yet. */
    protected isSigningOut = false
    protected isOwing = true
    private loads = 0
    private lastLoad = 0

    constructor(protected readonly configuration: SojournConfiguration, protected readonly environment: Environment) {
        this.server = serverBase(configuration.server)
        this.platform = environment.platform
        this.store = environment.store
        this.time = new ServerClock(this.platform.clock)
        this.retries = new Retries(this.platform.clock, () => randomPart(this.platform))
    }

    /** The last known state, for the first frame. */
    get state(): SessionState {
        return this.box.state
    }

    /** The present state, then each change. */
    get states(): AsyncIterable<SessionState> {
        return this.box
    }

    /** Calls back with the present state, then with each change. Returns the end of it. */
    onState(listener: (state: SessionState) => void): () => void {
        return this.box.listen(listener)
    }

    /** How the app guards the stored session; undefined: none is known. */
    get authenticationMode(): AuthenticationMode | undefined {
        const record = this.cache?.loaded?.record
        return record && hasSession(record) ? this.modeOf(record) : undefined
    }

    /** When the session ends at the latest, in Unix seconds of the server; undefined: no session is known, or it has ended. */
    get sessionExpiresAt(): number | undefined {
        const record = this.cache?.loaded?.record
        return record && !record.ended ? record.session_expires_at : undefined
    }

    protected get uptime(): number {
        return this.platform.clock.uptime()
    }

    protected get now(): number {
        return this.time.now()
    }

    protected log(line: string): void {
        this.configuration.log?.(line)
    }

    protected modeOf(record: SessionRecord): AuthenticationMode {
        const mode = record.authentication_mode
        return mode === "PASSWORD" || mode === "BIOMETRIC" ? mode : "NO"
    }

    protected pause(seconds: number): Promise<void> {
        return new Promise((resume) => void this.platform.after(seconds, resume))
    }

    // The record

    /** Loads the record, and publishes the state that follows from it. */
    protected async load(): Promise<Loaded | null> {
        if (this.isSigningOut) {
            await this.settleSignOut().catch(() => {
                throw new SojournError("notSignedIn")
            })
        }
        try {
            return await this.loadStored()
        } catch (error) {
            throw this.noteFailure(error)
        }
    }

    protected async loadStored(): Promise<Loaded | null> {
        this.lockIfLapsed()
        const number = ++this.loads
        const stored = await this.stored()
        const loaded = stored && {version: stored.version, record: parseRecord(stored.text)}
        // A load that began earlier may come back later, with what is no longer stored.
        if (number > this.lastLoad) {
            this.lastLoad = number
            this.noteLoaded(loaded)
        }
        return loaded
    }

    private async stored(): Promise<StoredRecord | null> {
        try {
            return await this.store.load()
        } catch (error) {
            throw error instanceof StoreError ? error : new StoreError("failed", String(error))
        }
    }

    /** Writes if that version is still stored. */
    protected async replace(version: string | null, record: SessionRecord | null): Promise<boolean> {
        try {
            return await this.store.replace(version, record && JSON.stringify(record))
        } catch (error) {
            throw error instanceof StoreError ? error : new StoreError("failed", String(error))
        }
    }

    /** The record, from memory if it was loaded within the last second. */
    protected async current(): Promise<Loaded | null> {
        const cache = this.cached()
        if (cache) return cache.loaded
        try {
            return await this.load()
        } catch (error) {
            // What was read is good for calls, until it has to be renewed.
            const record = this.cache?.loaded?.record
            const isGood = record && (record.refresh_after ?? record.expires_at ?? 0) > this.now
            if (this.cache && isGood && !this.isSigningOut) return this.cache.loaded
            throw error
        }
    }

    protected cached(): {loaded: Loaded | null} | null {
        this.lockIfLapsed()
        const {cache} = this
        return cache && this.uptime - cache.at < cacheAge && !this.isSigningOut ? cache : null
    }

    private noteLoaded(loaded: Loaded | null): void {
        const previous = this.cache?.loaded?.record
        const record = loaded?.record
        this.cache = {loaded, at: this.uptime}
        if (record?.clock_offset !== undefined) this.time.recall(record.clock_offset)
        if (previous?.session_id !== record?.session_id) {
            this.forgetTroubles()
        } else if (this.reachability.kind === "unreachable" && (record?.issued_at ?? 0) >= this.reachability.since) {
            // Another process has reached the server since.
            this.reachability = {kind: "current"}
            this.noteReached()
        }
        this.publishState()
    }

    protected forgetTroubles(): void {
        this.reachability = {kind: "current"}
        this.presence = this.rejected = this.heldError = null
        this.retries.noteAnswer()
    }

    /** The server has been reached since the last renewal failed: what failed then is no longer known to be so. */
    protected noteReached(): void {
        if (this.heldError?.kind !== "unreachable") return
        this.retries.noteStart()
        if (!this.retries.hold(false)) this.heldError = null
    }

    /** Changes the stored record, as often as another process is first. `change` returns null to leave it as it is. */
    protected async update(change: (record: SessionRecord) => SessionRecord | null): Promise<Loaded | null> {
        for (let round = 0; round < 16; round++) {
            const loaded = await this.loadStored()
            const changed = loaded && change(loaded.record)
            if (!loaded || !changed) return loaded
            if (await this.replace(loaded.version, changed)) return await this.loadStored()
        }
        throw new StoreError("failed", "the record changes all the time")
    }

    /** As `update`, for verbs. */
    protected async change(change: (record: SessionRecord) => SessionRecord | null): Promise<Loaded | null> {
        try {
            return await this.update(change)
        } catch (error) {
            throw sojournError(error)
        }
    }

    /** The stored record; written, if there is none. One that cannot be read is set aside, and kept (19). */
    protected async prepare(): Promise<Loaded> {
        const {deviceID} = this.configuration
        try {
            if (this.isSigningOut) await this.settleSignOut()
            for (let round = 0; round < 16; round++) {
                let expected: string | null = null
                try {
                    const loaded = await this.loadStored()
                    if (loaded && (deviceID ?? loaded.record.device_id) === loaded.record.device_id) return loaded
                    expected = loaded?.version ?? null
                } catch (error) {
                    if (!(error instanceof StoreError) || error.kind !== "corrupted") throw error
                    await this.store.setAside()
                    // What cannot be set aside, because the store can read it, is written over.
                    expected = (await this.stored())?.version ?? null
                }
                const id = deviceID ?? randomText(this.platform, 16)
                await this.replace(expected, {schema: 1, device_id: id, retry_secret: randomText(this.platform, 32)})
            }
        } catch (error) {
            throw sojournError(error)
        }
        throw new SojournError("store", {error: new StoreError("failed", "the record changes all the time")})
    }

    /** The record of a session that the server has not ended. */
    protected async living(): Promise<SessionRecord> {
        const record = (await this.current())?.record
        if (!record || !hasSession(record)) throw new SojournError("notSignedIn")
        if (record.ended) throw new SojournError("ended", {reason: record.ended.reason})
        return record
    }

    /** Writes a sign-out. */
    protected async settleSignOut(): Promise<void> {
        const secret = randomText(this.platform, 32)
        const {isOwing} = this
        await this.update((record) => (hasSession(record) ? signedOut(record, secret, isOwing) : null))
        this.isSigningOut = false
        this.unlocked = null
        this.publishState()
    }

    // The state

    /** Locks the session at once: in the mode `PASSWORD` the next use of its tokens needs `unlock`. */
    lock(): void {
        this.unlocked = null
        this.publishState()
    }

    private lockIfLapsed(): void {
        const limit = this.configuration.unlockLasts
        if (this.unlocked && limit !== undefined && this.uptime - this.unlocked.at >= limit) this.lock()
    }

    /** Whether the tokens may be used without the user: in the mode `PASSWORD` only here, after the user has given the password. */
    protected isOpen(record: SessionRecord): boolean {
        return this.modeOf(record) !== "PASSWORD" || (!!this.unlocked && this.unlocked.session === record.session_id)
    }

    protected waysToOpen(): PresenceRequirement {
        return {ways: ["password", "id_token"]}
    }

    protected publishState(): void {
        if (this.isSigningOut) return this.box.publish({kind: "signedOut", why: "byUser"})
        if (this.cache) this.box.publish(this.stateOf(this.cache.loaded?.record))
    }

    private stateOf(record: SessionRecord | undefined): SessionState {
        if (!record || !hasSession(record)) return {kind: "signedOut", why: record?.signed_out ? "byUser" : "never"}
        const user = account(record.user)
        if (record.ended) {
            const {reason} = record.ended
            if (reason === "user_deleted") return {kind: "signedOut", why: "deleted"}
            return {kind: "ended", reason, account: user, mode: this.modeOf(record)}
        }
        const requirement = this.isOpen(record) ? this.presence?.requirement : this.waysToOpen()
        if (requirement) return {kind: "presenceRequired", requirement, account: user}
        const {isPersistent} = this.store
        return {kind: "signedIn", account: user, reachability: this.reachability, isPersistent}
    }

    /** Publishes that the store could not be read, unless it was read before: a store that cannot tell is no missing session (1). */
    private noteFailure(error: unknown): SojournError {
        const failure = sojournError(error)
        this.log(`the store cannot be read: ${failure.kind}`)
        if (!this.cache && !this.isSigningOut && error instanceof StoreError) {
            if (error.kind === "locked") this.box.publish({kind: "locked"})
            else if (error.kind === "corrupted") this.box.publish({kind: "signedOut", why: "unreadable"})
            else this.box.publish({kind: "storeFailed", error})
        }
        return failure
    }
}
