internal import Cryptography
internal import HTTP
internal import JSON
internal import Pages
internal import Sessions

extension ConsoleView {
    /// What an admin does with a stream of security events.
    enum StreamAct: String, Sendable {
        case enable = "stream-enable"
        case pause = "stream-pause"
        case verify = "stream-verify"
        case disable = "stream-disable"
        case delete = "stream-delete"

        /// What the page says afterwards.
        var word: String {
            switch self {
            case .verify: "verified"
            case .delete: "stream-ended"
            case .enable, .pause, .disable: "stream"
            }
        }

        /// The call of the admin API.
        func call(on clientID: String, because reason: String?) -> ConsoleCall {
            let path = "/event-streams/\(PercentEncoding.encode(clientID))"
            let status: EventStream.Status
            switch self {
            case .verify: return ConsoleCall(method: .post, path: path + "/verify")
            case .delete: return ConsoleCall(method: .delete, path: path)
            case .enable: status = .enabled
            case .pause: status = .paused
            case .disable: status = .disabled
            }
            var body: [String: JSONValue] = ["status": .string(status.rawValue)]
            if let reason { body["reason"] = .string(reason) }
            return ConsoleCall(method: .patch, path: path, body: body)
        }
    }

    /// The streams of security events, with how far their receivers are behind.
    func streams(_ reports: [EventStreamReport]) -> [ConsoleBlock] {
        let table = ConsoleTable(
            "Streams of security events",
            columns: ["App", "Way", "Status", "Events that wait", "Since", "Verification", "Deliveries"],
            rows: reports.map(row), empty: "No client has a stream.")
        return [
            .text("Each stream tells a receiver of sessions and accounts (OpenID Shared Signals Framework)."),
            .table(table), .acts(reports.flatMap(acts)),
        ]
    }

    private func row(_ report: EventStreamReport) -> [ConsoleText] {
        let stream = report.stream
        let way: ConsoleText =
            if case .push(let endpoint, _) = stream.delivery { "pushed to \(code: endpoint)" } else { "polled" }
        let verification: ConsoleText =
            stream.verification.map { "asked for \(time($0.requestedAt)), not taken yet" }
            ?? stream.verificationRequestedAt.map { "asked for \(time($0)), and taken" } ?? "never asked for"
        let count: ConsoleText = report.mayHaveMore ? "\(report.waiting) or more" : "\(report.waiting)"
        return [
            "\(link: PagePath.consoleClients.appending(report.clientID), report.clientID)", way,
            status(of: stream), stream.status == .disabled ? "none: they are dropped" : count,
            report.waitingSince.map { time($0) } ?? "", verification,
            stream.isPush ? deliveryState(report) : "by its polls",
        ]
    }

    private func deliveryState(_ report: EventStreamReport) -> ConsoleText {
        let name = DeliveryProgress.name(ofStream: report.stream.id)
        if report.stream.status != .enabled, report.failingSince == nil { return "nothing is sent" }
        return state(report.failingSince, name, rests: report.stream.status != .enabled)
    }

    private func status(of stream: EventStream) -> ConsoleText {
        let badge: ConsoleText = "\(badge: stream.status.rawValue, stream.status == .enabled ? .good : .bad)"
        return stream.statusReason.map { "\(badge) “\(name: $0)”" } ?? badge
    }

    private func acts(on report: EventStreamReport) -> [ConsoleAct] {
        let (name, status) = (report.clientID, report.stream.status)
        var acts: [ConsoleAct?] = []
        if status == .enabled {
            acts.append(
                act(
                    .pause, report, label: "Pause the stream of \(name)",
                    question: "Stop the events to \(name: name)? They wait, and are sent when the stream is enabled.",
                    command: "set --status paused"))
        }
        if status != .disabled {
            acts.append(
                act(
                    .disable, report, label: "Disable the stream of \(name)",
                    question: """
                        Stop the events to \(name: name)? What waits is dropped, and so is what happens meanwhile.
                        """,
                    command: "set --status disabled"))
        }
        if status != .enabled {
            acts.append(
                act(
                    .enable, report, label: "Enable the stream of \(name)",
                    question: status == .paused
                        ? "Send the events that wait to \(name: name)?"
                        : "Send events to \(name: name) again, beginning with the next one?",
                    command: "set --status enabled"))
        }
        if status != .disabled {
            acts.append(
                act(
                    .verify, report, label: "Verify the stream of \(name)",
                    question: """
                        Let the stream to \(name: name) carry a verification event? This page then says whether the receiver has \
                        taken it.
                        """,
                    command: "verify"))
        }
        acts.append(
            act(
                .delete, report, label: "Delete the stream of \(name)",
                question: """
                    Delete the stream to \(name: name), and what waits in it? The receiver can make another.
                    """,
                command: "delete"))
        return acts.compactMap(\.self)
    }

    private func act(
        _ act: StreamAct, _ report: EventStreamReport, label: String, question: ConsoleText, command: String
    ) -> ConsoleAct? {
        let name = report.clientID
        var fields: [ConsoleField] = [.hidden("client", name)]
        let hasReason = act == .pause || act == .disable
        if hasReason { fields.append(.text("reason", label: "Reason, which the receiver sees")) }
        return self.act(
            .consoleDeliveries, act.rawValue, label: label, question: question, fields: fields, button: label,
            isDestructive: hasReason || act == .delete,
            command: { call in
                let reason = call.body?["reason"]?.string.map { " --reason \(Self.quoted($0))" } ?? ""
                return "sojourn event-stream \(command)\(reason) \(Self.operands(name))"
            }, making: { values in act.call(on: name, because: values["reason"]) })
    }
}
