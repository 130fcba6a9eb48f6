internal import HTTP
internal import Pages
internal import Sessions

extension ConsoleView {
    /// The audit trail.
    func events(
        _ events: [RecordedEvent], names: UserNames, _ filter: EventFilter, next: Int64?, isFirst: Bool,
        isUserUnknown: Bool = false
    ) -> ConsolePage {
        let more = next.map { Self.path(of: filter, before: $0) }
        var blocks: [ConsoleBlock] = [
            .form(Self.form(of: filter)), self.events(events, names: names, empty: "No event here matches."),
        ]
        if let more, events.count < Self.rowsMax {
            blocks.append(
                .text(
                    "Older events were not looked at yet, so that no search takes long. \(link: more, "Look further")"))
            blocks.append(.pages(newer: isFirst ? nil : Self.path(of: filter, before: nil), older: nil))
        } else {
            blocks.append(.pages(newer: isFirst ? nil : Self.path(of: filter, before: nil), older: more))
        }
        let file = Self.path(of: filter, before: nil).text.replacing("/console/events", with: "/console/events.jsonl")
        if let file = PagePath(checking: file) {
            let (most, read) = (Endpoints.exportMax, Administration.readsMax)
            let limit = "at most \(most) events; a filter looks at the newest \(read)."
            blocks.append(.text("\(link: file, "Save as a file (JSON lines)"): \(sentence: limit)"))
        }
        return page(
            .events, "Events", lead: "What has happened, the newest first.",
            notice: isUserUnknown ? (.bad, "No user has the name or id \(name: filter.user ?? "").") : nil, blocks)
    }

    private static func path(of filter: EventFilter, before cursor: Int64?) -> PagePath {
        let pairs = filter.pairs + (cursor.map { [(name: "cursor", value: "\($0)")] } ?? [])
        let query = pairs.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        return PagePath(checking: "/console/events" + (query.isEmpty ? "" : "?" + query)) ?? PagePath("/console/events")
    }

    private static func form(of filter: EventFilter) -> ConsoleForm {
        let kinds =
            [(value: "", label: "any")]
            + AuditEvent.Kind.allCases.map { (value: $0.rawValue, label: plain($0.rawValue)) }
        return ConsoleForm(
            PagePath("/console/events"), isQuery: true,
            fields: [
                .choice("kind", label: "Event", kinds, chosen: filter.kind ?? ""),
                .text("user", label: "User: username, e-mail or id", value: filter.user ?? ""),
                .text("session", label: "Session id", value: filter.session ?? ""),
                .text("client", label: "App", value: filter.client ?? ""),
                .text("device", label: "Device id", value: filter.device ?? ""),
                .text("request", label: "Request id", value: filter.request ?? ""),
                .text("actor", label: "By", value: filter.actor ?? ""),
                .text("reason", label: "Reason", value: filter.reason ?? ""),
            ], button: "Filter", isLine: true)
    }
}
