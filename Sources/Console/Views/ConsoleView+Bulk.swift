internal import AdminActs
internal import HTTP
public import Pages
public import Sessions

extension ConsoleView {
    /// The sessions that match. The list is the preview of what the form ends.
    public func bulk(
        _ filter: BulkFilter, _ found: (records: [SessionRecord], next: Identifier<Session>?)?, isFirst: Bool,
        notice: ConsoleNotice? = nil
    ) -> ConsolePage {
        var blocks: [ConsoleBlock] = [.form(form(of: filter))]
        if let found {
            blocks.append(table(found.records))
            if admin.may(.owner), !found.records.isEmpty { blocks.append(.acts([end(found.records, filter)])) }
            let more = found.next.map { Self.path(of: filter, after: $0) }
            if found.records.count < Self.rowsMax, let more {
                blocks.append(.text("Not all sessions were looked at yet. \(link: more, "Look further")"))
            } else {
                blocks.append(.pages(newer: isFirst ? nil : Self.path(of: filter, after: nil), older: more))
            }
        } else {
            blocks.append(
                .text("Say which sessions: the list shows at most \(Self.rowsMax), and its button ends exactly those."))
        }
        return page(
            .bulk, "Bulk", lead: "Sessions of many users that have something in common.", notice: notice, blocks)
    }

    /// The page of the sessions that match.
    public static func path(of filter: BulkFilter, after cursor: Identifier<Session>?) -> PagePath {
        let pairs = filter.pairs + (cursor.map { [(name: "cursor", value: "\($0)")] } ?? [])
        let query = pairs.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        return PagePath(checking: PagePath.consoleBulk.text + (query.isEmpty ? "" : "?" + query)) ?? .consoleBulk
    }

    private func form(of filter: BulkFilter) -> ConsoleForm {
        let fields = BulkFilter.fields.map { name, label in
            let label = BulkFilter.durations.contains(name) ? "\(label) (\(DurationText.example))" : label
            return ConsoleField.text(name, label: label, value: filter[name] ?? "")
        }
        return ConsoleForm(
            .consoleBulk, isQuery: true, fields: Array(fields.prefix(4)), button: "Show", isLine: true,
            more: Array(fields.dropFirst(4)))
    }

    private func table(_ records: [SessionRecord]) -> ConsoleBlock {
        .table(
            ConsoleTable(
                "Sessions", columns: ["Device", "User", "App", "Platform and version", "Signed in", "Last refresh"],
                rows: records.map { record in
                    let session = record.session
                    return [
                        "\(link: Self.path(ofSession: session.id), device(session.device))",
                        Self.link(session.userID, record.user?.username),
                        "\(session.clientID)",
                        .joined(
                            [session.device.platform, session.device.appVersion].compactMap(\.self).map { "\($0)" },
                            by: " "),
                        time(session.startedAt), time(session.renewedAt),
                    ]
                }, empty: "No living session matches, as far as was looked."))
    }

    private func end(_ records: [SessionRecord], _ filter: BulkFilter) -> ActForm {
        let count = Self.counted("\(records.count)", "session")
        let ids = records.map(\.session.id.description)
        let first: ConsoleText =
            records.first.map { ", beginning with \(Self.named($0.session.userID, $0.user?.username))" } ?? ""
        return ActForm(
            .consoleBulk, "end", label: records.count == 1 ? "End this session" : "End these \(count)",
            question: """
                End \(sentence: records.count == 1 ? "this one session" : "the \(count)") of this list? The users\
                \(first), have to log in again on these devices.
                """,
            fields: [.hidden("sessions", ids.joined(separator: " "))]
                + filter.pairs.map { ConsoleField.hidden($0.name, $0.value) },
            button: records.count == 1 ? "End this session" : "End these \(count)", isDestructive: true,
            commands: [
                Shell.curl(deleting: ids, below: "/sessions", at: admin.baseURL),
                Shell.loop(over: ids, "sojourn session end $id"),
            ])
    }
}
