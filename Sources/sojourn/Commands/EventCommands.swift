import HTTP
import JSON

/// `sojourn event …`
enum EventCommands {
    static let all = [list]

    private static let list = Command.admin(
        ["event", "list"], "Lists the audit trail, the oldest event first.",
        options: [
            Command.Option("--user", "USER", "only events of this user; a deleted user by the id"),
            Command.Option("--session", "ID", "only events of this session"),
        ] + Command.Option.page,
        discussion: """
            The trail has logins, wrong passwords, ends of sessions, detected thefts and changes by admins, with the key and
            the address of the caller. Refreshes are not in it. The id of the last event is a cursor for a later call.
            """,
        examples: ["sojourn event list --user ada", "sojourn event list --cursor 4711 --json"],
        send: { connection, arguments async throws(Failure) in
            try await connection.send(
                .get, ["events"],
                query: [
                    ("user", arguments.value("--user").map(UserCommands.reference)),
                    ("session_id", arguments.value("--session")),
                ] + arguments.page)
        },
        show: { page, _ in
            page.table(
                ["ID", "TIME", "EVENT", "REASON", "BY", "FROM", "USER", "SESSION"], empty: "no events",
                { event in
                    [event["id"]?.cell ?? "-", Formatting.time(event["at"]?.integer)]
                        + ["event", "reason", "actor", "remote_address", "user_id", "session_id"].map {
                            event[$0]?.cell ?? "-"
                        }
                })
        })
}
