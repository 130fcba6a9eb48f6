internal import HTTP
internal import HTTPClient
public import Sessions
public import Sockets
public import Telemetry

/// The security events of one client's stream, which are pushed to its receiver (RFC 8935). A repeated event has the same `jti`.
struct SecurityEventSource: DeliverySource {
    let client: Client
    let stream: EventStream
    let context: ServiceContext

    /// Nil for a client without a stream.
    init?(_ client: Client, _ context: ServiceContext) {
        guard let stream = client.eventStream else { return nil }
        (self.client, self.stream, self.context) = (client, stream, context)
    }

    var name: String { DeliveryProgress.name(ofStream: stream.id) }

    var receiver: OutboundURL? {
        guard case .push(let endpoint, _) = stream.delivery, stream.status == .enabled else { return nil }
        return OutboundURL(endpoint, plainLoopback: true)
    }

    func beginning(at now: Instant) -> Instant { stream.since }

    func wants(_ event: RecordedEvent, since: Instant) -> Bool {
        stream.status != .disabled && stream.event(event) != nil
    }

    func identifier(of event: RecordedEvent) -> LogValue { .string(stream.tokenID(of: event)) }

    func request(_ event: RecordedEvent, to receiver: OutboundURL) async throws(DeliveryProblem) -> OutboundRequest {
        guard let told = stream.event(event) else { throw DeliveryProblem(cause: "the stream has changed") }
        return try request(await context.token(of: told, event, in: stream, to: client), to: receiver)
    }

    /// The verification event that the receiver has asked for.
    var messageAhead: DeliveryMessage? {
        stream.verification.map { verification in
            DeliveryMessage(identifier: .string(stream.tokenID(of: verification))) {
                (receiver) async throws(DeliveryProblem) in
                try request(await context.token(of: verification, in: stream, to: client), to: receiver)
            } end: { () async throws(StoreError) in
                try await EventStreamService(context).finish(verification, of: client.id, id: stream.id)
                // If nothing else waits, no later success ends the failure.
                _ = try await context.store.updateDelivery(name) { $0?.failingSince = nil }
                return true
            }
        }
    }

    private func request(
        _ token: SecurityEventToken?, to receiver: OutboundURL
    ) throws(DeliveryProblem) -> OutboundRequest {
        guard let token else { throw DeliveryProblem(cause: "an RSA key", isOwn: true) }
        var fields: Fields = ["Content-Type": "application/secevent+jwt", "Accept": "application/json"]
        if case .push(_, let sealed?) = stream.delivery {
            guard let authorization = EventStreamService(context).secrets.open(sealed) else {
                throw DeliveryProblem(cause: "no root key decrypts the authorization_header of the stream")
            }
            fields.append("Authorization", authorization)
        }
        return OutboundRequest(.post, receiver, fields: fields, body: Array(token.text.utf8))
    }
}

extension DeliveryKind {
    /// An answer of 400 says that the receiver does not accept the event (RFC 8935 section 2.3).
    fileprivate static let securityEvent = DeliveryKind(
        receiver: "client", message: "jti", waits: "security events wait",
        isTaken: "the receiver of security events answers again",
        isTriedAgain: "the receiver did not accept a security event, which is tried again",
        isRefused: "the receiver refuses a security event, which is given up",
        isLost: "the audit trail deletes security events that were never accepted")
}

extension ClientDeliveries {
    /// The pushed streams of all clients. `node` is the name of this node among all nodes; `receivers` are the ranges of
    /// addresses, beside public ones, that events may be pushed to, because the client has set the URL.
    public static func securityEvents(
        context: ServiceContext, receivers: [AddressRange], logger: Logger, metrics: DeliveryMetrics, node: String
    ) -> ClientDeliveries {
        ClientDeliveries(
            kind: .securityEvent, destinations: .publicAddresses(and: receivers), context: context, logger: logger,
            metrics: metrics, node: node
        ) { SecurityEventSource($0, context) }
    }
}
