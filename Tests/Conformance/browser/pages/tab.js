// The client of one driver: reads orders, carries them out, and says what came of them.

import {Sojourn, SojournError, PromptError, StoreError, databaseName} from "/dist/browser/index.js"
import {BrowserStorage} from "/dist/browser/browser-storage.js"
import {Channel} from "/dist/browser/channel.js"
import {BrowserClock} from "/dist/browser/clock.js"
import {Database} from "/dist/browser/database.js"
import {WebPasskeys} from "/dist/browser/web-passkeys.js"
import {control, name, stop} from "/stop.js"

const parameters = new URLSearchParams(location.search)
const server = parameters.get("server")
const say = (message) => fetch(`${control}/said/${name}`, {method: "POST", body: JSON.stringify(message)})

// What the page would write to a log is the standard error of the driver.
for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = (...words) => void say({order: "log", text: words.map(String).join(" ")})
}
addEventListener("error", (event) => console.error(event.message))
addEventListener("unhandledrejection", (event) => console.error("unhandled", event.reason))

// Stops

const armed = new Map()

function pass(point) {
    const kind = armed.get(point)
    armed.delete(point)
    if (kind) stop(kind)
}

let requests = 0

async function send(input, init = {}) {
    pass("before-send")
    requests += 1
    const response = parameters.has("direct") ? await fetch(input, init) : await throughOrigin(input, init)
    // A body that is cut off is an error of the caller.
    await response.clone().arrayBuffer()
    pass("received")
    return response
}

/** Sends through the origin of the page. The server sees each request once, also where the browser repeats it. */
async function throughOrigin(input, init) {
    const url = new URL(input instanceof Request ? input.url : input)
    const through = `/through/${encodeURIComponent(url.origin)}${url.pathname}${url.search}`
    const headers = new Headers(init.headers)
    headers.set("X-Once", `${name}-${performance.timeOrigin}-${requests}`)
    return await fetch(through, {...init, headers})
}

// A store that fails when it is told to

let failure = "none"
/** The versions that this tab has replaced, until they are told. */
let wins = []
const channel = new Channel(databaseName(server, "mobile"))
const shift = {wall: 0, elapsed: 0}
const clock = new BrowserClock({
    steady: () => performance.now() + shift.elapsed * 1000,
    wall: () => Date.now() + (shift.wall + shift.elapsed) * 1000,
})
const storage = new BrowserStorage({
    database: new Database(databaseName(server, "mobile")), crypto, others: channel,
    random: () => crypto.randomUUID(), now: () => clock.wall(), observe: pass,
})
const store = {
    get isPersistent() { return storage.isPersistent },
    load: () => (failure === "read" ? Promise.reject(new StoreError("locked")) : storage.load()),
    replace: async (expected, text) => {
        if (failure !== "none") throw new StoreError("failed")
        const isWritten = await storage.replace(expected, text)
        if (isWritten) wins.push(expected)
        return isWritten
    },
    setAside: () => storage.setAside(),
    onChange: (look) => storage.onChange(look),
}

// The user at the prompt of a passkey

const answers = []
let prompts = 0
let isInBackground = false
const passkeys = new WebPasskeys()
async function prompted(ask) {
    prompts += 1
    if (answers.shift() === "canceled") throw new PromptError("cancelled")
    return await ask()
}
const authenticator = {
    assertion: (options) => prompted(() => passkeys.assertion(options)),
    registration: (options) => prompted(() => passkeys.registration(options)),
}

let made
/** Made by the first verb that needs it, because the clock can be wrong already when a page is loaded. */
const client = () =>
    (made ??= new Sojourn(
        {
            server, clientID: "mobile", apis: [new URL(server).origin],
            renewal: parameters.get("renewal") === "bound" ? "boundRefreshToken" : "refreshToken",
        },
        {
            store, keys: storage, attempts: storage, clock, fetch: send, passkeys: authenticator,
            isInFront: () => !isInBackground,
        }))

// The words of the protocol

const states = {
    starting: "starting", locked: "locked", storeFailed: "store-failed", signedOut: "signed-out", signedIn: "signed-in",
    presenceRequired: "presence-required", ended: "ended",
}
const errors = {
    notSignedIn: "not-signed-in", ended: "ended", suspended: "suspended", presenceRequired: "presence-required",
    unreachable: "unreachable", refused: "refused", notAllowed: "refused", locked: "locked", store: "locked", cancelled: "canceled",
    secondFactorRequired: "second-factor-required", misconfigured: "refused",
}

function state() {
    const {state} = client()
    return {
        state: states[state.kind], ...(state.account ? {user: state.account.username} : {}),
        ...(state.kind === "ended" ? {reason: state.reason} : {}),
    }
}

function failed(error) {
    if (!(error instanceof SojournError)) return {error: "other", detail: String(error)}
    const reason = error.refusal?.code ?? error.reason ?? error.suspension
    return {error: errors[error.kind] ?? "other", ...(reason ? {reason: String(reason)} : {})}
}

async function token(need) {
    if (need !== "renewed") {
        const {value, type} = await client().accessToken(need)
        return {token: value, type}
    }
    const refused = await client().accessToken()
    const {value, type} = await client().accessToken({after: refused})
    return {token: value, type}
}

// Phone logins

let asked = {phase: "waiting"}
let cancelAsking

function askPhone() {
    return new Promise((resolve, reject) => {
        cancelAsking = new AbortController()
        const onChange = (change) => {
            if (change.kind === "code") {
                asked = {phase: "waiting", code: change.qr, ...(change.link ? {link: change.link} : {})}
                resolve(asked)
            } else if (change.kind === "number") asked = {phase: "number", number: change.number}
            else if (change.kind === "approved") asked = {phase: "approved"}
        }
        client().signInByPhone({onChange, signal: cancelAsking.signal}).then(
            () => { asked = {phase: "signed-in"} },
            (error) => {
                const {reason} = failed(error)
                asked = {phase: error.kind === "cancelled" ? "canceled" : "failed", ...(reason ? {reason} : {})}
                reject(error)
            })
    })
}

// What is stored, for the scenarios that look at it or damage it

function records(mode, use) {
    return new Promise((resolve, reject) => {
        const opening = indexedDB.open(databaseName(server, "mobile"))
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
            const database = opening.result
            const transaction = database.transaction("record", mode)
            const found = []
            transaction.objectStore("record").openCursor().onsuccess = ({target: {result: cursor}}) => {
                if (!cursor) return
                found.push(cursor.value.text)
                use?.(cursor)
                cursor.continue()
            }
            transaction.oncomplete = () => {
                database.close()
                resolve(found)
            }
        }
    })
}

const verbs = {
    start: async () => {
        await client().start()
        return state()
    },
    state,
    login: async ({username, password, mode}) =>
        ({user: (await client().signIn({username, password, ...(mode ? {mode} : {})})).username}),
    token: ({need}) => token(need ?? "usable"),
    call: async ({url}) => {
        const answer = await client().fetch(url)
        return {status: answer.status, body: await answer.text()}
    },
    logout: () => client().signOut(),
    clock: ({elapse, wall}) => {
        shift.elapsed += elapse ?? 0
        shift.wall += wall ?? 0
    },
    store: ({fail}) => { failure = fail },
    freeze: ({at}) => void armed.set(at, "freeze"),
    crash: ({at}) => void armed.set(at, "crash"),
    stored: async () => ({files: await records("readonly")}),
    spoil: async ({text}) => void (await records("readwrite", (cursor) => cursor.update({version: text, text}))),
    presence: (order) => {
        if (order.answers) answers.splice(0, answers.length, ...order.answers)
        if (order.background !== undefined) isInBackground = order.background
        return {prompts}
    },
    mode: ({to, password}) => client().switchMode(to, password),
    unlock: ({password}) => client().unlock(password === undefined ? {passkey: true} : {password}),
    lock: () => client().lock(),
    "add-passkey": async ({name}) => ({passkey: (await client().addPasskey(name)).id}),
    "login-passkey": async ({mode}) =>
        ({user: (await client().signIn({passkey: true, ...(mode ? {mode} : {})})).username}),
    "show-presence": () => client().showPresence({passkey: true}),
    renewals,
    "ask-phone": askPhone,
    asked: () => asked,
}

/** Renews again and again, as time passes, and tells what came of each, until the page is closed. */
async function renewals() {
    for (;;) {
        shift.elapsed += 12
        const before = requests
        const failure = await client().accessToken("fresh").then(() => null, failed)
        const told = wins
        wins = []
        await say({
            order: "renewed", state: client().state.kind, wins: told, requests: requests - before, elapsed: shift.elapsed,
            ...(failure ? {failure} : {}),
        })
    }
}

async function obey(order) {
    let answer
    try {
        const verb = verbs[order.do]
        answer = verb ? ((await verb(order)) ?? {}) : {error: `no verb ${order.do}`}
        if (typeof answer !== "object" || answer.kind) answer = {}
    } catch (error) {
        answer = failed(error)
    }
    void say({...answer, id: order.id})
}

const orders = new EventSource(`${control}/orders/${name}`)
orders.onmessage = (event) => void obey(JSON.parse(event.data))
