import AdminActs
import HTTP
import JSON
import Sessions

/// `sojourn login list · show · end · invite`
enum LoginCommands {
    static let all = [list, show, end, invite]

    private static let list = Command.admin(
        ["login", "list"], "Lists logins with a phone, the newest first.",
        options: Command.Option.page + [
            Command.Option(
                "--user", "USER", "those that phones of this user have claimed, and invitations of the user"),
            Command.Option(
                "--phase", "PHASE",
                "those in this phase: \(PhoneLogin.Phase.allCases.map(\.rawValue).joined(separator: ", "))"),
        ],
        examples: ["sojourn login list --user ada", "sojourn login list --phase signed_in"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["logins"],
                query: arguments.page + [
                    ("user", arguments.value("--user").map(UserCommands.reference)),
                    ("phase", arguments.value("--phase")),
                ])
        },
        show: { page, _ in
            page.table(
                ["STARTED", "APP", "PHASE", "CAUSE", "ADDRESS", "ID"], empty: "no logins with a phone",
                { login in
                    [
                        Formatting.time(login["started_at"]?.integer), login["client"]?["client_id"]?.cell ?? "-",
                        login["phase"]?.cell ?? "-", login["cause"]?.cell ?? "-",
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
                ("app", login["client"]?["client_id"]?.cell), ("phase", login["phase"]?.cell),
                ("state", login["state"]?.cell),
                ("input", login["input"]?.cell), ("history", login["history"]?.cell), ("cause", login["cause"]?.cell),
                ("user", login["user_id"]?.cell), ("session of the phone", login["phone_session_id"]?.cell),
                ("bond", login["bond"]?.cell), ("ping seconds", login["ping_seconds"]?.cell),
                ("address", login["remote_address"]?.cell), ("place", login["place"]?.cell),
                ("browser or system", login["user_agent"]?.cell),
                ("started", Formatting.timeWithDistance(login["started_at"]?.integer)),
                ("ended", login["ended_at"].map { Formatting.timeWithDistance($0.integer) }),
            ])
        })

    private static let invite = Command.admin(
        ["login", "invite"], "Invites a user to make an account on a phone, or to add a phone to an account.",
        options: [
            Command.Option("--client", "ID", "the app; default: mobile"),
            Command.Option("--username", "NAME", "the new account's; default: the user chooses it"),
            Command.Option("--user", "USER", "the user of a further phone, in place of a new account"),
            Command.Option("--email", "ADDRESS", "e-mail address of the new account"),
            Command.Option("--phone", "NUMBER", "telephone number of the new account"),
            Command.Option("--name", "NAME", "the name to show of the new account"),
            Command.Option("--given-name", "NAME", "given name of the new account"),
            Command.Option("--family-name", "NAME", "family name of the new account"),
            Command.Option("--country", "CODE", "country of the new account, two letters"),
            Command.Option("--source", "SOURCE", "qr, link or push: how it reaches the user; default: qr"),
            Command.Option("--expires-in", "DURATION", "in which time the phone has to come; default: 1d"),
        ],
        discussion: "The invitation works once, for one phone. Whoever has the code can use it.",
        examples: [
            "sojourn login invite --username ada --email ada@example.org", "sojourn login invite --user ada",
        ],
        send: { connection, arguments async throws(Failure) in
            var members: [String: JSONValue] = [:]
            for (option, member) in [
                ("--client", "client_id"), ("--username", "username"), ("--email", "email"),
                ("--phone", "phone_number"), ("--name", "display_name"), ("--given-name", "given_name"),
                ("--family-name", "family_name"), ("--country", "country"), ("--source", "source"),
            ] {
                if let text = arguments.value(option) { members[member] = .string(text) }
            }
            if let user = arguments.value("--user") { members["user"] = .string(UserCommands.reference(user)) }
            if let seconds = try arguments.seconds("--expires-in") { members["expires_in"] = .integer(seconds) }
            return try await connection.send(.post, ["invitations"], .object(members))
        },
        show: { invitation, _ in
            Formatting.facts([
                ("id", invitation["login_id"]?.cell), ("app", invitation["client_id"]?.cell),
                ("text of the picture", invitation["qr"]?.cell), ("link", invitation["link"]?.cell),
                ("text of the message", invitation["push"]?.cell),
                ("good until", Formatting.timeWithDistance(invitation["expires_at"]?.integer)),
            ])
        })

    private static let end = Command.admin(
        ["login", "end"], "Ends a login with a phone, and the session that came of it.", operands: ["ID"],
        examples: ["sojourn login end 0f6c…"],
        act: { arguments throws(Failure) in PhoneLoginEnding(ActSubject(arguments.operands[0]))
        },
        show: { _, _ in "the login is over" })
}
