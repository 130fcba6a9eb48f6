import HTTP
import JSON
import Sessions

/// `sojourn login list · show · end`
enum LoginCommands {
    static let all = [list, show, end]

    private static let list = Command.admin(
        ["login", "list"], "Lists logins with a phone, the newest first.",
        options: Command.Option.page + [
            Command.Option("--user", "USER", "those that phones of this user have claimed"),
            Command.Option("--state", "STATE", "those in this state: \(LoginState.words.joined(separator: ", "))"),
        ],
        examples: ["sojourn login list --user ada", "sojourn login list --state ACTIVE"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["logins"],
                query: arguments.page + [
                    ("user", arguments.value("--user").map(UserCommands.reference)),
                    ("state", arguments.value("--state")),
                ])
        },
        show: { page, _ in
            page.table(
                ["STARTED", "APP", "STATE", "HISTORY", "CAUSE", "ADDRESS", "ID"], empty: "no logins with a phone",
                { login in
                    [
                        Formatting.time(login["started_at"]?.integer), login["client"]?["client_id"]?.cell ?? "-",
                        login["state"]?.cell ?? "-", login["history"]?.cell ?? "-", login["cause"]?.cell ?? "-",
                        login["remote_address"]?.cell ?? "-", login["login_id"]?.cell ?? "-",
                    ]
                })
        })

    private static let show = Command.admin(
        ["login", "show"], "Shows a login with a phone.", operands: ["ID"],
        examples: ["sojourn login show 0f6c…"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, ["logins", arguments.operands[0]])
        },
        show: { login, _ in
            Formatting.facts([
                ("id", login["login_id"]?.cell), ("kind", login["kind"]?.cell),
                ("app", login["client"]?["client_id"]?.cell), ("state", login["state"]?.cell),
                ("input", login["input"]?.cell), ("history", login["history"]?.cell), ("cause", login["cause"]?.cell),
                ("user", login["user_id"]?.cell), ("session of the phone", login["phone_session_id"]?.cell),
                ("bond", login["bond"]?.cell), ("ping seconds", login["ping_seconds"]?.cell),
                ("address", login["remote_address"]?.cell), ("place", login["place"]?.cell),
                ("browser or system", login["user_agent"]?.cell),
                ("started", Formatting.timeWithDistance(login["started_at"]?.integer)),
                ("ended", login["ended_at"].map { Formatting.timeWithDistance($0.integer) }),
            ])
        })

    private static let end = Command.admin(
        ["login", "end"], "Ends a login with a phone, and the session that came of it.", operands: ["ID"],
        examples: ["sojourn login end 0f6c…"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.delete, ["logins", arguments.operands[0]])
        },
        show: { _, _ in "the login is over" })
}
