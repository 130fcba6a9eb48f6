internal import HTTP
internal import Pages
internal import Sessions

extension Endpoints {
    /// The largest number of events in one file.
    static let exportMax = 10_000

    /// `GET /console/events.jsonl?…`: the newest events that match, one JSON object on each line, as the admin API answers them.
    func exportConsoleEvents(_ call: Call) async throws -> Response {
        try await console(call) { _ in
            let (filter, cursor) = try Self.eventFilter(call)
            guard let filter = try await resolved(filter) else { throw ServiceError.notFound("user") }
            let found = try await findEvents(filter, before: cursor, limit: Self.exportMax)
            var lines: [UInt8] = []
            for event in found.events {
                lines += try JSONAnswer.encode(EventAnswer(event))
                lines.append(UInt8(ascii: "\n"))
            }
            var response = Response(.ok, "application/jsonl", lines)
            response.fields.append("Content-Disposition", "attachment; filename=\"events.jsonl\"")
            response.fields.append("Cache-Control", "no-store")
            return response
        }
    }
}
