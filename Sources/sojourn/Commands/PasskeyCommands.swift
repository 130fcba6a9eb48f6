import HTTP
import JSON

/// `sojourn passkey list · delete`
enum PasskeyCommands {
    static let all = [list, delete]

    private static let list = Command.admin(
        ["passkey", "list"], "Lists a user's passkeys.", operands: ["USER"], examples: ["sojourn passkey list ada"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, path(arguments))
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
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.delete, path(arguments), query: [("id", arguments.operands[1])])
        },
        show: { _, arguments in "\(arguments.operands[0]) cannot log in by that passkey any more" })

    private static func path(_ arguments: Arguments) -> [String] {
        ["users", UserCommands.reference(arguments.operands[0]), "passkeys"]
    }
}
