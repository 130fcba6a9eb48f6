internal import Calendar
internal import Console
internal import HTTP
internal import Pages
internal import Sessions

extension Endpoints {
    /// `GET /console/events.jsonl?…`: the newest events that match, one JSON object on each line, as the admin API answers them.
    func exportConsoleEvents(_ call: Call) async throws -> Response {
        try await exportedEvents(call, "events.jsonl", "application/jsonl") { events in
            try events.flatMap { try JSONAnswer.encode(EventAnswer($0)) + Array("\n".utf8) }
        }
    }

    /// `GET /console/events.csv?…`: the same as a table (RFC 4180).
    func exportConsoleEventsAsCSV(_ call: Call) async throws -> Response {
        try await exportedEvents(call, "events.csv", "text/csv; charset=utf-8; header=present") { events in
            let heads = [
                "id", "at", "event", "actor", "user_id", "session_id", "client_id", "device_id", "device_name",
                "reason", "remote_address", "request_id",
            ]
            let rows = events.map { recorded -> [String?] in
                let event = recorded.event
                return [
                    "\(recorded.id)", UTCTime(secondsSinceEpoch: event.at.secondsSinceEpoch).rfc3339,
                    event.kind.rawValue, event.actor, event.userID?.description, event.sessionID?.description,
                    event.clientID, event.deviceID, event.deviceName, event.reason, event.remoteAddress,
                    event.requestID,
                ]
            }
            return ([heads] + rows).flatMap { row in
                Array((row.map(Self.cell).joined(separator: ",") + "\r\n").utf8)
            }
        }
    }

    /// A cell of a table. A spreadsheet would run a text that begins like a formula, so that an apostrophe stands before it.
    private static func cell(_ text: String?) -> String {
        guard let text, let first = text.unicodeScalars.first else { return "" }
        let plain = "=+-@\t\r".unicodeScalars.contains(first) ? "'" + text : text
        return "\"\(plain.replacing("\"", with: "\"\""))\""
    }

    private func exportedEvents(
        _ call: Call, _ name: String, _ type: String, _ encode: ([RecordedEvent]) throws -> [UInt8]
    ) async throws -> Response {
        try await console(call) { stay in
            let (filter, cursor) = try Self.eventFilter(call)
            guard let filter = try await resolved(filter) else { throw ServiceError.notFound("user") }
            let view = self.view(stay)
            let found = try await findEvents(
                filter, view, before: cursor, limit: ConsoleView.exportMax, isNamed: false)
            var response = Response(.ok, type, try encode(found.events))
            response.fields.append("Content-Disposition", "attachment; filename=\"\(name)\"")
            response.fields.append("Cache-Control", "no-store")
            return response
        }
    }
}
