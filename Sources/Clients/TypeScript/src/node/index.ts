// The client for programs in Node, the record and the key in files.

import {webcrypto} from "node:crypto"
import {originOf, SojournConfiguration} from "../core/configuration.js"
import {misconfigured} from "../core/errors.js"
import {Clock, Environment, Keys, Platform, SessionStore} from "../core/platform.js"
import {webPlatform} from "../web/platform.js"
import {WebSojourn} from "../web/web-sojourn.js"
import {FileKeys, FileStore} from "./file-store.js"

export * from "../core/index.js"
export {FileKeys, FileStore}

/** What a program can put in the place of the defaults. */
export interface NodeParts extends Partial<Omit<Environment, "store" | "keys">> {
    /** The folder of the record and the key; absent: below `XDG_STATE_HOME`, or `~/.local/state`. */
    folder?: string
    store?: SessionStore
    keys?: Keys
}

const systemClock: Clock = {wall: () => Date.now() / 1000, uptime: () => performance.now() / 1000}

/** WebCrypto and `fetch` of Node, with the clocks of the system. */
export const nodePlatform = (clock: Clock = systemClock): Platform =>
    webPlatform({crypto: webcrypto, fetch: globalThis.fetch, clock})

export class Sojourn extends WebSojourn {
    constructor(configuration: SojournConfiguration, parts: NodeParts = {}) {
        const folder = parts.folder ?? (parts.store && parts.keys ? "" : defaultFolder(configuration))
        super(configuration, {
            ...parts, platform: parts.platform ?? nodePlatform(), store: parts.store ?? new FileStore(folder),
            keys: parts.keys ?? new FileKeys(folder),
        }, globalThis.fetch)
    }
}

/** The folder of what belongs to one client, one server and one slot: that of the Swift SDK. */
function defaultFolder(configuration: SojournConfiguration): string {
    const {env} = process
    const state = env["XDG_STATE_HOME"]?.startsWith("/") ? env["XDG_STATE_HOME"] : env["HOME"] && env["HOME"] + "/.local/state"
    if (!state) throw misconfigured("there is no home folder: name a folder or a store")
    const {server, clientID, slot = "default"} = configuration
    const path = server.slice(server.indexOf("/", server.indexOf("://") + 3) >>> 0).replace(/\/+$/, "")
    const owner = `${clientID}@${originOf(server).replace(/^[a-z]+:\/\//, "")}${path}`
    return [state, "sojourn", fileName(owner), fileName(slot)].join("/")
}

/** A text as the name of a file. */
const fileName = (text: string): string =>
    encodeURIComponent(text).replace(/%40/g, "@").replace(/[!'()*~]|^\./g, (character) =>
        "%" + character.charCodeAt(0).toString(16).toUpperCase())
