import AdminActs
import HTTP
import JSON

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
