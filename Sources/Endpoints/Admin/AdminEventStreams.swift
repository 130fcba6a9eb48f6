internal import HTTP
internal import Sessions

extension Endpoints {
    /// `GET /admin/v1/event-streams`: lists the streams of security events, and since when their receivers have failed.
    func listEventStreams(_ call: Call) async throws -> Response {
        try .json(ListAnswer(try await services.eventStreams.all().map(EventStreamReportAnswer.init)))
    }

    /// `PATCH /admin/v1/event-streams/{client_id}` `{status, reason}`: enables, pauses or disables the stream of a client.
    func changeEventStreamOfClient(_ call: Call) async throws -> Response {
        let members = try Members(call, known: ["status", "reason"])
        guard let status = try members.word("status", as: EventStream.Status.self) else {
            throw members.refused("status", "is missing")
        }
        let stream = try await services.eventStreams.requiredStream(of: call.parameter)
        _ = try await services.eventStreams.setStatus(
            status, because: try members.string("reason"), of: call.parameter, id: stream.id, by: call.origin)
        let report = try await services.eventStreams.all().first { $0.clientID == call.parameter }
        guard let report else { throw ServiceError.notFound("stream") }
        return try .json(EventStreamReportAnswer(report))
    }

    /// `POST /admin/v1/event-streams/{client_id}/verify`: lets the stream of a client carry a verification event.
    func verifyEventStreamOfClient(_ call: Call) async throws -> Response {
        let stream = try await services.eventStreams.requiredStream(of: call.parameter)
        try await services.eventStreams.requestVerification(
            state: nil, of: call.parameter, id: stream.id, by: call.origin)
        return .noContent
    }

    /// `DELETE /admin/v1/event-streams/{client_id}`: deletes the stream of a client with what waits in it.
    func endEventStream(_ call: Call) async throws -> Response {
        let stream = try await services.eventStreams.requiredStream(of: call.parameter)
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
    let eventsWaiting: Int
    let waitingSince: Int64?
    let failingSince: Int64?

    init(_ report: EventStreamReport) {
        let stream = report.stream
        (clientID, streamID) = (report.clientID, stream.id)
        (status, reason) = (stream.status.rawValue, stream.statusReason)
        if case .push(let endpoint, _) = stream.delivery { endpointURL = endpoint } else { endpointURL = nil }
        eventsRequested = stream.requested.map(\.rawValue)
        (eventsWaiting, waitingSince) = (report.waiting, report.waitingSince?.secondsSinceEpoch)
        failingSince = report.failingSince?.secondsSinceEpoch
    }

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case streamID = "stream_id"
        case status
        case reason
        case endpointURL = "endpoint_url"
        case eventsRequested = "events_requested"
        case eventsWaiting = "events_waiting"
        case waitingSince = "waiting_since"
        case failingSince = "failing_since"
    }
}

extension Route {
    static let listEventStreams = Route(
        .get, "/admin/v1/event-streams", on: .admin, .admin(.read) { try await $0.listEventStreams($1) },
        Operation(
            "list_event_streams", .clients, "List streams of security events",
            "The clients with a stream, and since when their receivers have failed.",
            answers: [.json("EventStreamReports", "The streams.")]))

    static let changeEventStreamOfClient = Route(
        .patch, "/admin/v1/event-streams/{client_id}", on: .admin,
        .admin(.owner) { try await $0.changeEventStreamOfClient($1) },
        Operation(
            "change_event_stream_of_client", .clients, "Set the status of a client's stream",
            "`paused` keeps events, `disabled` drops them.",
            takes: .inlineJSON, answers: [.json("EventStreamReport", "The stream.")]))

    static let verifyEventStreamOfClient = Route(
        .post, "/admin/v1/event-streams/{client_id}/verify", on: .admin,
        .admin(.support) { try await $0.verifyEventStreamOfClient($1) },
        Operation(
            "verify_event_stream_of_client", .clients, "Let a client's stream carry a verification event",
            "At most every ten seconds.",
            answers: [.empty("The event is on its way.")], errors: [.eventStreamConflict, .tooManyRequests]))

    static let endEventStream = Route(
        .delete, "/admin/v1/event-streams/{client_id}", on: .admin,
        .admin(.owner) { try await $0.endEventStream($1) },
        Operation(
            "end_event_stream", .clients, "Delete the stream of a client",
            "What waits in it is deleted too.",
            answers: [.empty("It is deleted.")]))
}
