// Messages between the tabs of an app. A lost one costs nothing, because each tab reads the store before it renews.

import {Announcer} from "./indexeddb-store.js"

/** How a login in a popup has ended. */
export interface LoginReport {
    state: string
    /** Why it failed; absent: the user is signed in. */
    error?: string
    /** Where the popup cannot end the login, because it shares no store: the URL with which the page itself ends it. */
    callback?: string
}

type Message = {kind: "look"} | ({kind: "login"} & LoginReport)

export class Channel implements Announcer {
    private channel: BroadcastChannel | null = null
    private readonly looks = new Set<() => void>()
    private readonly reports = new Set<(report: LoginReport) => void>()

    constructor(private readonly name: string) {
        this.open()
        if (typeof addEventListener !== "function") return
        // A page with an open channel is not kept for Back and Forward.
        addEventListener("pagehide", () => this.close())
        addEventListener("pageshow", () => this.open())
    }

    announce(): void {
        this.send({kind: "look"})
    }

    onAnnouncement(look: () => void): () => void {
        this.looks.add(look)
        return () => void this.looks.delete(look)
    }

    report(report: LoginReport): void {
        this.send({kind: "login", ...report})
    }

    onReport(heed: (report: LoginReport) => void): () => void {
        this.reports.add(heed)
        return () => void this.reports.delete(heed)
    }

    private send(message: Message): void {
        this.open()
        this.channel?.postMessage(message)
    }

    private open(): void {
        if (this.channel || typeof BroadcastChannel !== "function") return
        this.channel = new BroadcastChannel(this.name)
        // In Node a channel would keep the process from ending.
        ;(this.channel as {unref?(): void}).unref?.()
        this.channel.onmessage = (event: MessageEvent<Message>) => this.receive(event.data)
    }

    private close(): void {
        this.channel?.close()
        this.channel = null
    }

    private receive(message: Message): void {
        if (message.kind === "look") for (const look of this.looks) look()
        else if (message.kind === "login") for (const heed of this.reports) heed(message)
    }
}
