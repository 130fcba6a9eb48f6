// The user's own account: profile, devices, the switch for logins, password, modes, and users without a name.

import {base64, utf8} from "../bytes.js"
import {SojournError, unreachable} from "../errors.js"
import {Passkeys} from "./passkeys.js"
import {HTTPAnswer} from "../platform.js"
import {hasSession} from "../record.js"
import {Credentials} from "./signing-in.js"
import {randomText} from "../signing.js"
import {account, Account, AuthenticationMode} from "../state.js"
import {integer, members, text} from "../verdict.js"

/** A device on which the user is signed in. */
export interface Device {
    id: string
    name?: string
    /** For example `iOS 18.1`. */
    platform?: string
    appVersion?: string
    /** In Unix seconds of the server. */
    lastSeenAt: number
    /** Whether it is this device. */
    isCurrent: boolean
}

/** The user's own switch for logins. */
export interface LoginSettings {
    /** Whether new logins and renewals are refused, on all devices. */
    loginsDisabled: boolean
    /** When the switch takes effect on devices that are signed in: at once, or when their access tokens expire. */
    effective?: "immediate" | "on_expiry"
}

/** What becomes of a member of the profile: a text, null for none, or absent for what it is. */
export interface ProfileChange {
    username?: string | null
    displayName?: string | null
    givenName?: string | null
    familyName?: string | null
    country?: string | null
    phoneNumber?: string | null
}

export type Identity = {username: string; password: string} | {idToken: string; provider: string; nonce?: string}

export abstract class AccountCalls extends Passkeys {
    /** Fetches the profile of the user, and stores it. */
    async refreshProfile(): Promise<Account> {
        return await this.storeProfile(await this.call({method: "GET", path: "/v1/me"}))
    }

    /** Changes the profile, and stores it. A member that the server keeps to itself is `refused` with the code `not_editable`. */
    async updateProfile(change: ProfileChange): Promise<Account> {
        const {username, displayName, givenName, familyName, country, phoneNumber} = change
        const body = {
            username, display_name: displayName, given_name: givenName, family_name: familyName, country,
            phone_number: phoneNumber,
        }
        const call = {method: "PATCH", path: "/v1/me", members: body, isForItself: true, isNewEachTime: true}
        return await this.storeProfile(await this.keyed(call))
    }

    /** The devices on which the user is signed in, the last seen one first. */
    async devices(): Promise<Device[]> {
        return this.itemsOf(await this.call({method: "GET", path: "/v1/me/devices"})).map((body) => {
            const device: Device = {
                id: text(body["device_id"]) ?? "", lastSeenAt: integer(body["last_seen_at"]) ?? 0,
                isCurrent: body["current"] === true,
            }
            const [name, platform, appVersion] = [body["name"], body["platform"], body["app_version"]].map(text)
            return {...device, ...(name && {name}), ...(platform && {platform}), ...(appVersion && {appVersion})}
        })
    }

    /** Ends the user's sessions on a device. On this device it is a sign-out. */
    async endDevice(id: string): Promise<void> {
        await this.call({method: "DELETE", path: "/v1/me/devices/" + encodeURIComponent(id)})
        if (this.cache?.loaded?.record.device_id === id) await this.leave(false)
    }

    /** Ends all sessions of the user, this one included. */
    async endAllDevices(): Promise<void> {
        await this.call({method: "DELETE", path: "/v1/me/devices"})
        await this.leave(false)
    }

    /** The user's own switch for logins. */
    async loginSettings(): Promise<LoginSettings> {
        return settingsOf(await this.call({method: "GET", path: "/v1/me/login-settings"}))
    }

    /**
     * Switches logins of the user off or on, on all devices. `revokeSessions`: all sessions end as well, this one included. `password`
     * counts instead of the session, because no token works while logins are off at once.
     */
    async setLoginsDisabled(
        isDisabled: boolean,
        options: {effective?: "immediate" | "on_expiry"; revokeSessions?: boolean; password?: string} = {}
    ): Promise<LoginSettings> {
        const {effective = "immediate", revokeSessions, password} = options
        const body = {logins_disabled: isDisabled, effective, revoke_sessions: revokeSessions || undefined}
        const call = {method: "PUT", path: "/v1/me/login-settings", members: body}
        if (password === undefined) return settingsOf(await this.call(call))
        const record = (await this.current())?.record
        const name = record && hasSession(record) ? account(record.user).username : undefined
        if (!name) throw new SojournError("notSignedIn")
        const request = this.request(call.method, call.path, body)
        request.fields["Authorization"] = "Basic " + base64(utf8(`${name}:${password}`))
        const answer = await this.plainAnswer(request)
        this.retries.noteAnswer()
        return settingsOf(answer)
    }

    /** Changes the password. The user's sessions on other devices end. */
    async changePassword(from: string, to: string): Promise<void> {
        const body = {old_password: from, new_password: to}
        await this.call({method: "PUT", path: "/v1/me/password", members: body})
    }

    // Users without a name

    /**
     * Signs in without a user: the server makes an anonymous one, and `nameAccount` gives it a name later. If an anonymous user is
     * signed in already, the account is returned and nothing is sent.
     */
    async signInAnonymously(mode: AuthenticationMode = "NO"): Promise<Account> {
        // What hinders the read hinders the login too, unless a login mends it.
        const user = account((await this.living().catch(() => null))?.user)
        if (user.isAnonymous) return user
        const credentials: Credentials = {members: {anonymous: true}}
        try {
            return await this.logIn(credentials, {mode})
        } catch (error) {
            if (!(error instanceof SojournError) || error.refusal?.code !== "idempotency_key_used") throw error
            // The answer to an earlier attempt was lost too long ago: that user is lost, and a new key makes a new one.
            const secret = randomText(this.platform, 32)
            await this.change((record) => ({...record, retry_secret: secret}))
            return await this.logIn(credentials, {mode})
        }
    }

    /** Gives the anonymous user a name and a password, or an identity of a provider. The session goes on, and the user keeps the ID. */
    async nameAccount(by: Identity): Promise<Account> {
        const body = "idToken" in by
            ? {id_token: by.idToken, provider: by.provider, nonce: by.nonce}
            : {username: by.username, password: by.password}
        return await this.storeProfile(await this.keyed({method: "POST", path: "/v1/me/account", members: body}), true)
    }

    // Modes

    /**
     * Changes how the app guards the tokens of this session. In the mode `PASSWORD` another process or tab asks for the password before
     * it uses them; nothing is encrypted. A change that guards less needs the user's presence within five minutes, or `password`.
     */
    async switchMode(to: AuthenticationMode, password?: string): Promise<void> {
        let record = await this.living()
        if (!this.isOpen(record)) {
            if (password === undefined) throw new SojournError("presenceRequired", {requirement: this.waysToOpen()})
            await this.unlock({password})
            record = await this.living()
        }
        if (this.modeOf(record) === to) return
        const body = {authentication_mode: to, password}
        await this.call({method: "PUT", path: "/v1/me/authentication-mode", members: body, isForItself: true})
        this.unlocked = {session: record.session_id, at: this.uptime}
        await this.change((stored) =>
            stored.session_id === record.session_id && hasSession(stored) ? {...stored, authentication_mode: to} : null)
        this.publishState()
    }

    /** Opens the session, and answers what the server asks of the user. The session goes on with its keys. */
    async unlock(
        by: {password: string} | {idToken: string; provider: string; nonce?: string} | {passkey: true}
    ): Promise<Account> {
        const record = await this.living()
        if ("passkey" in by) {
            if (!this.isOpen(record)) throw new SojournError("presenceRequired", {requirement: this.waysToOpen()})
            await this.showPresence(by)
            return account(record.user)
        }
        const name = account(record.user).username
        const credentials = "idToken" in by
            ? this.idTokenOf(by.idToken, by.provider, by.nonce)
            : name && this.passwordOf(name, by.password)
        if (!credentials) throw new SojournError("presenceRequired", {requirement: {ways: ["id_token"]}})
        return await this.logIn(credentials, {mode: this.modeOf(record), continuing: record})
    }
}

function settingsOf(answer: HTTPAnswer): LoginSettings {
    const body = members(answer.text)
    const loginsDisabled = body?.["logins_disabled"]
    if (typeof loginsDisabled !== "boolean") throw unreachable("not an answer of the server", answer.status)
    const effective = body?.["effective"]
    return effective === "immediate" || effective === "on_expiry" ? {loginsDisabled, effective} : {loginsDisabled}
}
