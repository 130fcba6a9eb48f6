internal import HTTPClient
internal import Sessions
internal import Telemetry

/// The messages of one delivery, and their receiver, as the store and the configuration have them now.
protocol DeliverySource: Sendable {
    var context: ServiceContext { get }
    /// The name under which the store keeps the progress.
    var name: String { get }
    /// The receiver; nil as long as nothing is sent.
    var receiver: OutboundURL? { get }
    /// A message that is no event of the trail, and goes before all events; nil if none waits.
    var messageAhead: DeliveryMessage? { get }

    /// The beginning of a new progress: earlier events are not sent.
    func beginning(at now: Instant) -> Instant
    /// The first events of the trail after the number `cursor`.
    func events(after cursor: Int64) async throws(StoreError) -> [RecordedEvent]
    /// True if an event is sent, for a progress that began at `since`.
    func wants(_ event: RecordedEvent, since: Instant) async throws(StoreError) -> Bool
    /// The identifier of an event in logs.
    func identifier(of event: RecordedEvent) -> LogValue
    /// The request that delivers an event.
    func request(_ event: RecordedEvent, to receiver: OutboundURL) async throws(DeliveryProblem) -> OutboundRequest
}

extension DeliverySource {
    var messageAhead: DeliveryMessage? { nil }

    func events(after cursor: Int64) async throws(StoreError) -> [RecordedEvent] {
        try await context.store.events(after: cursor, limit: 100, userID: nil, sessionID: nil)
    }

    func identifier(of event: RecordedEvent) -> LogValue { .int(Int(event.id)) }
}

/// A message that waits for the receiver.
struct DeliveryMessage: Sendable {
    let identifier: LogValue
    /// The request that delivers it.
    let request: @Sendable (OutboundURL) async throws(DeliveryProblem) -> OutboundRequest
    /// Records that it is taken, or given up. False if another node has taken over.
    let end: @Sendable () async throws(StoreError) -> Bool
}

/// A kind of deliveries, in the words of its log lines.
struct DeliveryKind: Sendable {
    /// The fields that name the receiver and the message.
    let receiver: String, message: String
    /// Begins `… for the database`.
    let waits: String
    let isTaken: String
    let isTriedAgain: String
    /// For a message that the receiver refuses by answers of 400; nil if 400 is an answer like others.
    let isRefused: String?
    /// For events that the trail deletes before they were taken.
    let isLost: String
    /// True if the lease is renewed even while no message waits: `Maintenance` keeps the progress of a webhook for some days after
    /// its last lease, because another node may have the webhook in its configuration.
    var holdsLeaseAlways = false
}
