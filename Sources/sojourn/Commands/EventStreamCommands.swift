import AdminActs
import HTTP
import JSON
import Sessions

/// `sojourn event-stream list · set · verify · delete`
enum EventStreamCommands {
    static let all = [list, set, verify, delete]

    private static let list = Command.admin(
        ["event-stream", "list"], "Lists streams of security events, and how far their receivers are behind.",
        examples: ["sojourn event-stream list"],
        send: { connection, _ async throws(Failure) in try await connection.send(.get, ["event-streams"]) },
        show: { page, _ in
            page.table(
                ["CLIENT", "STATUS", "REASON", "WAITING", "SINCE", "FAILING SINCE", "ENDPOINT"], empty: "no streams",
                { stream in
                    [
                        stream["client_id"]?.cell ?? "-", stream["status"]?.cell ?? "-", stream["reason"]?.cell ?? "-",
                        stream["events_waiting"]?.cell ?? "-", Formatting.time(stream["waiting_since"]?.integer),
                        Formatting.time(stream["failing_since"]?.integer), stream["endpoint_url"]?.cell ?? "polled",
                    ]
                })
        })

    private static let set = Command.admin(
        ["event-stream", "set"], "Enables, pauses or disables the stream of a client.", operands: ["CLIENT"],
        options: [
            Command.Option(
                "--status", "STATUS", "enabled, paused (events wait) or disabled (events are dropped)"),
            Command.Option("--reason", "TEXT", "why, for the receiver and other admins"),
        ],
        examples: ["sojourn event-stream set siem --status paused --reason 'maintenance until 18:00'"],
        act: { arguments throws(Failure) in
            guard let word = arguments.value("--status") else {
                throw arguments.usage("--status is missing: enabled, paused or disabled")
            }
            guard let status = EventStream.Status(rawValue: word) else {
                throw arguments.usage("--status must be enabled, paused or disabled, not '\(word)'")
            }
            var act = SetStreamStatus(of: ActSubject(arguments.operands[0]), to: status)
            act.reason = arguments.value("--reason")
            return act
        },
        show: { stream, arguments in "the stream of \(arguments.operands[0]) is \(stream["status"]?.cell ?? "-")" })

    private static let verify = Command.admin(
        ["event-stream", "verify"], "Lets the stream of a client carry a verification event.", operands: ["CLIENT"],
        examples: ["sojourn event-stream verify siem"],
        act: { arguments throws(Failure) in VerifyStream(ActSubject(arguments.operands[0]))
        },
        show: { _, arguments in "a verification event is on its way to \(arguments.operands[0])" })

    private static let delete = Command.admin(
        ["event-stream", "delete"], "Deletes the stream of a client, and what waits in it.", operands: ["CLIENT"],
        examples: ["sojourn event-stream delete siem"],
        act: { arguments throws(Failure) in DeleteStream(ActSubject(arguments.operands[0]))
        },
        show: { _, arguments in "the stream of \(arguments.operands[0]) is deleted" })
}
