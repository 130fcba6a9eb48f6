import HTTP
import JSON

/// `sojourn user identities · link · unlink`
enum IdentityCommands {
    static let all = [list, link, unlink]

    private static let list = Command.admin(
        ["user", "identities"], "Lists a user's identities at identity providers.", operands: ["USER"],
        examples: ["sojourn user identities ada"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(.get, path(arguments))
        },
        show: { page, _ in
            page.table(
                ["PROVIDER", "SUBJECT", "SINCE"], empty: "no identities",
                { identity in
                    [
                        identity["provider"]?.cell ?? "-", identity["subject"]?.cell ?? "-",
                        Formatting.time(identity["linked_at"]?.integer),
                    ]
                })
        })

    private static let link = Command.admin(
        ["user", "link"], "Lets a user log in by an identity of a provider.",
        operands: ["USER", "PROVIDER", "SUBJECT"],
        discussion: "SUBJECT is the 'sub' of the provider's ID tokens, PROVIDER its name in the configuration.",
        examples: ["sojourn user link ada google 110169484474386276334"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .put, path(arguments),
                .object([
                    "provider": .string(arguments.operands[1]), "subject": .string(arguments.operands[2]),
                ]))
        },
        show: { _, arguments in "\(arguments.operands[0]) can log in by \(arguments.operands[1])" })

    private static let unlink = Command.admin(
        ["user", "unlink"], "Unlinks an identity from a user; sessions go on.",
        operands: ["USER", "PROVIDER", "SUBJECT"], examples: ["sojourn user unlink ada google 110169484474386276334"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .delete, path(arguments),
                query: [("provider", arguments.operands[1]), ("subject", arguments.operands[2])])
        },
        show: { _, arguments in "\(arguments.operands[0]) cannot log in by that identity any more" })

    private static func path(_ arguments: Arguments) -> [String] {
        ["users", UserCommands.reference(arguments.operands[0]), "identities"]
    }
}
