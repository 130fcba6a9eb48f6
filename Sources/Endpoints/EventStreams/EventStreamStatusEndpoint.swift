internal import HTTP
internal import JSON
internal import Sessions

/// The status of a stream, its verification, and its events for a receiver that polls.
extension Endpoints {
    static let eventStreamStatusPath = "/ssf/status"
    static let eventStreamVerificationPath = "/ssf/verify"
    static let eventStreamPollPath = "/ssf/poll"
    /// For how long a poll without `returnImmediately` waits: less than the minute after which proxies give up.
    static let pollWait = Duration.seconds(30)
    /// The longest poll that is looked at before its caller is known.
    private static let pollBytesMax = 16_384

    /// `GET /ssf/status?stream_id=` (OpenID Shared Signals Framework 1.0 section 8.1.2).
    func eventStreamStatus(_ call: Call, _ client: ClientToken) async throws -> Response {
        guard let id = try QueryParameters(call, known: ["stream_id"]).text("stream_id"),
            let stream = try await services.eventStreams.stream(of: client.clientID, id: id)
        else { throw RequestProblem.invalid("stream_id", "is missing") }
        return try .json(EventStreamStatusAnswer(stream))
    }

    /// `POST /ssf/status`: enables, pauses or disables the stream.
    func changeEventStreamStatus(_ call: Call, _ client: ClientToken) async throws -> Response {
        let members = try Members(call, known: ["stream_id", "status", "reason"])
        guard let status = try members.word("status", as: EventStream.Status.self) else {
            throw members.refused("status", "is missing")
        }
        let stream = try await services.eventStreams.setStatus(
            status, because: try members.string("reason"), of: client.clientID,
            id: try members.requiredString("stream_id"),
            by: call.origin)
        return try .json(EventStreamStatusAnswer(stream))
    }

    /// `POST /ssf/verify` (section 8.1.4): lets the stream carry a verification event.
    func verifyEventStream(_ call: Call, _ client: ClientToken) async throws -> Response {
        let members = try Members(call, known: ["stream_id", "state"])
        try await services.eventStreams.requestVerification(
            state: try members.string("state"), of: client.clientID, id: try members.requiredString("stream_id"),
            by: call.origin)
        return .noContent
    }

    /// `POST /ssf/poll` (RFC 8936 section 2): takes acknowledgements, and answers the events that wait. Without
    /// `returnImmediately` an answer without events waits for the first one.
    func pollEventStream(_ call: Call, _ client: ClientToken) async throws -> Response {
        let members = try Members(
            call, known: ["maxEvents", "returnImmediately", "ack", "setErrs"], mayBeMissing: true)
        let isImmediate = try members.bool("returnImmediately") ?? false
        var refused: Set<String> = []
        if members.contains("setErrs") { refused = Set(try members.requiredJSON("setErrs").keys) }
        let poll = StreamPoll(
            limit: try members.integer("maxEvents", in: 0...Int64.max).map {
                Int(min($0, Int64(EventStreamService.pollMax)))
            }
                ?? EventStreamService.pollMax,
            acknowledged: Set(try members.strings("ack") ?? []), refused: refused)
        let events = try await services.eventStreams.poll(
            poll, of: client.clientID, by: call.origin,
            patience: isImmediate ? .zero : call.patience(Self.pollWait))
        return try .json(PollAnswer(events))
    }

    /// Whether a poll has `returnImmediately`, or asks for no events. A very long one counts as one that waits.
    static func asksForImmediateAnswer(_ request: Request) -> Bool {
        guard request.body.count <= pollBytesMax, let members = try? StrictJSON.object(request.body) else {
            return false
        }
        return members["returnImmediately"] == .bool(true) || members["maxEvents"] == .integer(0)
    }
}

/// The answer to a poll (RFC 8936 section 2.3).
private struct PollAnswer: Encodable {
    /// The tokens by their `jti`.
    let sets: [String: String]
    let moreAvailable: Bool?

    init(_ events: PolledEvents) {
        sets = Dictionary(events.tokens.map { ($0.id, $0.text) }) { first, _ in first }
        moreAvailable = events.isMore ? true : nil
    }
}

extension Route {
    static let eventStreamStatus = Route(
        .get, Endpoints.eventStreamStatusPath, .client(streamReaders) { try await $0.eventStreamStatus($1, $2) },
        Operation(
            "read_event_stream_status", .eventStreams, "Read the status of the stream",
            """
            OpenID Shared Signals Framework 1.0 section 8.1.2. Takes the scope `ssf.read` or `ssf.manage`.
            """,
            parameters: ["DPoP", "stream_id"], answers: [.json("EventStreamStatus", "The status.")],
            errors: [.notFound]))

    static let changeEventStreamStatus = Route(
        .post, Endpoints.eventStreamStatusPath,
        .client(streamManagers) { try await $0.changeEventStreamStatus($1, $2) },
        Operation(
            "change_event_stream_status", .eventStreams, "Enable, pause or disable the stream",
            """
            Events of a paused stream wait, those of a disabled one are dropped. Takes the scope `ssf.manage`.
            """,
            takes: .json("EventStreamStatus"), answers: [.json("EventStreamStatus", "The status.")],
            errors: [.notFound]))

    static let verifyEventStream = Route(
        .post, Endpoints.eventStreamVerificationPath,
        .client(streamManagers) { try await $0.verifyEventStream($1, $2) },
        Operation(
            "verify_event_stream", .eventStreams, "Ask for a verification event",
            """
            OpenID Shared Signals Framework 1.0 section 8.1.4. The stream then carries an event with this \
            `state`. Takes the scope `ssf.manage`.
            """,
            takes: .json("EventStreamVerification"), answers: [.empty("Done.")],
            errors: [.notFound, .eventStreamConflict, .tooManyRequests]))

    static let pollEventStream = Route(
        .post, Endpoints.eventStreamPollPath, mayWait: true,
        .client(streamManagers) { try await $0.pollEventStream($1, $2) },
        Operation(
            "poll_event_stream", .eventStreams, "Fetch security events",
            """
            RFC 8936. Takes acknowledgements, and answers the events that wait. If none waits, the answer waits \
            up to 30 seconds for the first one, unless the poll has `returnImmediately` or asks for no events. \
            Takes the scope `ssf.manage`.
            """,
            takes: .json("EventPoll", isOptional: true), answers: [.json("PolledEvents", "The events.")],
            errors: [.notFound]))
}
