internal import Sessions

/// A row of the list of devices: one session, or the sessions of one client in one browser, the last used first.
struct DeviceRow {
    /// The sessions of the row.
    let records: [SessionRecord]

    /// The session that stands for the row.
    var record: SessionRecord { records[0] }
    /// The id of that session.
    var id: Identifier<Session> { record.session.id }

    /// The rows of sessions, in their order.
    static func list(_ records: [SessionRecord]) -> [DeviceRow] {
        var rows: [[SessionRecord]] = []
        var places: [String: Int] = [:]
        for record in records {
            let group = record.session.device.browserGroup
            if let place = group.flatMap({ places[$0] }) {
                rows[place].append(record)
                continue
            }
            if let group { places[group] = rows.count }
            rows.append([record])
        }
        return rows.map { DeviceRow(records: $0) }
    }

    /// The rows by the row above them: that of the browser in which they began, or else of the phone that has let them in.
    static func families(of rows: [DeviceRow]) -> [Identifier<Session>?: [DeviceRow]] {
        let ids = Set(rows.map(\.id))
        let clients = Set(rows.map(\.record.session.clientID))
        var browsers: [String: Identifier<Session>] = [:]
        for row in rows where row.record.session.clientID == Client.browserID {
            for client in clients { browsers[Device.browserGroup(of: client, in: row.id)] = row.id }
        }
        return Dictionary(grouping: rows) { row in
            row.record.session.device.browserGroup.flatMap { browsers[$0] }
                ?? row.record.session.phoneID.flatMap { ids.contains($0) ? $0 : nil }
        }
    }

    /// The rows in their order, each with those below it.
    static func sorted(_ rows: [DeviceRow]) -> [DeviceRow] {
        let families = families(of: rows)
        func sorted(below id: Identifier<Session>?) -> [DeviceRow] {
            (families[id] ?? []).flatMap { [$0] + sorted(below: $0.id) }
        }
        return sorted(below: nil)
    }
}

extension Device {
    /// What names the device's row in a list.
    var row: String { browserGroup ?? id }
}
