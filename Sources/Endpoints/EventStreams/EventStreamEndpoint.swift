internal import HTTP
internal import Sessions

/// The stream of security events of a client (OpenID Shared Signals Framework 1.0 section 8.1.1). The client brings an access token
/// that it got for itself, with the scope `ssf.manage`; `ssf.read` is enough to read.
extension Endpoints {
    static let eventStreamPath = "/ssf/stream"
    static let eventStreamMetadataPath = "/.well-known/ssf-configuration"

    /// `GET /.well-known/ssf-configuration` (section 7.1): what this transmitter can do.
    func eventStreamMetadata() throws -> Response {
        Self.cacheable(try JSONAnswer.encode(TransmitterMetadata(context)))
    }

    /// `POST /ssf/stream`: makes the client's stream.
    func createEventStream(_ call: Call, _ client: ClientToken) async throws -> Response {
        let wish = try EventStreamMembers(Members(call, known: EventStreamMembers.known)).wish
        let stream = try await services.eventStreams.create(wish, of: client.clientID, by: call.origin)
        return try .json(EventStreamAnswer(stream, of: client.clientID, context), .created)
    }

    /// `GET /ssf/stream`: the stream of that `stream_id`, or all streams of the client, which are one at most.
    func eventStream(_ call: Call, _ client: ClientToken) async throws -> Response {
        let id = try QueryParameters(call, known: ["stream_id"]).text("stream_id")
        let stream = try await services.eventStreams.stream(of: client.clientID, id: id)
        let answers = (stream.map { [$0] } ?? []).map { EventStreamAnswer($0, of: client.clientID, context) }
        if id != nil, let answer = answers.first { return try .json(answer) }
        return try .json(answers)
    }

    /// `PATCH /ssf/stream`: changes the members of the body. `PUT /ssf/stream`: replaces all.
    func changeEventStream(_ call: Call, _ client: ClientToken) async throws -> Response {
        let members = try Members(call, known: EventStreamMembers.known)
        let wish = try EventStreamMembers(members).wish
        let stream = try await services.eventStreams.update(
            wish, of: client.clientID, id: try members.requiredString("stream_id"),
            replaces: call.request.method == .put, by: call.origin)
        return try .json(EventStreamAnswer(stream, of: client.clientID, context))
    }

    /// `DELETE /ssf/stream?stream_id=`: deletes the stream with what waits in it.
    func deleteEventStream(_ call: Call, _ client: ClientToken) async throws -> Response {
        guard let id = try QueryParameters(call, known: ["stream_id"]).text("stream_id") else {
            throw RequestProblem.invalid("stream_id", "is missing")
        }
        try await services.eventStreams.delete(of: client.clientID, id: id, by: call.origin)
        return .noContent
    }
}

/// The members of a stream that a receiver may set, and those of the transmitter, which it may send back and which change nothing.
private struct EventStreamMembers {
    static let known = [
        "stream_id", "iss", "aud", "delivery", "events_supported", "events_requested", "events_delivered",
        "min_verification_interval", "description", "format",
    ]

    let wish: EventStreamService.Wish

    init(_ members: Members) throws {
        wish = EventStreamService.Wish(
            delivery: try Self.delivery(members), requested: try members.strings("events_requested"),
            description: try members.change("description", members.string))
    }

    private static func delivery(_ members: Members) throws -> EventStreamService.Wish.Delivery? {
        guard let delivery = try members.object("delivery", known: ["method", "endpoint_url", "authorization_header"])
        else { return nil }
        switch try delivery.word("method", as: DeliveryMethod.self) {
        case .push:
            return .push(
                endpoint: try delivery.requiredString("endpoint_url"),
                authorization: try delivery.string("authorization_header"))
        case .poll: return .poll
        case nil: throw delivery.refused("method", "is missing")
        }
    }
}

/// What this transmitter can do, as JSON (section 7.1).
private struct TransmitterMetadata: Encodable {
    let specVersion = "1_0"
    let issuer: String
    let jwksURI: String
    let deliveryMethodsSupported = DeliveryMethod.allCases.map(\.rawValue)
    let configurationEndpoint: String
    let statusEndpoint: String
    let verificationEndpoint: String
    let authorizationSchemes = [["spec_urn": "urn:ietf:rfc:6749"]]
    /// Each stream is about all users.
    let defaultSubjects = "ALL"

    init(_ context: ServiceContext) {
        issuer = context.issuer
        jwksURI = context.url(Endpoints.jwksPath)
        configurationEndpoint = context.url(Endpoints.eventStreamPath)
        statusEndpoint = context.url(Endpoints.eventStreamStatusPath)
        verificationEndpoint = context.url(Endpoints.eventStreamVerificationPath)
    }

    enum CodingKeys: String, CodingKey {
        case specVersion = "spec_version"
        case issuer
        case jwksURI = "jwks_uri"
        case deliveryMethodsSupported = "delivery_methods_supported"
        case configurationEndpoint = "configuration_endpoint"
        case statusEndpoint = "status_endpoint"
        case verificationEndpoint = "verification_endpoint"
        case authorizationSchemes = "authorization_schemes"
        case defaultSubjects = "default_subjects"
    }
}

extension Route {
    /// The scopes of calls that change a stream.
    static let streamManagers = ["ssf.manage"]
    /// The scopes of calls that read one.
    static let streamReaders = ["ssf.read", "ssf.manage"]

    static let eventStreamMetadata = Route(
        .get, Endpoints.eventStreamMetadataPath, cors: .noOrigin, .immediate { try $0.eventStreamMetadata() },
        Operation(
            "event_stream_metadata", .eventStreams, "Metadata of the transmitter",
            """
            OpenID Shared Signals Framework 1.0 section 7.1. Caches may keep it for five minutes.
            """,
            answers: [.cacheable("EventTransmitter", "The metadata.")]))

    static let createEventStream = Route(
        .post, Endpoints.eventStreamPath, .client(streamManagers) { try await $0.createEventStream($1, $2) },
        Operation(
            "create_event_stream", .eventStreams, "Make a stream of security events",
            """
            OpenID Shared Signals Framework 1.0 section 8.1.1. A client has one stream at most, about all users. \
            Takes an access token that the client got for itself, with the scope `ssf.manage`.
            """,
            takes: .json("EventStreamWish"), answers: [.json("EventStream", "The stream.", status: 201)],
            errors: [.eventStreamConflict]))

    static let eventStream = Route(
        .get, Endpoints.eventStreamPath, .client(streamReaders) { try await $0.eventStream($1, $2) },
        Operation(
            "read_event_stream", .eventStreams, "Read the stream",
            """
            With `stream_id` the stream, otherwise a list of one or none. Takes the scope `ssf.read` or \
            `ssf.manage`.
            """,
            parameters: ["DPoP", "stream_id.optional"], answers: [.inline(200, "EventStreams")], errors: [.notFound]))

    static let changeEventStream = Route(
        .patch, Endpoints.eventStreamPath, .client(streamManagers) { try await $0.changeEventStream($1, $2) },
        Operation(
            "change_event_stream", .eventStreams, "Change the stream",
            "Members that are absent stay as they are. Takes the scope `ssf.manage`.",
            takes: .json("EventStreamWish"), answers: [.json("EventStream", "The stream.")], errors: [.notFound]))

    static let replaceEventStream = Route(
        .put, Endpoints.eventStreamPath, .client(streamManagers) { try await $0.changeEventStream($1, $2) },
        Operation(
            "replace_event_stream", .eventStreams, "Replace the stream",
            "Members that are absent get their defaults. Takes the scope `ssf.manage`.",
            takes: .json("EventStreamWish"), answers: [.json("EventStream", "The stream.")], errors: [.notFound]))

    static let deleteEventStream = Route(
        .delete, Endpoints.eventStreamPath, .client(streamManagers) { try await $0.deleteEventStream($1, $2) },
        Operation(
            "delete_event_stream", .eventStreams, "Delete the stream",
            "What waits in it is deleted too. Takes the scope `ssf.manage`.",
            parameters: ["DPoP", "stream_id"], answers: [.empty("Done.")], errors: [.notFound]))
}
