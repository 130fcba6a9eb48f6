// Logs in with a key and renews at the server of the first argument, which has the user anna.
import {newKey, proof} from "../http/proof.mjs"
import {attempt} from "../http/renewal.mjs"

const [server, password] = process.argv.slice(2)
const now = () => Math.floor(Date.now() / 1000)
const key = await newKey()
const login = await fetch(`${server}/v1/login`, {
    method: "POST",
    headers: {"Content-Type": "application/json", DPoP: await proof(key, "POST", `${server}/v1/login`, now())},
    body: JSON.stringify({username: "anna", password, device: {id: "browser-1"}}),
})
const record = {...await login.json(), retry_secret: crypto.getRandomValues(new Uint8Array(32))}
const check = (what, value) => { if (!value) throw new Error(`${what}: ${JSON.stringify(record)}`) }
check("bound", record.token_type === "DPoP")

const renew = (more = {}) => attempt({server, clientID: "mobile", key, load: async () => record, now, ...more})
const renewed = await renew()
check("renewed", renewed.verdict === "renewed" && renewed.tokens.session_id === record.session_id)
const me = await fetch(`${server}/v1/me`, {
    headers: {
        Authorization: `DPoP ${renewed.tokens.access_token}`,
        DPoP: await proof(key, "GET", `${server}/v1/me`, now(), {accessToken: renewed.tokens.access_token}),
    },
})
check("called", me.status === 200)
check("asleep", (await renew({now: () => now() - 3600})).verdict !== "ended")
check("another key", (await renew({key: await newKey()})).verdict === "kept")
check("another server", (await renew({server: "http://127.0.0.1:9"})).verdict === "unreachable")
check("a stranger's token", (await renew({load: async () => ({...record, refresh_token: "x"})})).verdict === "ended")
