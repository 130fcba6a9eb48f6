// The asking side of a login with a phone, as the scenarios look at it.

import {PhoneLoginEvent, Sojourn, SojournError} from "../../../Sources/Clients/TypeScript/src/node/index.js"

export class PhoneLogin {
    members: Record<string, unknown> = {phase: "waiting"}
    private readonly first: Promise<Record<string, unknown>>

    constructor(client: Sojourn) {
        this.first = new Promise((resolve, reject) => {
            const onChange = (event: PhoneLoginEvent): void => {
                this.note(event)
                if (event.kind === "code") resolve({code: event.qr, ...(event.link ? {link: event.link} : {})})
            }
            client.signInByPhone({onChange}).then(() => (this.members = {phase: "signed-in"}), (error: unknown) => {
                reject(error)
                this.fail(error)
            })
        })
    }

    /** The first picture. */
    asked(): Promise<Record<string, unknown>> {
        return this.first
    }

    private note(event: PhoneLoginEvent): void {
        switch (event.kind) {
            case "code": this.members = {phase: "waiting", code: event.qr}; break
            case "number": this.members = {phase: "number", number: event.number}; break
            case "approved": this.members = {phase: "approved"}; break
        }
    }

    private fail(error: unknown): void {
        const reason = error instanceof SojournError ? error.refusal?.code ?? error.kind : String(error)
        this.members = reason === "access_denied" ? {phase: "canceled"} : {phase: "failed", reason}
    }
}
