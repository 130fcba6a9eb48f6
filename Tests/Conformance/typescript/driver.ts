// The driver of `sojourn-conformance`: lines of JSON in, lines of JSON out.
//
//   node driver.js DIR --server URL --renewal refresh-token|bound

import {
    FileKeys, FileStore, Need, nodePlatform, Platform, SessionState, SessionStore, Sojourn, SojournError, StoreError,
} from "../../../Sources/Clients/TypeScript/src/node/index.js"
import {PhoneLogin} from "./phone.js"
import {SoftwarePasskeys} from "./passkeys.js"

interface Command {
    id: number
    do: string
    [member: string]: unknown
}

type Members = Record<string, unknown>
type Mode = "NO" | "BIOMETRIC" | "PASSWORD"

const [folder = "", ...words] = process.argv.slice(2)
const option = (name: string): string => words[words.indexOf(name) + 1] ?? ""

// Stops

const armed = new Map<string, string>()

/** Stands still until SIGCONT, or is gone at once, if that was asked for at this point. */
function pass(point: string): void {
    const stop = armed.get(point)
    armed.delete(point)
    if (stop) process.kill(process.pid, stop === "freeze" ? "SIGSTOP" : "SIGKILL")
}

// A store that fails when it is told to

let failure = "none"
const files = new FileStore(folder, pass)
const store: SessionStore = {
    isPersistent: true,
    load: () => (failure === "read" ? Promise.reject(new StoreError("locked")) : files.load()),
    replace: (expected, text) =>
        failure === "none" ? files.replace(expected, text) : Promise.reject(new StoreError("failed")),
    setAside: () => files.setAside(),
}

// Clocks that can be moved

const shift = {wall: 0, elapsed: 0}
const system = nodePlatform({
    wall: () => Date.now() / 1000 + shift.wall + shift.elapsed,
    uptime: () => performance.now() / 1000 + shift.elapsed,
})
const platform: Platform = {
    ...system,
    async send(request, limit) {
        pass("before-send")
        const answer = await system.send(request, limit)
        pass("received")
        return answer
    },
}

const passkeys = new SoftwarePasskeys()
let made: Sojourn | undefined
/** Made by the first verb that needs it, because the clock can be wrong already when an app starts. */
const client = (): Sojourn =>
    (made ??= new Sojourn(
        {
            server: option("--server"), clientID: "mobile", apis: [option("--server")],
            renewal: option("--renewal") === "bound" ? "boundRefreshToken" : "refreshToken",
        },
        {store, keys: new FileKeys(folder), platform, passkeys}))

let phone: PhoneLogin | undefined

// Words of the protocol

function membersOf(state: SessionState): Members {
    switch (state.kind) {
        case "storeFailed": return {state: "store-failed"}
        case "signedOut": return {state: state.why === "unreadable" ? "store-failed" : "signed-out"}
        case "signedIn": return {state: "signed-in", user: state.account.username}
        case "presenceRequired": return {state: "presence-required"}
        case "ended": return {state: "ended", reason: state.reason}
        default: return {state: state.kind}
    }
}

const errorWords: Record<string, string> = {
    notSignedIn: "not-signed-in", ended: "ended", suspended: "suspended", presenceRequired: "presence-required",
    unreachable: "unreachable", refused: "refused", notAllowed: "refused", locked: "locked", store: "locked",
    cancelled: "canceled", secondFactorRequired: "second-factor-required",
}

function wordsOf(error: unknown): Members {
    if (!(error instanceof SojournError)) return {error: "other", detail: String(error)}
    const reason = error.reason ?? error.refusal?.code
    return {error: errorWords[error.kind] ?? "other", ...(reason ? {reason} : {}), detail: error.message}
}

async function token(need: string): Promise<Members> {
    const wanted: Need = need === "renewed" ? {after: await client().accessToken()} : (need as "usable" | "fresh")
    const token = await client().accessToken(wanted)
    return {token: token.value, type: token.type}
}

const user = (account: {username?: string; userID: string}): Members => ({user: account.username ?? account.userID})
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

async function carryOut(command: Command): Promise<Members> {
    const mode = (command["mode"] ?? "NO") as Mode
    const password = textOf(command["password"])
    switch (command.do) {
        case "capabilities": return {lacks: ["biometry", "phone-approving"]}
        case "start": return membersOf(await client().start())
        case "state": return membersOf(client().state)
        case "login":
            return user(await client().signIn({username: String(command["username"]), password: password ?? "", mode}))
        case "token": return await token(String(command["need"] ?? "usable"))
        case "call": {
            const answer = await client().fetch(String(command["url"]))
            return {status: answer.status, body: await answer.text()}
        }
        case "logout":
            await client().signOut()
            return {}
        case "mode":
            await client().switchMode(String(command["to"]) as Mode, password)
            return {}
        case "unlock":
            if (password === undefined) await client().unlock({passkey: true})
            else await client().unlock({password})
            return {}
        case "lock":
            client().lock()
            return {}
        case "presence": return passkeys.expect(command["answers"])
        case "add-passkey": return {passkey: (await client().addPasskey(textOf(command["name"]))).id}
        case "login-passkey": return user(await client().signIn({passkey: true, mode}))
        case "show-presence":
            await client().showPresence({passkey: true})
            return {}
        case "ask-phone":
            phone = new PhoneLogin(client())
            return await phone.asked()
        case "asked": return phone?.members ?? {phase: "canceled"}
        default: return setUp(command)
    }
}

/** What a scenario does to the machine of the client. */
function setUp(command: Command): Members {
    switch (command.do) {
        case "clock":
            shift.wall += Number(command["wall"] ?? 0)
            shift.elapsed += Number(command["elapse"] ?? 0)
            return {}
        case "store":
            failure = String(command["fail"])
            return {}
        case "freeze":
        case "crash":
            armed.set(String(command["at"]), command.do)
            return {}
        default: return {error: `no verb ${command.do}`}
    }
}

async function answer(line: string): Promise<void> {
    const command = JSON.parse(line) as Command
    if (command.do === "exit") process.exit(0)
    const members = await carryOut(command).catch(wordsOf)
    process.stdout.write(JSON.stringify({...members, id: command.id}) + "\n")
}

async function main(): Promise<void> {
    let rest = ""
    process.stdin.setEncoding("utf8")
    for await (const part of process.stdin) {
        const lines = (rest + part).split("\n")
        rest = lines.pop() ?? ""
        // Side by side: a verb does not wait for the one before it.
        for (const line of lines) void answer(line)
    }
    process.exit(0)
}

void main()
