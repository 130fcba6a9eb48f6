import AdminActs
import HTTP
import JSON
import Sessions

/// `sojourn admin-key …` and `sojourn key …`
enum KeyCommands {
    static let all = [createAdminKey, listAdminKeys, deleteAdminKey, list, rotate, withdraw]

    static let createAdminKey = Command.admin(
        ["admin-key", "create"], "Makes a key for the admin API, shown once.", operands: ["NAME"],
        options: [
            Command.Option(
                "--scope", "SCOPE",
                "feed (only what is revoked, for resource servers), read, users (makes users, for a sign-up backend), support (reads, ends sessions, switches logins, unlocks) or owner (everything)",
                choices: AdminKey.Scope.allCases.map(\.rawValue)),
            Command.Option("--expires-in", "DURATION", "its lifetime; without it, the key does not expire"),
        ],
        examples: [
            "sojourn admin-key create 'support tool' --scope support --expires-in 90d",
            "sojourn admin-key create 'sign-up backend' --scope users",
        ],
        act: { arguments throws(Failure) in
            var act = CreateAdminKey(arguments.operands[0])
            act.keyScope = arguments.value("--scope").flatMap { AdminKey.Scope(rawValue: $0) }
            act.lifetime = try arguments.seconds("--expires-in")
            return act
        },
        show: { key, _ in
            "\(key["admin_key"]?.cell ?? "")\n\nkeep it: it is shown this once. Its id is \(key["id"]?.cell ?? "-")"
        })

    static let listAdminKeys = Command.admin(
        ["admin-key", "list"], "Lists the admin keys, without the keys themselves.",
        examples: ["sojourn admin-key list"],
        send: { connection, _ async throws(Failure) in try await connection.send(.get, ["admin-keys"]) },
        show: { page, _ in
            page.table(["ID", "NAME", "SCOPE", "MADE", "EXPIRES", "LAST USED"], empty: "no admin keys") { key in
                [key["id"]?.cell ?? "-", key["name"]?.cell ?? "-", key["scope"]?.cell ?? "-"]
                    + ["created_at", "expires_at", "last_used_at"].map { Formatting.time(key[$0]?.integer) }
            }
        })

    static let deleteAdminKey = Command.admin(
        ["admin-key", "delete"], "Deletes an admin key, which is refused from then on.", operands: ["ID"],
        examples: ["sojourn admin-key delete 1f2e3d4c"],
        act: { arguments throws(Failure) in DeleteAdminKey(ActSubject(arguments.operands[0]))
        },
        show: { _, arguments in "admin key \(arguments.operands[0]) is deleted" })

    static let list = Command.admin(
        ["key", "list"], "Lists the keys that sign tokens: which one signs now, and which one next.",
        examples: ["sojourn key list"],
        send: { connection, _ async throws(Failure) in try await connection.send(.get, ["keys"]) },
        show: { page, _ in
            page.table(["KID", "ALG", "STATE", "MADE", "SIGNS FROM", "PUBLISHED UNTIL"], empty: "no keys") { key in
                [key["kid"]?.cell ?? "-", key["alg"]?.cell ?? "-", state(key)]
                    + ["created_at", "active_from", "retired_at"].map { Formatting.time(key[$0]?.integer) }
            }
        })

    private static func state(_ key: JSONValue) -> String {
        switch key["state"]?.string.flatMap(StoredSigningKey.State.init) {
        case .signing: "signs now"
        case .next: "signs next"
        case .retired: "signs no more"
        case nil: "-"
        }
    }

    static let rotate = Command.admin(
        ["key", "rotate"], "Makes a new signing key; it signs a day later, when every verifier has it.",
        options: [
            Command.Option(
                "--immediately", nil, "sign with it at once; tokens of the old key work until they expire")
        ],
        examples: ["sojourn key rotate"],
        act: { arguments throws(Failure) in
            RotateSigningKey(immediately: arguments.has("--immediately"))
        },
        show: { key, _ in "the new key is \(key["kid"]?.cell ?? "")" })

    static let withdraw = Command.admin(
        ["key", "withdraw"], "Withdraws a signing key that has leaked; a new one signs at once.",
        operands: ["KID"],
        discussion: """
            The server refuses tokens of that key from then on, and other verifiers do when they read the key set again. No
            session ends: apps get a new token at their next refresh.
            """,
        examples: ["sojourn key withdraw hh_yv-T7PC_lB9QsyRdO-S2G81Dd1ZjF7SIxFYvLQOo"],
        act: { arguments throws(Failure) in WithdrawSigningKey(ActSubject(arguments.operands[0]))
        },
        show: { _, arguments in "signing key \(arguments.operands[0]) is withdrawn" })
}
