import AdminActs
import HTTP
import JSON
import Sessions

/// `sojourn user …`
enum UserCommands {
    static let all = [
        create, list, show, update, disable, enable, unlock, revoke, delete, setPassword, resetPassword,
    ]

    /// USER is a name or an id; `username:NAME` for a name that looks like an id.
    static func reference(_ word: String) -> String {
        Identifier<User>(word) != nil || word.hasPrefix("username:") ? word : "username:" + word
    }

    private static let profile = [
        Command.Option("--email", "ADDRESS", "e-mail address"),
        Command.Option("--email-verified", "BOOL", "whether the e-mail address is confirmed"),
        Command.Option("--phone", "NUMBER", "telephone number"),
        Command.Option("--name", "NAME", "the name to show"),
        Command.Option("--given-name", "NAME", "given name"),
        Command.Option("--family-name", "NAME", "family name"),
        Command.Option("--country", "CODE", "country, two letters"),
        Command.Option(
            "--offline-session-max", "DURATION",
            "the longest life of this user's sessions, like 30d; inherit: that of client and settings"),
        Command.Option(
            "--claims", "JSON", "an object for this user's access tokens, and for ID tokens by scope_claims"),
        Command.Option("--source", "WORD", "'user' if a stranger has chosen name and address, otherwise 'admin'"),
    ]

    /// The members that the options name.

    private static func members(_ arguments: Arguments) throws(Failure) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for option in UserOption.all { members[option.member] = try value(of: option, arguments) }
        return members
    }

    private static func value(of option: UserOption, _ arguments: Arguments) throws(Failure)
        -> JSONValue?
    {
        guard let text = arguments.value(option.name) else { return nil }
        switch option.kind {
        // An empty text removes the member.
        case .text where text.isEmpty, .object where text.isEmpty: return .null
        case .text, .name: return .string(text)
        case .flag: return try arguments.bool(option.name).map { .bool($0) }
        case .lifetime: return try arguments.lifetime(option.name)
        case .object:
            guard let object = JSONValue(text: Array(text.utf8)) else {
                throw arguments.usage("\(option.name) must be a JSON object")
            }
            guard StrictJSON.keepsNumbers(Array(text.utf8)) else {
                throw arguments.usage("\(option.name) \(UserClaims.inexactNumbers)")
            }
            return object
        }
    }

    static let create = Command.admin(
        ["user", "create"], "Makes a user.", operands: ["USERNAME"],
        options: profile + [Command.Option("--no-password", nil, "a user without a password")],
        discussion: "The password is asked for, or is the first line of standard input. It is never an argument.",
        examples: [
            "sojourn user create ada", "echo \"$PASSWORD\" | sojourn user create ada --email ada@example.org",
        ],
        act: { arguments throws(Failure) in
            var members = try members(arguments).filter { $0.value != .null }
            if !arguments.has("--no-password") { members["password"] = .string(try arguments.readPassword()) }
            return CreateUser(arguments.operands[0], members)
        },
        show: { user, _ in "user \(user["username"]?.cell ?? "") was made\n\n\(facts(user))" })

    static let list = Command.admin(
        ["user", "list"], "Lists users.", operands: ["[QUERY]"],
        options: [Command.Option("--phone", "NUMBER", "those with this telephone number, found by an index")]
            + Command.Option.page,
        discussion: "QUERY is a part of the username, e-mail address, telephone number or name.",
        examples: [
            "sojourn user list", "sojourn user list @example.org --limit 200", "sojourn user list --phone +433161234",
        ],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["users"],
                query: [("query", arguments.operands.first), ("phone_number", arguments.value("--phone"))]
                    + arguments.page)
        },
        show: { page, _ in
            page.table(
                ["USERNAME", "NAME", "E-MAIL", "LOGINS", "ID"], empty: "no users",
                { user in
                    [user["username"], user["display_name"], user["email"]].map { $0?.cell ?? "-" }
                        + [loginState(user), user["user_id"]?.cell ?? "-"]
                })
        })

    static let show = Command.admin(
        ["user", "show"], "Shows a user.", operands: ["USER"],
        examples: [
            "sojourn user show ada", "sojourn user show 6f1e0c5b9a7d4e8f8c3b2a1908f7e6d5 --json",
        ],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, ["users", reference(arguments.operands[0])])
        },
        show: { user, _ in facts(user) })

    static let update = Command.admin(
        ["user", "update"], "Changes a user's profile or name.", operands: ["USER"],
        options: profile + [
            Command.Option("--username", "NAME", "a new username"), LifetimePreview.option,
        ],
        discussion: "Members without an option keep their value. An empty text removes a member.",
        examples: [
            "sojourn user update ada --email ada@example.org", "sojourn user update ada --phone ''",
            "sojourn user update ada --claims '{\"role\":\"teller\"}'",
        ],
        act: { arguments throws(Failure) in
            let members = try members(arguments)
            if members.keys.allSatisfy({ $0 == "source" }) { throw arguments.usage("nothing to change is named") }
            return EditUser(ActSubject(userNamed: arguments.operands[0]), members)
        },
        after: { connection, arguments, call async throws(Failure) in
            try await LifetimePreview.confirm(
                connection, arguments, ["users", reference(arguments.operands[0])], call.body ?? [:])
        },
        show: { user, _ in facts(user) })

    static let disable = Command.admin(
        ["user", "disable"], "Switches a user's logins and refreshes off.", operands: ["USER"],
        options: [
            Command.Option(
                "--on-expiry", nil, "let access tokens work until they expire; without it they are refused at once"),
            Command.Option("--revoke", nil, "also end all sessions, which enabling does not bring back"),
            Command.Option("--reason", "TEXT", "a note for other admins"),
        ],
        discussion: "No session ends without --revoke: after 'enable' the devices go on as before.",
        examples: [
            "sojourn user disable ada --reason 'phone stolen'", "sojourn user disable ada --revoke",
        ],
        act: { arguments throws(Failure) in
            var act = DisableUser(ActSubject(userNamed: arguments.operands[0]))
            act.effective = arguments.has("--on-expiry") ? .onExpiry : .immediate
            act.endsSessions = arguments.has("--revoke")
            act.note = arguments.value("--reason")
            return act
        },
        show: { user, arguments in
            "logins of \(user["username"]?.cell ?? "") are off; "
                + (arguments.has("--revoke")
                    ? "\(Formatting.count(user["revoked"]?.integer ?? 0, "session")) ended"
                    : "sessions wait until they are on again")
        })

    static let enable = Command.admin(
        ["user", "enable"], "Switches a user's logins on again.", operands: ["USER"],
        options: [Command.Option("--include-own", nil, "also reset the user's own switch")],
        examples: ["sojourn user enable ada"],
        act: { arguments throws(Failure) in
            var act = EnableUser(ActSubject(userNamed: arguments.operands[0]))
            act.includesOwnSwitch = arguments.has("--include-own")
            return act
        },
        show: { user, _ in
            user["login_disabled_by_user"] == nil
                ? "logins of \(user["username"]?.cell ?? "") are on"
                : "the admins' switch is off, but \(user["username"]?.cell ?? "") has switched logins off too: --include-own"
        })

    static let unlock = Command.admin(
        ["user", "unlock"], "Accepts a user's passwords again, however many were wrong.", operands: ["USER"],
        examples: ["sojourn user unlock ada"],
        act: { arguments throws(Failure) in UnlockUser(ActSubject(userNamed: arguments.operands[0]))
        },
        show: { user, _ in "the delays and the lock of \(user["username"]?.cell ?? "") are lifted" })

    static let revoke = Command.admin(
        ["user", "revoke"], "Ends every session of a user, on all devices.", operands: ["USER"],
        examples: ["sojourn user revoke ada"],
        act: { arguments throws(Failure) in
            EndUserSessions(ActSubject(userNamed: arguments.operands[0]))
        },
        show: { answer, _ in "\(Formatting.count(answer["revoked"]?.integer ?? 0, "session")) ended" })

    static let delete = Command.admin(
        ["user", "delete"], "Deletes a user and ends their sessions.", operands: ["USER"],
        examples: ["sojourn user delete ada"],
        act: { arguments throws(Failure) in DeleteUser(ActSubject(userNamed: arguments.operands[0]))
        },
        show: { _, arguments in "user \(arguments.operands[0]) is deleted" })

    static let setPassword = Command.admin(
        ["user", "set-password"], "Sets a user's password and ends all their sessions.", operands: ["USER"],
        discussion: "The password is asked for, or is the first line of standard input. It is never an argument.",
        examples: [
            "sojourn user set-password ada", "echo \"$PASSWORD\" | sojourn user set-password ada",
        ],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .put, ["users", reference(arguments.operands[0]), "password"],
                .object(["new_password": .string(try arguments.readPassword())]))
        },
        show: { _, arguments in "the password of \(arguments.operands[0]) is set; all sessions ended" })

    static let resetPassword = Command.admin(
        ["user", "reset-password"], "Makes a link that sets a new password, once.", operands: ["USER"],
        options: [Command.Option("--send", nil, "mail the link to the user, and do not print it")],
        discussion: """
            It replaces an earlier one. The token behind the # of the link is for apps with a form of their own: they send it to
            POST /v1/password-reset.
            """,
        examples: ["sojourn user reset-password ada", "sojourn user reset-password ada --send"],
        act: { arguments throws(Failure) in
            var act = MakeResetLink(ActSubject(userNamed: arguments.operands[0]))
            act.isSent = arguments.has("--send")
            return act
        },
        show: { answer, arguments in
            let link = answer["link"]?.cell ?? "the link is on its way to \(arguments.operands[0])"
            return "\(link)\n\nworks once, until \(Formatting.timeWithDistance(answer["expires_at"]?.integer))"
        })

    private static func loginState(_ user: JSONValue) -> String {
        if user["login_disabled_by_admin"] != nil { return "off by admin" }
        return user["login_disabled_by_user"] != nil ? "off by user" : "on"
    }

    private static func sources(_ sources: JSONValue) -> String {
        ["username", "email", "password", "access"].compactMap { part in
            sources[part].map { "\(part) \($0.cell)" }
        }.joined(separator: ", ")
    }

    private static func facts(_ user: JSONValue) -> String {
        let disabling = { (name: String) -> String? in
            user[name].map { switched in
                "since \(Formatting.time(switched["since"]?.integer)), \(switched["effective"]?.cell ?? "")"
                    + (switched["reason"].map { ": \($0.cell)" } ?? "")
            }
        }
        return Formatting.facts([
            ("user_id", user["user_id"]?.cell), ("username", user["username"]?.cell),
            ("display_name", user["display_name"]?.cell), ("given_name", user["given_name"]?.cell),
            ("family_name", user["family_name"]?.cell), ("email", user["email"]?.cell),
            ("email_verified", user["email"].map { _ in user["email_verified"]?.bool == true ? "yes" : "no" }),
            ("phone_number", user["phone_number"]?.cell), ("country", user["country"]?.cell),
            ("claims", user["claims"].map { String(decoding: $0.text(), as: UTF8.self) }),
            ("offline_session_max", Formatting.lifetime(user["offline_session_max"])),
            ("anonymous", user["anonymous"]?.bool == true ? "yes" : nil),
            ("sources", user["sources"].map(sources)),
            ("password", user["has_password"]?.bool == true ? "set" : "none"), ("logins", loginState(user)),
            ("off by admin", disabling("login_disabled_by_admin")),
            ("off by user", disabling("login_disabled_by_user")),
            ("made", Formatting.time(user["created_at"]?.integer)),
        ])
    }
}
