import AdminActs
import HTTP
import JSON

/// `sojourn session …`
enum SessionCommands {
    static let all = [list, show, end, removePIN, explain, revokeAll]

    static let list = Command.admin(
        ["session", "list"], "Lists the sessions of a user, the newest first, ended ones included.",
        operands: ["USER"], options: Command.Option.page,
        examples: ["sojourn session list ada", "sojourn session list ada --json"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["users", UserCommands.reference(arguments.operands[0]), "sessions"], query: arguments.page)
        },
        show: { page, _ in
            page.table(["DEVICE", "APP", "STARTED", "LAST REFRESH", "STATE", "ID"], empty: "no sessions") { session in
                [
                    deviceName(session), session["client_id"]?.cell ?? "-",
                    Formatting.time(session["started_at"]?.integer),
                    Formatting.time(session["last_refreshed_at"]?.integer),
                    session["ended_reason"]?.string ?? "active", session["session_id"]?.cell ?? "-",
                ]
            }
        })

    static let show = Command.admin(
        ["session", "show"], "Shows a session.", operands: ["ID"],
        examples: ["sojourn session show 0f6c…"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, ["sessions", arguments.operands[0]])
        },
        show: { session, _ in facts(session) })

    static let end = Command.admin(
        ["session", "end"], "Ends one session: that device is logged out.", operands: ["ID"],
        examples: ["sojourn session end 0f6c…"],
        act: { arguments throws(Failure) in EndSession(ActSubject(arguments.operands[0]))
        },
        show: { _, _ in "the session is over" })

    static let removePIN = Command.admin(
        ["session", "remove-pin"],
        "Removes the PIN of a phone. The session goes on, and approves logins by other factors.",
        operands: ["ID"], examples: ["sojourn session remove-pin 0f6c…"],
        act: { arguments throws(Failure) in RemovePIN(ActSubject(arguments.operands[0]))
        },
        show: { _, _ in "the session has no PIN" })

    static let revokeAll = Command.admin(
        ["session", "revoke-all"], "For emergencies: ends every session of every user, and every client's own tokens.",
        options: [Command.Option("--yes", nil, "confirm that every user has to log in again")],
        examples: ["sojourn session revoke-all --yes"],
        send: { connection, arguments async throws(Failure) in
            guard arguments.has("--yes") else {
                throw arguments.usage("this logs out every user on every device; add --yes if you mean it")
            }
            return try await connection.send(.post, ["revoke-all"])
        },
        show: { _, _ in "every session is over, and so are the tokens that clients got for themselves" })

    static let explain = Command.admin(
        ["session", "explain"], "Says why a device was logged out, and what to do.", operands: ["[ID]"],
        options: [
            Command.Option("--user", "USER", "instead of an id: the newest session of this user"),
            Command.Option("--device", "DEVICE", "with --user: the newest on the device with this id or name"),
        ],
        discussion: "Sessions are remembered for 30 days after their end.",
        examples: [
            "sojourn session explain 0f6c…", "sojourn session explain --user ada --device 'Pixel 9'",
        ],
        send: { connection, arguments async throws(Failure) in
            let id = try await findSession(connection, arguments)
            let session = try await connection.send(.get, ["sessions", id])
            let userID = session["user_id"]?.string ?? ""
            var user: JSONValue?
            do throws(Failure) {
                user = try await connection.send(.get, ["users", userID])
            } catch  where error.code == .notFound { user = nil }
            let events = try await SessionExplanation.events(of: session, userID: userID, connection)
            return .object(["session": session, "user": user ?? .null, "events": .array(events)])
        },
        show: { answer, _ in SessionExplanation(answer).text })

    private static func findSession(
        _ connection: AdminConnection, _ arguments: Arguments
    ) async throws(Failure) -> String {
        if let id = arguments.operands.first {
            if arguments.has("--user") { throw arguments.usage("either an id or --user, not both") }
            return id
        }
        guard let user = arguments.value("--user") else { throw arguments.usage("ID is missing, or --user USER") }
        let path = ["users", UserCommands.reference(user), "sessions"]
        var cursor: String?
        repeat {
            let page = try await connection.send(.get, path, query: [("cursor", cursor), ("limit", "200")])
            let found = (page["items"]?.elements ?? []).first { session in
                guard let device = arguments.value("--device") else { return true }
                return session["device"]?["id"]?.string == device || session["device"]?["name"]?.string == device
            }
            if let id = found?["session_id"]?.string { return id }
            cursor = page["next_cursor"]?.string
        } while cursor != nil
        let place = arguments.value("--device").map { " on a device '\($0)'" } ?? ""
        throw Failure(.notFound, "\(user) has no session\(place), or it ended more than 30 days ago")
    }

    static func deviceName(_ session: JSONValue) -> String {
        session["device"]?["name"]?.string ?? session["device"]?["id"]?.string ?? "-"
    }

    static func facts(_ session: JSONValue) -> String {
        let device = session["device"]
        return Formatting.facts([
            ("id", session["session_id"]?.cell), ("user", session["user_id"]?.cell),
            ("app", session["client_id"]?.cell), ("device", device?["id"]?.cell),
            ("device name", device?["name"]?.cell), ("platform", device?["platform"]?.cell),
            ("app version", device?["app_version"]?.cell),
            ("authentication mode", session["authentication_mode"]?.cell),
            ("started", Formatting.timeWithDistance(session["started_at"]?.integer)),
            ("last refresh", Formatting.timeWithDistance(session["last_refreshed_at"]?.integer)),
            ("ends if idle", Formatting.timeWithDistance(session["session_idle_expires_at"]?.integer)),
            ("ends for good", Formatting.timeWithDistance(session["session_expires_at"]?.integer)),
            ("let in by session", session["parent_session_id"]?.cell),
            ("on probation until", session["probation_until"].map { Formatting.timeWithDistance($0.integer) }),
            ("PIN set", session["pin"].map { Formatting.timeWithDistance($0["changed_at"]?.integer) }),
            ("wrong PINs left", session["pin"]?["attempts_left"]?.cell),
            ("ended", session["ended_at"].map { Formatting.timeWithDistance($0.integer) }),
            ("reason", session["ended_reason"]?.cell), ("provider", session["provider"]?.cell),
            ("provider said yes", session["provider_confirmed_at"].map { Formatting.timeWithDistance($0.integer) }),
            ("provider silent", session["provider_failing_since"].map { Formatting.timeWithDistance($0.integer) }),
        ])
    }
}
