// The parts of the client's storage, for scripts that drive this page.

import {Channel} from "/dist/browser/channel.js"
import {BrowserClock} from "/dist/browser/clock.js"
import {Database, NoDatabase} from "/dist/browser/database.js"
import {IndexedDBStore} from "/dist/browser/indexeddb-store.js"
import {IndexedDBKeys} from "/dist/browser/indexeddb-keys.js"
import {IndexedDBAttempts} from "/dist/browser/login-attempts.js"
import {stop} from "/stop.js"

const name = "sojourn/test@localhost/default"
let stopAt
let wall = Date.now() / 1000
const random = () => crypto.randomUUID()
const channel = new Channel(name)
let looks = 0
channel.onAnnouncement(() => looks++)

Object.assign(window, {
    name_: name, Database, NoDatabase, BrowserClock, IndexedDBStore, IndexedDBKeys, IndexedDBAttempts,
    make(options) {
        const database = new Database(name, options)
        const keys = new IndexedDBKeys(database, crypto)
        const observe = (point) => {
            if (point !== stopAt) return
            stopAt = undefined
            stop("freeze")
        }
        const attempts = new IndexedDBAttempts(database, () => wall)
        return {database, keys, attempts, store: new IndexedDBStore(database, random, channel, keys, observe)}
    },
    looks: () => looks,
    stopAt(point) { stopAt = point },
    stop,
    moveWall(seconds) { wall += seconds },
    isReady: true,
})
window.parts = window.make()
