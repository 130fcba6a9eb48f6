// The driver of `sojourn-conformance`: lines of JSON in, lines of JSON out.
//
//   node driver.js DIR --server URL --renewal refresh-token|bound

import {Need, SessionError, SojournClient} from "./client"
import {fetchTransport, Store, StoreError, Transport} from "./platform"
import {FileKeys, FileStore} from "./node-store"

interface Command {
    id: number
    do: string
    [member: string]: unknown
}

type Members = Record<string, unknown>

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

const transport: Transport = async (request, limit) => {
    pass("before-send")
    const answer = await fetchTransport(request, limit)
    pass("received")
    return answer
}

// A store that fails when it is told to

let failure = "none"
const files = new FileStore(folder, pass)
const store: Store = {
    load: () => (failure === "read" ? Promise.reject(new StoreError("locked")) : files.load()),
    replace: (expected, text) =>
        failure === "none" ? files.replace(expected, text) : Promise.reject(new StoreError("failed")),
    setAside: () => files.setAside(),
}

// Clocks that can be moved

const shift = {wall: 0, elapsed: 0}
const clock = {
    wall: () => Date.now() / 1000 + shift.wall + shift.elapsed,
    uptime: () => performance.now() / 1000 + shift.elapsed,
}

let made: SojournClient | undefined
/** Made by the first verb that needs it, because the clock can be wrong already when an app starts. */
const client = (): SojournClient =>
    (made ??= new SojournClient({
        server: option("--server"), clientID: "mobile", isBound: option("--renewal") === "bound", store,
        keys: new FileKeys(folder), clock, transport,
    }))

async function token(need: Need): Promise<Members> {
    const refused = need === "renewed" ? (await client().accessToken()).value : undefined
    const token = await client().accessToken(need, refused)
    return {token: token.value, type: token.type}
}

async function carryOut(command: Command): Promise<Members> {
    switch (command.do) {
        case "start": return {...(await client().start())}
        case "state": return {...client().state}
        case "login": return {user: await client().signIn(String(command["username"]), String(command["password"]))}
        case "token": return await token((command["need"] ?? "usable") as Need)
        case "call": {
            const answer = await client().call(String(command["url"]))
            return {status: answer.status, body: answer.text}
        }
        case "logout":
            await client().signOut()
            return {}
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
    let members: Members
    try {
        members = await carryOut(command)
    } catch (error) {
        members =
            error instanceof SessionError
                ? {error: error.code, ...(error.reason ? {reason: error.reason} : {})}
                : {error: "other", detail: String(error)}
    }
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
