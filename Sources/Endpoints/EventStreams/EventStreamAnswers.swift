internal import Sessions

/// A stream as JSON (OpenID Shared Signals Framework 1.0 section 8.1.1). The value for the field `Authorization` is never shown.
struct EventStreamAnswer: Encodable {
    let streamID: String
    let iss: String
    let aud: String
    let delivery: DeliveryAnswer
    let eventsSupported: [String]
    let eventsRequested: [String]
    let eventsDelivered: [String]
    let minVerificationInterval: Int64
    let description: String?

    /// The way of the events as JSON.
    struct DeliveryAnswer: Encodable {
        let method: String
        let endpointURL: String

        enum CodingKeys: String, CodingKey {
            case method
            case endpointURL = "endpoint_url"
        }
    }

    init(_ stream: EventStream, of clientID: String, _ context: ServiceContext) {
        streamID = stream.id
        (iss, aud) = (context.issuer, clientID)
        delivery =
            switch stream.delivery {
            case .push(let endpoint, _): DeliveryAnswer(method: DeliveryMethod.push.rawValue, endpointURL: endpoint)
            case .poll:
                DeliveryAnswer(
                    method: DeliveryMethod.poll.rawValue, endpointURL: context.url(Endpoints.eventStreamPollPath))
            }
        eventsSupported = SecurityEvent.Kind.allCases.map(\.rawValue)
        eventsRequested = stream.requested.map(\.rawValue)
        eventsDelivered = eventsRequested
        minVerificationInterval = EventStream.minVerificationInterval.wholeSeconds
        description = stream.description
    }

    enum CodingKeys: String, CodingKey {
        case streamID = "stream_id"
        case iss
        case aud
        case delivery
        case eventsSupported = "events_supported"
        case eventsRequested = "events_requested"
        case eventsDelivered = "events_delivered"
        case minVerificationInterval = "min_verification_interval"
        case description
    }
}

/// The ways of events, by the URNs on the wire (section 10.3).
enum DeliveryMethod: String, CaseIterable {
    case push = "urn:ietf:rfc:8935"
    case poll = "urn:ietf:rfc:8936"
}

/// The status of a stream as JSON (section 8.1.2).
struct EventStreamStatusAnswer: Encodable {
    let streamID: String
    let status: String
    let reason: String?

    init(_ stream: EventStream) {
        (streamID, status, reason) = (stream.id, stream.status.rawValue, stream.statusReason)
    }

    enum CodingKeys: String, CodingKey {
        case streamID = "stream_id"
        case status
        case reason
    }
}
