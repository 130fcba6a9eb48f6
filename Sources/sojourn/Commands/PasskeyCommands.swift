import AdminActs
import HTTP
import JSON
import Sessions

/// `sojourn passkey list · delete`
enum PasskeyCommands {
    static let all = [list, delete]

    private static let list = Command.admin(
        ["passkey", "list"], "Lists a user's passkeys.", operands: ["USER"], examples: ["sojourn passkey list ada"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, ["users", UserCommands.reference(arguments.operands[0]), "passkeys"])
        },
        show: { page, _ in
            page.table(
                ["ID", "NAME", "BACKED UP", "SINCE", "LAST USED"], empty: "no passkeys",
                { passkey in
                    [
                        passkey["id"]?.cell ?? "-", passkey["name"]?.cell ?? "-",
                        passkey["backed_up"]?.bool == true ? "yes" : "no",
                        Formatting.time(passkey["created_at"]?.integer),
                        Formatting.time(passkey["last_used_at"]?.integer),
                    ]
                })
        })

    private static let delete = Command.admin(
        ["passkey", "delete"], "Removes a passkey of a user; sessions go on.", operands: ["USER", "ID"],
        examples: ["sojourn passkey delete ada SSfJKz4ZrGQ"],
        act: { arguments throws(Failure) in
            RemovePasskey(arguments.operands[1], of: ActSubject(userNamed: arguments.operands[0]))
        },
        show: { _, arguments in "\(arguments.operands[0]) cannot log in by that passkey any more" })
}

/// `sojourn user factor list · remove`, `user second-factor`, `settings second-factor`
enum SecondFactorCommands {
    static let all = [list, remove, require, policy]

    private static let list = Command.admin(
        ["user", "factor", "list"], "Lists a user's authenticators.", operands: ["USER"],
        examples: ["sojourn user factor list ada"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["users", UserCommands.reference(arguments.operands[0]), "second-factors"])
        },
        show: { page, _ in
            page.table(
                ["ID", "NAME", "SINCE", "LAST USED"], empty: "no authenticators",
                { factor in
                    [
                        factor["id"]?.cell ?? "-", factor["name"]?.cell ?? "-",
                        Formatting.time(factor["created_at"]?.integer),
                        Formatting.time(factor["last_used_at"]?.integer),
                    ]
                })
        })

    private static let remove = Command.admin(
        ["user", "factor", "remove"], "Removes an authenticator of a user that has lost it; sessions go on.",
        operands: ["USER", "[ID]"],
        options: [Command.Option("--all", nil, "every authenticator, with the recovery codes")],
        discussion: "Check the identity of the caller first: afterwards the password alone opens the account.",
        examples: [
            "sojourn user factor remove ada 0f8fad5bd9cb469fa16570867728950e", "sojourn user factor remove --all ada",
        ],
        act: { arguments throws(Failure) in
            let id = arguments.operands.count > 1 ? arguments.operands[1] : nil
            guard (id == nil) == arguments.has("--all") else {
                throw Failure(.usage, "name the ID of one authenticator, or --all")
            }
            return RemoveSecondFactor(id, of: ActSubject(userNamed: arguments.operands[0]))
        },
        show: { _, arguments in "\(arguments.operands[0]) logs in without it from now on" })

    private static let require = Command.admin(
        ["user", "second-factor"], "Decides whether policies of second factors apply to a user.",
        operands: ["USER", "DECISION"],
        options: [Command.Option("--keep-sessions", nil, "sessions that do not meet the decision go on")],
        discussion: "DECISION is required, exempt, or inherit: as settings and client say.",
        examples: [
            "sojourn user second-factor ada required", "sojourn user second-factor --keep-sessions ada inherit",
        ],
        act: { arguments throws(Failure) in
            let word = arguments.operands[1]
            let requirement = UserDetails.SecondFactorRequirement(rawValue: word)
            guard requirement != nil || word == RequireSecondFactor.inherit else {
                throw Failure(.usage, "'\(word)' is none of required, exempt and inherit")
            }
            var act = RequireSecondFactor(requirement, of: ActSubject(userNamed: arguments.operands[0]))
            act.keepsSessions = arguments.has("--keep-sessions")
            return act
        },
        show: { answer, _ in "\(Formatting.count(answer["revoked"]?.integer ?? 0, "session")) ended" })

    private static let policy = Command.admin(
        ["settings", "second-factor"], "Sets when logins ask for a second factor.",
        operands: ["POLICY"],
        discussion:
            "POLICY is off, if_enrolled, required_at_login or required. With required, sessions without a second factor are asked for it at their next refresh; none ends.",
        examples: ["sojourn settings second-factor required_at_login"],
        act: { arguments throws(Failure) in
            let word = arguments.operands[0]
            guard let policy = SecondFactorPolicy(rawValue: word) else {
                throw Failure(
                    .usage,
                    "'\(word)' is none of \(SecondFactorPolicy.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return SetSecondFactorPolicy(policy)
        },
        show: { answer, _ in "second_factor_policy: \(answer["second_factor_policy"]?.cell ?? "-")" })
}
