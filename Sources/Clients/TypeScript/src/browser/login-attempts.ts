// Logins on the server's page that are under way. Each has a `state` of its own, so that tabs do not disturb each other.

import {LoginAttempt, LoginAttempts} from "../core/platform.js"
import {Database} from "./database.js"

const lifetime = 3600

/** Login attempts that remember which of them are in a popup. */
export interface PopupAttempts extends LoginAttempts {
    notePopup(state: string): Promise<void>
    isPopup(state: string): Promise<boolean>
}

type StoredAttempt = LoginAttempt & {isPopup?: boolean}

/** Of an attempt that is older, or from a time that has not come yet, the verifier is of no use to the user. */
const isOver = (attempt: LoginAttempt, now: number): boolean => !(Math.abs(now - attempt.at) <= lifetime)

export class IndexedDBAttempts implements PopupAttempts {
    constructor(private readonly database: Database, private readonly now: () => number) {}

    keep(attempt: LoginAttempt): Promise<void> {
        return this.database.run(["logins"], "readwrite", (store) => {
            const logins = store("logins")
            const walk = logins.openCursor()
            walk.onsuccess = () => {
                const cursor = walk.result
                if (!cursor) {
                    logins.put(attempt, attempt.state)
                    return
                }
                if (isOver(cursor.value as LoginAttempt, this.now())) cursor.delete()
                cursor.continue()
            }
        })
    }

    find(state: string): Promise<LoginAttempt | null> {
        return this.database.run(["logins"], "readonly", (store, result: (value: LoginAttempt | null) => void) => {
            const request = store("logins").get(state)
            request.onsuccess = () => {
                const attempt = request.result as LoginAttempt | undefined
                result(attempt && !isOver(attempt, this.now()) ? attempt : null)
            }
        })
    }

    forget(state: string): Promise<void> {
        return this.database.run(["logins"], "readwrite", (store) => void store("logins").delete(state))
    }

    notePopup(state: string): Promise<void> {
        return this.database.run(["logins"], "readwrite", (store) => {
            const logins = store("logins")
            const request = logins.get(state)
            request.onsuccess = () => {
                if (request.result) logins.put({...(request.result as StoredAttempt), isPopup: true}, state)
            }
        })
    }

    async isPopup(state: string): Promise<boolean> {
        return ((await this.find(state)) as StoredAttempt | null)?.isPopup === true
    }
}
