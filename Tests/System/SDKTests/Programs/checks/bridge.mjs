// The facade for React Native against a fake module: `node bridge.mjs FOLDER`, with the folder of the compiled facade.

import assert from "node:assert/strict"
import {pathToFileURL} from "node:url"

const {Sojourn, SojournError} = await import(pathToFileURL(process.argv[2] + "/sojourn.js"))

const calls = []
let answer = {}
let tell
const native = {
    async call(name, words) {
        calls.push([name, words])
        if (answer instanceof Error) throw answer
        return answer
    },
}
const events = {
    addListener(name, listener) {
        assert.equal(name, "sojourn.state")
        tell = listener
        return {remove() {}}
    },
}
const sojourn = new Sojourn(native, events)
const seen = []
const stop = sojourn.onState(state => seen.push(state.kind))

answer = {kind: "signedOut", why: "never"}
assert.equal((await sojourn.start()).kind, "signedOut")
tell({kind: "signedOut", why: "never"})
tell({kind: "signedIn", username: "anna"})
assert.deepEqual(seen, ["starting", "signedOut", "signedIn"])
stop()
tell({kind: "ended", reason: "idle_expired"})
assert.equal(seen.length, 3)
assert.equal(sojourn.state.reason, "idle_expired")

answer = new Error("the module is not linked")
assert.equal((await sojourn.start()).kind, "ended")

answer = {}
await sojourn.signIn({username: "anna", password: "p", mode: "BIOMETRIC"})
await sojourn.signIn({page: {redirectURI: "shop://callback"}})
await sojourn.signIn({callback: "shop://callback?code=1"})
await sojourn.signOut()
await sojourn.unlock()
await sojourn.unlock("p")
await sojourn.reject({value: "t", type: "DPoP", expiresAt: 1})
answer = {value: "t", type: "DPoP", expiresAt: 1}
assert.equal((await sojourn.accessToken()).value, "t")
await sojourn.accessToken("fresh")
answer = {Authorization: "DPoP t", DPoP: "proof"}
assert.equal((await sojourn.authorize("GET", "https://api.example/")).DPoP, "proof")
answer = {isSettled: true}
assert.equal(await sojourn.settle(5), true)
assert.deepEqual(calls.slice(2), [
    ["signIn", {username: "anna", password: "p", mode: "BIOMETRIC"}],
    ["signInByPage", {redirectURI: "shop://callback"}],
    ["signInByPage", {callback: "shop://callback?code=1"}],
    ["signOut", {}], ["unlock", {}], ["unlock", {password: "p"}],
    ["reject", {value: "t", type: "DPoP", expiresAt: 1}],
    ["accessToken", {need: "usable"}], ["accessToken", {need: "fresh"}],
    ["authorize", {method: "GET", url: "https://api.example/"}],
    ["settle", {seconds: 5}],
])

answer = {error: "ended", reason: "revoked_by_admin"}
await assert.rejects(sojourn.accessToken(), error => error instanceof SojournError && error.kind === "ended" &&
    error.reason === "revoked_by_admin")
answer = {error: "presence", code: 802000013}
await assert.rejects(sojourn.unlock(), error => error.code === 802000013)
