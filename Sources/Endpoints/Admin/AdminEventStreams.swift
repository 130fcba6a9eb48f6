internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/event-streams`: lists the streams of security events, and since when their receivers have failed.
    func listEventStreams(_ call: Call) async throws -> Response {
        try .json(ListAnswer(try await services.eventStreams.all().map(EventStreamReportAnswer.init)))
    }

    /// `DELETE /admin/v1/event-streams/{client_id}`: deletes the stream of a client with what waits in it.
    func endEventStream(_ call: Call) async throws -> Response {
        guard let stream = try await services.eventStreams.stream(of: call.parameter, id: nil) else {
            throw ServiceError.notFound("stream")
        }
        try await services.eventStreams.delete(of: call.parameter, id: stream.id, by: call.origin)
        return .noContent
    }
}

/// A stream as JSON, for admins.
private struct EventStreamReportAnswer: Encodable {
    let clientID: String
    let streamID: String
    let status: String
    let reason: String?
    let endpointURL: String?
    let eventsRequested: [String]
    let failingSince: Int64?

    init(_ report: EventStreamReport) {
        let stream = report.stream
        (clientID, streamID) = (report.clientID, stream.id)
        (status, reason) = (stream.status.rawValue, stream.statusReason)
        if case .push(let endpoint, _) = stream.delivery { endpointURL = endpoint } else { endpointURL = nil }
        eventsRequested = stream.requested.map(\.rawValue)
        failingSince = report.failingSince?.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case streamID = "stream_id"
        case status
        case reason
        case endpointURL = "endpoint_url"
        case eventsRequested = "events_requested"
        case failingSince = "failing_since"
    }
}
