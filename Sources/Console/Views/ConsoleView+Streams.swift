internal import AdminActs
internal import Cryptography
internal import HTTP
internal import JSON
internal import Pages
internal import Sessions

extension ConsoleView {
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

    private func acts(on report: EventStreamReport) -> [ActForm] {
        let (name, status) = (report.clientID, report.stream.status)
        var acts: [ActForm?] = []
        if status == .enabled {
            acts.append(
                form(
                    SetStreamStatus.self, "stream-pause", report, label: "Pause the stream of \(name)",
                    question: "Stop the events to \(name: name)? They wait, and are sent when the stream is enabled."))
        }
        if status != .disabled {
            acts.append(
                form(
                    SetStreamStatus.self, "stream-disable", report, label: "Disable the stream of \(name)",
                    question: """
                        Stop the events to \(name: name)? What waits is dropped, and so is what happens meanwhile.
                        """))
        }
        if status != .enabled {
            acts.append(
                form(
                    SetStreamStatus.self, "stream-enable", report, label: "Enable the stream of \(name)",
                    question: status == .paused
                        ? "Send the events that wait to \(name: name)?"
                        : "Send events to \(name: name) again, beginning with the next one?"))
        }
        if status != .disabled {
            acts.append(
                form(
                    VerifyStream.self, "stream-verify", report, label: "Verify the stream of \(name)",
                    question: """
                        Let the stream to \(name: name) carry a verification event? This page then says whether the receiver has \
                        taken it.
                        """))
        }
        acts.append(
            form(
                DeleteStream.self, "stream-delete", report, label: "Delete the stream of \(name)",
                question: """
                    Delete the stream to \(name: name), and what waits in it? The receiver can make another.
                    """))
        return acts.compactMap(\.self)
    }

    private func form<Act: FormAct>(
        _ act: Act.Type, _ name: String, _ report: EventStreamReport, label: String, question: ConsoleText
    ) -> ActForm? {
        let hasReason = ["stream-pause", "stream-disable"].contains(name)
        let reason =
            hasReason ? [ConsoleField.text("reason", label: "Reason, which the receiver sees")] : []
        return form(
            act, name, on: ActSubject(report.clientID), .consoleDeliveries, label: label, question: question,
            fields: [.hidden("client", report.clientID)] + reason, button: label,
            isDestructive: hasReason || name == "stream-delete")
    }
}
