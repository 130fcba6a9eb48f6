// A server in memory: logins, renewals with rotation, logouts and the profile, by the words of the real one.

import {Clock, HTTPAnswer, HTTPRequest} from "../core/platform.js"

type Members = Record<string, unknown>

export interface FakeUser {
    username: string
    password: string
    isDisabled?: boolean
}

interface Session {
    id: string
    user: FakeUser
    device: string
    type: string
    refresh: string
    /** The token that the last renewal replaced, its key, and when. */
    previous?: {token: string; key: string; at: number; answer: Members}
    access: string
    ended?: string
}

/** After so many seconds a replaced token is no lost answer any more: its session ends. */
const rotationInterval = 120

const answer = (status: number, members: Members, fields: Record<string, string> = {}): HTTPAnswer =>
    ({status, text: JSON.stringify(members), field: (name) => fields[name] ?? null})

export class FakeServer {
    readonly users: FakeUser[] = []
    private readonly sessions: Session[] = []
    private readonly logins = new Map<string, Members>()
    private count = 0

    constructor(private readonly clock: Clock, private readonly lifetime = 3600) {}

    /** The requests that were answered: method and path. */
    readonly seen: string[] = []

    private get now(): number {
        return Math.floor(this.clock.wall())
    }

    /** Ends the sessions of a user, as an admin does. */
    revoke(username: string, reason = "revoked_by_admin"): void {
        for (const session of this.sessions) if (session.user.username === username) session.ended = reason
    }

    readonly send = async (request: HTTPRequest): Promise<HTTPAnswer> => {
        const path = request.url.replace(/^https?:\/\/[^/]*/, "").replace(/\?.*/, "")
        this.seen.push(`${request.method} ${path}`)
        switch (path) {
            case "/v1/login": return this.logIn(JSON.parse(request.body ?? "{}") as Members, request.fields)
            case "/oauth/token": return this.renew(parameters(request.body ?? ""), request.fields)
            case "/v1/logout": return this.logOut(JSON.parse(request.body ?? "{}") as Members)
            case "/v1/me": return this.profile(request.fields["Authorization"] ?? "")
            default: return answer(404, {code: "not_found"})
        }
    }

    private logIn(body: Members, fields: Record<string, string>): HTTPAnswer {
        const known = this.logins.get(fields["Idempotency-Key"] ?? "")
        if (known) return answer(200, known)
        const user = this.users.find((user) => user.username === body["username"] && user.password === body["password"])
        if (!user) return answer(401, {code: "invalid_credentials", detail: "Name or password is wrong."})
        if (user.isDisabled) return answer(403, {code: "login_disabled_by_user", reauthenticate: false})
        const device = (body["device"] as {id: string}).id
        const session: Session = {
            id: `session-${++this.count}`, user, device, type: fields["DPoP"] ? "DPoP" : "Bearer", refresh: "", access: "",
        }
        for (const other of this.sessions) if (other.device === device) other.ended ??= "replaced"
        this.sessions.push(session)
        const tokens = {...this.tokens(session), authentication_mode: body["authentication_mode"] ?? "NO"}
        if (fields["Idempotency-Key"]) this.logins.set(fields["Idempotency-Key"], tokens)
        return answer(200, tokens)
    }

    private tokens(session: Session): Members {
        session.refresh = `refresh-${++this.count}`
        session.access = `access-${++this.count}`
        const {now} = this
        return {
            access_token: session.access, token_type: session.type, issued_at: now, expires_in: this.lifetime,
            expires_at: now + this.lifetime, refresh_after: now + Math.floor(this.lifetime / 2),
            refresh_token: session.refresh, session_id: session.id, device_id: session.device,
            rotation_interval: rotationInterval, renewal: ["refresh_token"],
            user: {user_id: `user-${session.user.username}`, username: session.user.username},
        }
    }

    private renew(form: Map<string, string>, fields: Record<string, string>): HTTPAnswer {
        const token = form.get("refresh_token") ?? ""
        const session = this.sessions.find((one) => one.refresh === token || one.previous?.token === token)
        const ended = (reason: string): HTTPAnswer =>
            answer(400, {error: "invalid_grant", reason, reauthenticate: true})
        if (!session) return ended("unknown_session")
        if (session.ended) return ended(session.ended)
        if (session.user.isDisabled) {
            return answer(400, {error: "invalid_grant", reason: "login_disabled_by_user", reauthenticate: false})
        }
        const key = fields["Idempotency-Key"] ?? ""
        if (session.refresh === token) {
            const tokens = this.tokens(session)
            session.previous = {token, key, at: this.now, answer: tokens}
            return answer(200, tokens)
        }
        const previous = session.previous
        if (previous && (previous.key === key || this.now - previous.at <= rotationInterval)) return answer(200, previous.answer)
        session.ended = "refresh_token_reused"
        return ended(session.ended)
    }

    private logOut(body: Members): HTTPAnswer {
        const session = this.sessions.find((one) => one.refresh === body["refresh_token"])
        if (!session) return answer(401, {code: "invalid_token"})
        session.ended ??= "logged_out"
        return answer(204, {})
    }

    private profile(authorization: string): HTTPAnswer {
        const session = this.sessions.find((one) => `${one.type} ${one.access}` === authorization)
        if (!session) return answer(401, {code: "invalid_token"})
        if (session.ended) return answer(401, {code: session.ended, reauthenticate: true})
        return answer(200, {user_id: `user-${session.user.username}`, username: session.user.username})
    }
}

function parameters(body: string): Map<string, string> {
    const pairs = body.split("&").map((pair) => pair.split("=").map(decodeURIComponent))
    return new Map(pairs.map(([name = "", value = ""]) => [name, value]))
}
