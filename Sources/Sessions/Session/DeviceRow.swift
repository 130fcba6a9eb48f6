/// A row of the list of devices: one session, or the sessions of one client in one browser, the last used first.
public struct DeviceRow: Sendable {
    /// The sessions of the row.
    public let records: [SessionRecord]
    /// What the sessions of one client in one browser have in common; nil for a session of any other device.
    public let group: String?

    /// The session that stands for the row.
    public var record: SessionRecord { records[0] }
    /// The id of that session.
    public var id: Identifier<Session> { record.session.id }

    private init(_ records: [SessionRecord], _ group: String?) {
        (self.records, self.group) = (records, group)
    }

    /// The row of one session.
    public init(_ record: SessionRecord) { self.init([record], record.session.device.browserGroup) }

    /// The rows of sessions, in their order.
    public static func list(_ records: [SessionRecord]) -> [DeviceRow] {
        var rows: [(records: [SessionRecord], group: String?)] = []
        var places: [String: Int] = [:]
        for record in records {
            let group = record.session.device.browserGroup
            if let place = group.flatMap({ places[$0] }) {
                rows[place].records.append(record)
                continue
            }
            if let group { places[group] = rows.count }
            rows.append(([record], group))
        }
        return rows.map { DeviceRow($0.records, $0.group) }
    }

    /// The rows by the row above them: that of the browser in which they began, or else of the phone that has let them in.
    public static func families(of rows: [DeviceRow]) -> [Identifier<Session>?: [DeviceRow]] {
        let ids = Set(rows.map(\.id))
        // Only a row with a group can be below a browser, so that the others cost no hash.
        let clients = Set(rows.compactMap { $0.group == nil ? nil : $0.record.session.clientID })
        var browsers: [String: Identifier<Session>] = [:]
        for row in rows where row.record.session.clientID == Client.browserID {
            for client in clients { browsers[Device.browserGroup(of: client, in: row.id)] = row.id }
        }
        return Dictionary(grouping: rows) { row in
            row.group.flatMap { browsers[$0] }
                ?? row.record.session.phoneID.flatMap { ids.contains($0) ? $0 : nil }
        }
    }

    /// The rows of `families` in their order, each with those below it.
    public static func sorted(_ families: [Identifier<Session>?: [DeviceRow]]) -> [DeviceRow] {
        func sorted(below id: Identifier<Session>?) -> [DeviceRow] {
            (families[id] ?? []).flatMap { [$0] + sorted(below: $0.id) }
        }
        return sorted(below: nil)
    }
}

extension Device {
    /// What names the device's row in a list.
    public var row: String { browserGroup ?? id }

    /// The name of the device as its user knows it: its own, or else its platform.
    public var shownName: String? { name ?? platform.map(Self.shownName) }

    /// The name of a device or of a platform, as its user or its maker writes it.
    public static func shownName(of label: String) -> String {
        platforms[label.lowercased()] ?? label
    }

    /// The names of platforms as their makers write them.
    private static let platforms = [
        "ios": "iOS", "ipados": "iPadOS", "visionos": "visionOS", "watchos": "watchOS", "tvos": "tvOS",
        "macos": "macOS",
        "android": "Android", "windows": "Windows", "linux": "Linux", "chromeos": "ChromeOS",
    ]
}
