// Every verb of the client against the real server:  SOJOURN_BINARY=… node walk.mjs COMPILED
// where COMPILED is the folder in which the driver of the conformance scenarios was compiled.

import assert from "node:assert/strict"
import {createHmac} from "node:crypto"
import {startServer} from "./server.mjs"

const compiled = process.argv[2]
const {Sojourn, SojournError, MemoryStore, FileKeys, nodePlatform} =
    await import(`${compiled}/Sources/Clients/TypeScript/src/node/index.js`)
const {SoftwarePasskeys} = await import(`${compiled}/Tests/Conformance/typescript/passkeys.js`)

const server = await startServer(process.env.SOJOURN_BINARY, {
    SOJOURN_PASSKEYS_RP_ID: "localhost", SOJOURN_PASSKEYS_ORIGINS: "https://localhost",
})
const password = "correct horse battery staple"
let count = 0
const clients = []

function client(settings = {}, parts = {}) {
    const folder = `${server.folder}/client-${++count}`
    const made = new Sojourn({server: server.url, clientID: "mobile", deviceName: "Test", ...settings}, {folder, ...parts})
    clients.push(made)
    return made
}

async function fails(promise, kind, code) {
    const error = await promise.then(() => assert.fail("succeeded"), (error) => error)
    assert.ok(error instanceof SojournError, String(error))
    assert.deepEqual([error.kind, error.refusal?.code ?? error.reason], [kind, code ?? error.refusal?.code ?? error.reason])
    return error
}

/** The code of an authenticator app (RFC 6238). */
function totp(secret, seconds) {
    const bits = [...secret.replace(/=+$/, "")].map((letter) =>
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("")
    const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))
    const counter = Buffer.alloc(8)
    counter.writeBigUInt64BE(BigInt(Math.floor(seconds / 30)))
    const hash = createHmac("sha1", key).update(counter).digest()
    const value = hash.readUInt32BE(hash[19] & 15) & 0x7fffffff
    return String(value % 1e6).padStart(6, "0")
}

const steps = {
    async "name and password, states, profile, devices, switch, password"() {
        await server.admin("POST", "users", {username: "anna", password})
        const app = client()
        const seen = []
        const end = app.onState((state) => seen.push(state.kind))
        assert.equal((await app.start()).kind, "signedOut")
        await fails(app.accessToken(), "notSignedIn")
        await fails(app.signIn({username: "anna", password: "wrong"}), "refused", "invalid_credentials")
        const account = await app.signIn({username: "anna", password})
        assert.equal(account.username, "anna")
        assert.deepEqual(seen, ["starting", "signedOut", "signedIn"])
        assert.equal(app.state.isPersistent, true)
        end()
        assert.equal((await app.updateProfile({displayName: "Anna A."})).displayName, "Anna A.")
        assert.equal((await app.refreshProfile()).displayName, "Anna A.")
        assert.equal((await app.updateProfile({displayName: null})).displayName, undefined)
        const other = client()
        await other.signIn({username: "anna", password})
        const devices = await app.devices()
        assert.equal(devices.length, 2)
        assert.equal(devices.filter((device) => device.isCurrent).length, 1)
        await app.endDevice(devices.find((device) => !device.isCurrent).id)
        await fails(other.accessToken("fresh").then((token) => other.accessToken({after: token})), "ended", "revoked_by_user")
        assert.deepEqual(await app.loginSettings(), {loginsDisabled: false})
        assert.equal((await app.setLoginsDisabled(true)).loginsDisabled, true)
        await fails(app.refreshProfile(), "suspended", "login_disabled_by_user")
        assert.equal((await app.setLoginsDisabled(false, {password})).loginsDisabled, false)
        await app.changePassword(password, password + "2")
        await app.changePassword(password + "2", password)
        const response = await fails(app.fetch(server.url + "/oauth/userinfo"), "misconfigured")
        assert.match(response.detail, /apis/)
        assert.equal(await app.signOut(), true)
        assert.deepEqual(app.state, {kind: "signedOut", why: "byUser"})
        assert.equal(await app.settle(5), true)
    },

    async "scope and grants that are missing are named"() {
        await server.admin("PATCH", "clients/mobile", {scope: "account orders"})
        const app = client({scope: "orders"})
        await app.signIn({username: "anna", password})
        await fails(app.devices(), "notAllowed", "insufficient_scope")
        assert.equal(app.state.kind, "signedIn")
        await server.admin("PATCH", "clients/mobile", {login_methods: ["passkey"]})
        await fails(client().signIn({username: "anna", password}), "notAllowed", "login_method_not_allowed")
        await server.admin("PATCH", "clients/mobile", {login_methods: null})
    },

    async "sign-up by mail, login by a code, another mailbox, reset, deletion"() {
        await server.admin("PATCH", "clients/mobile", {sign_up: true})
        const app = client()
        const first = await app.signUp("berta@sojourn.test")
        assert.equal((await app.signUp("berta@sojourn.test")).id, first.id)
        await fails(first.confirm("00000000"), "refused", "invalid_code")
        const known = [await server.mailedCode("berta@sojourn.test")]
        assert.equal((await first.confirm(known[0])).isProven, true)
        assert.equal((await app.finishSignUp({password})).email, "berta@sojourn.test")
        assert.equal(await app.verification("sign_up"), null)
        const change = await app.changeEmail("berta@other.test", password)
        assert.equal(change.email, "berta@other.test")
        const code = await server.mailedCode("berta@other.test")
        assert.equal((await app.confirmEmail(code)).email, "berta@other.test")
        const forgetful = client()
        const reset = await forgetful.requestPasswordReset("berta@other.test")
        await reset.confirm(await server.mailedCode("berta@other.test", [code]))
        await forgetful.resetPassword(password + " new")
        await fails(app.accessToken("fresh").then((token) => app.accessToken({after: token})), "ended", "password_changed")
        await forgetful.signIn({username: "berta@other.test", password: password + " new"})
        assert.ok((await forgetful.deleteAccount(password + " new")) > Date.now() / 1000)
        assert.equal(forgetful.state.kind, "signedOut")
        const login = {username: "berta@other.test", password: password + " new"}
        await fails(forgetful.signIn(login), "refused", "deletion_pending")
        assert.equal((await forgetful.cancelDeletion(login)).email, "berta@other.test")
    },

    async "an anonymous user gets a name"() {
        await server.admin("PATCH", "clients/mobile", {anonymous_users: true})
        const app = client()
        const nameless = await app.signInAnonymously()
        assert.equal(nameless.isAnonymous, true)
        assert.equal((await app.signInAnonymously()).userID, nameless.userID)
        const named = await app.nameAccount({username: "carla", password})
        assert.deepEqual([named.userID, named.username, named.isAnonymous], [nameless.userID, "carla", false])
        await app.accessToken()
        await app.forgetDevice()
        assert.deepEqual(app.state, {kind: "signedOut", why: "never"})
    },

    async "passkeys, presence and second factors"() {
        await server.admin("PATCH", "users/username:anna", {email: "anna@sojourn.test", email_verified: true})
        const passkeys = new SoftwarePasskeys()
        const app = client({}, {passkeys})
        await app.signIn({username: "anna", password})
        const added = await app.addPasskey("Laptop")
        assert.deepEqual((await app.passkeys()).map((passkey) => passkey.id), [added.id])
        await app.showPresence({passkey: true})
        assert.equal((await client({}, {passkeys}).signIn({passkey: true})).username, "anna")
        passkeys.expect(["canceled"])
        await fails(app.showPresence({passkey: true}), "cancelled")
        const factor = await app.addAuthenticator("Phone")
        const now = Date.now() / 1000
        const codes = await factor.confirm(totp(factor.secret, now))
        assert.ok(codes.length > 4)
        assert.equal((await app.secondFactors()).authenticators.length, 1)
        const second = await fails(client({}, {passkeys}).signIn({username: "anna", password}), "secondFactorRequired")
        assert.ok(second.login.methods.includes("totp"))
        await fails(second.login.confirm("000000"), "refused", "wrong_second_factor")
        assert.equal((await second.login.confirm(codes[0])).username, "anna")
        assert.equal((await app.makeRecoveryCodes()).length, codes.length)
        await app.removeAuthenticator(factor.id)
        await app.removePasskey(added.id)
        assert.deepEqual(await app.passkeys(), [])
    },

    async "modes: another process asks for the password"() {
        const folder = server.folder + "/modes"
        const app = client({}, {folder})
        await app.signIn({username: "anna", password})
        await app.switchMode("PASSWORD")
        const next = client({}, {folder})
        assert.equal((await next.restore()).kind, "presenceRequired")
        await fails(next.accessToken(), "presenceRequired")
        await fails(next.unlock({password: "wrong"}), "refused", "invalid_credentials")
        await next.unlock({password})
        assert.equal(next.state.kind, "signedIn")
        next.lock()
        assert.equal(next.state.kind, "presenceRequired")
        await next.switchMode("NO", password)
        assert.equal(next.state.kind, "signedIn")
    },

    async "a backend's session is adopted"() {
        const app = client()
        const identity = await app.deviceIdentity()
        assert.ok(identity.keyThumbprint)
        const path = "users/username:anna/sessions"
        const tokens = await server.admin("POST", path, {device: {id: identity.deviceID}})
        assert.equal((await app.adopt(JSON.stringify(tokens))).username, "anna")
        await app.accessToken()
        await app.endAllDevices()
        assert.equal(app.state.kind, "signedOut")
    },

    async "the login page: only the answer to the own request counts"() {
        const {grant_types: grants} = await server.admin("GET", "clients/mobile")
        const redirects = {grant_types: [...grants, "authorization_code"], redirect_uris: ["https://shop.test/back"]}
        await server.admin("PATCH", "clients/mobile", redirects)
        const app = client()
        const url = new URL(await app.beginSignIn({redirectURI: "https://shop.test/back", prompt: "login"}))
        assert.equal(url.searchParams.get("code_challenge_method"), "S256")
        const state = url.searchParams.get("state")
        const back = (members) => "https://shop.test/back?" + new URLSearchParams({state, iss: server.url, ...members})
        assert.equal(app.isCallback(back({code: "x"})), true)
        assert.equal(app.isCallback("https://shop.test/back?x=1"), false)
        await fails(app.signIn({callback: back({code: "x", iss: "https://evil.test"})}), "refused", "iss_mismatch")
        await fails(app.signIn({callback: back({code: "x"}).replace("/back", "/other")}), "refused", "redirect_uri_mismatch")
        await fails(app.signIn({callback: back({code: "x", state: "other"})}), "refused", "state_mismatch")
        await fails(app.signIn({callback: back({error: "server_error"})}), "unreachable")
        const [one, two] = [app.signIn({callback: back({code: "x"})}), app.signIn({callback: back({code: "x"})})]
        await fails(one, "refused", "invalid_grant")
        await fails(two, "refused", "invalid_grant")
        await fails(app.signIn({callback: back({code: "x"})}), "refused", "no_login_pending")
    },

    async "what a network brings besides the server ends nothing"() {
        const system = nodePlatform()
        let answer = null
        const platform = {
            ...system, after: (seconds, action) => system.after(Math.min(seconds, 0.01), action),
            send: (request, limit) => (answer ? Promise.resolve(answer) : system.send(request, limit)),
        }
        const app = client({}, {platform})
        await app.signIn({username: "anna", password})
        const page = (status, text, fields = {}) => ({status, text, field: (name) => fields[name] ?? null})
        for (const wrong of [
            page(200, "<html>Welcome to the hotel</html>"), page(302, "", {Location: "https://evil.test"}), page(0, ""),
            page(401, "<html>"), page(403, "{}"), page(200, "[]"), page(200, "{\"access_token\": 5}"), page(503, "", {"Retry-After": "0"}),
        ]) {
            answer = wrong
            await fails(app.refreshProfile(), "unreachable").catch(() => fails(app.refreshProfile(), "refused"))
            assert.equal(app.state.kind, "signedIn", JSON.stringify(wrong))
        }
        answer = null
        assert.equal((await app.refreshProfile()).username, "anna")
    },

    async "records of another version, half records and full stores keep everything"() {
        for (const text of ["{", "[]", "{\"schema\": 2}", "{\"schema\": 1, \"device_id\": \"d\"}", "null", "5"]) {
            const store = new MemoryStore()
            await store.replace(null, text)
            const app = client({}, {store})
            assert.deepEqual(await app.start(), {kind: "signedOut", why: "unreadable"})
            await app.signIn({username: "anna", password})
            assert.deepEqual(store.asides, [text])
        }
        const store = new MemoryStore()
        const app = client({}, {store})
        await app.signIn({username: "anna", password})
        const {replace} = store
        store.replace = () => Promise.reject(new Error("QuotaExceededError"))
        await fails(app.accessToken("fresh").then((token) => app.accessToken({after: token})), "store")
        assert.equal(app.state.kind, "signedIn")
        assert.equal(await app.signOut(), false)
        assert.equal(app.state.kind, "signedOut")
        store.replace = replace
        await fails(app.accessToken(), "notSignedIn")
        assert.equal(await app.settle(5), true)
        const keyless = client({}, {store: new MemoryStore(), keys: {...new FileKeys("/nowhere"), key: async () => null}})
        await fails(keyless.signIn({username: "anna", password}), "key").catch(() => null)
    },

    async "a refresh token that a thief has copied ends the session, for both"() {
        // Each renewal rotates: a token that was copied a moment ago is the newest one for a while otherwise.
        await server.admin("PUT", "settings/sessions", {rotation_interval: 0})
        const store = new MemoryStore()
        const app = client({renewal: "refreshToken"}, {store})
        await app.signIn({username: "anna", password})
        const {refresh_token, device_id} = JSON.parse((await store.load()).text)
        for (let round = 0; round < 2; round++) {
            const token = await app.accessToken()
            assert.notEqual((await app.accessToken({after: token})).value, token.value)
        }
        const thief = await fetch(server.url + "/oauth/token", {
            method: "POST",
            body: new URLSearchParams({grant_type: "refresh_token", client_id: "mobile", device_id, refresh_token}),
        })
        assert.deepEqual([thief.status, (await thief.json()).reason], [400, "refresh_token_reused"])
        // The next start of the app, because one that has just renewed for a refusal waits before it does so again.
        const next = client({renewal: "refreshToken"}, {store})
        await next.start()
        await fails(next.accessToken().then((token) => next.accessToken({after: token})), "ended", "refresh_token_reused")
        assert.equal(next.state.kind, "ended")
        await server.admin("PUT", "settings/sessions", {rotation_interval: 120})
    },
}

let failed = 0
for (const [name, step] of Object.entries(steps)) {
    try {
        await step()
        console.log("passed", name)
    } catch (error) {
        failed += 1
        console.log("FAILED", name, error)
    }
}
for (const each of clients) await each.settle(1)
server.stop()
console.log(`${Object.keys(steps).length - failed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
