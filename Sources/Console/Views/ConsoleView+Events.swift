internal import HTTP
internal import JSON
public import Pages
public import Sessions

extension ConsoleView {
    /// The largest number of events in one file.
    public static let exportMax = 10_000

    /// The audit trail; nil: there is no such user.
    public func events(_ trail: Trail?, _ filter: EventFilter, isFirst: Bool) -> ConsolePage {
        let first = isFirst ? nil : EventFilter.path(.consoleEvents, of: filter, before: nil)
        let more = trail?.next.map { EventFilter.path(.consoleEvents, of: filter, before: $0) }
        var blocks: [ConsoleBlock] = [
            .form(Self.form(of: filter)),
            events(trail?.events ?? [], names: trail?.names ?? [:], empty: "No event here matches."),
        ]
        if let more, trail?.events.count ?? 0 < Self.rowsMax {
            blocks.append(
                .text(
                    "Older events were not looked at yet, so that no search takes long. \(link: more, "Look further")"))
            blocks.append(.pages(newer: first, older: nil))
        } else {
            blocks.append(.pages(newer: first, older: more))
        }
        let (lines, table) = (
            EventFilter.path(PagePath("/console/events.jsonl"), of: filter, before: nil),
            EventFilter.path(PagePath("/console/events.csv"), of: filter, before: nil)
        )
        let (most, read) = (Self.exportMax, Administration.readsMax)
        let limit = "at most \(most) events; a filter looks at the newest \(read), or at those up to its last day."
        blocks.append(.text("Save as a file: \(link: table, "CSV"), \(link: lines, "JSON lines"): \(sentence: limit)"))
        return page(
            .events, "Events", lead: "What has happened, the newest first.",
            notice: trail == nil ? (.bad, "No user has the name or id \(name: filter.user ?? "").") : nil, blocks)
    }

    private static func form(of filter: EventFilter) -> ConsoleForm {
        let kinds =
            [(value: "", label: "any")]
            + AuditEvent.Kind.allCases.map { (value: $0.rawValue, label: plain($0.rawValue)) }
        let kind = filter.kind?.lowercased().replacing(" ", with: "_")
        return ConsoleForm(
            .consoleEvents, isQuery: true,
            fields: [
                .text("user", label: "User: username, e-mail or id", value: filter.user ?? ""),
                .choice("kind", label: "Event", kinds, chosen: kind ?? ""),
                .day("from", label: "First day (UTC)", value: filter.from ?? ""),
                .day("until", label: "Last day (UTC)", value: filter.until ?? ""),
            ], button: "Filter", isLine: true,
            more: [
                .text("actor", label: "By", value: filter.actor ?? ""),
                .text("address", label: "From: address or place", value: filter.address ?? ""),
                .text("reason", label: "Reason", value: filter.reason ?? ""),
                .text("client", label: "App", value: filter.client ?? ""),
                .text("device", label: "Device", value: filter.device ?? ""),
                .text("session", label: "Session", value: filter.session ?? ""),
                .text("request", label: "Request", value: filter.request ?? ""),
            ])
    }

    /// A table of events, a line each. A user without a name in `names` was deleted.
    func events(_ events: [RecordedEvent], names: Usernames, empty: String = "Nothing.") -> ConsoleBlock {
        let rows = events.map { recorded -> [ConsoleText] in
            let event = recorded.event
            let user: ConsoleText =
                event.userID.map { id in
                    let name = names[id].map { $0.isEmpty ? "–" : $0 } ?? "a deleted user"
                    return "\(link: Self.path(ofUser: id), name)"
                } ?? ""
            let request: ConsoleText =
                event.requestID.map { id in
                    let path = PagePath("/console/events", ["request": id])
                    return "\(link: path, code: String(id.suffix(Self.shownDigits)))"
                } ?? ""
            return [
                "\(Self.plain(event.kind.rawValue))", time(event.at), user, about(event), "\(actor(of: event))",
                from(event.remoteAddress), request,
            ]
        }
        return .table(
            ConsoleTable(
                "Events", columns: ["Event", "When", "User", "About", "By", "From", "Request"], rows: rows,
                empty: empty, isDense: true))
    }

    /// The reason, the session, the app and the device of an event.
    private func about(_ event: AuditEvent) -> ConsoleText {
        var parts: [ConsoleText] = []
        let kinds: Set = [AuditEvent.Kind.userChanged, .settingsChanged, .clientChanged]
        if kinds.contains(event.kind), let difference = event.reason.flatMap(ValueDifference.init(reason:)) {
            parts += difference.members.sorted { $0.key < $1.key }.map { name, values in
                "\(name): \(Self.text(values.old)) → \(Self.text(values.new))"
            }
        } else if event.kind == .emailChanged, let change = event.reason.flatMap(EmailChange.init(reason:)) {
            parts.append("\(change.old ?? "–") → \(change.new ?? "–")")
        } else if let reason = event.reason {
            parts.append("\(reason)")
        }
        if let id = event.clientID { parts.append("\(id)") }
        if let device = event.deviceName ?? event.deviceID { parts.append("\(device)") }
        if let id = event.sessionID {
            parts.append("\(link: Self.path(ofSession: id), code: String(id.description.prefix(Self.shownDigits)))")
        }
        return .joined(parts)
    }

    /// A value of a member as an admin reads it.
    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "–"
        case .string(let text): text
        default: value.compactText ?? ""
        }
    }
}
