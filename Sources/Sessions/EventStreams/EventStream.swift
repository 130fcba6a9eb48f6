/// A stream of security events to the receiver that a client runs (OpenID Shared Signals Framework 1.0 section 8.1.1). A client
/// has one at most, and its events are about all users of the server.
public struct EventStream: Hashable, Sendable {
    /// The way of the events.
    public enum Delivery: Hashable, Sendable {
        /// The server sends each to this https URL (RFC 8935), with a value for the field `Authorization` that is encrypted here.
        case push(endpoint: String, sealedAuthorization: [UInt8]?)
        /// The receiver fetches them (RFC 8936).
        case poll
    }

    /// Whether events flow (section 8.1.2).
    public enum Status: String, CaseIterable, Sendable {
        case enabled
        /// Events wait.
        case paused
        /// Events are dropped.
        case disabled
    }

    /// A request of the receiver for a verification event, which was not sent yet, or not acknowledged (section 8.1.4).
    public struct Verification: Hashable, Sendable {
        /// What the event returns to the receiver.
        public let state: String?
        /// When the receiver asked.
        public let requestedAt: Instant

        /// A verification event for which the receiver asked then.
        public init(state: String?, requestedAt: Instant) { (self.state, self.requestedAt) = (state, requestedAt) }
    }

    /// The shortest time between two requests for a verification event.
    public static let minVerificationInterval = Duration.seconds(10)
    /// The longest text of a receiver, in bytes: its description, a reason, a state.
    public static let textLengthMax = 256
    /// The longest URL and value for the field `Authorization`, in bytes.
    public static let secretLengthMax = 2048

    /// The id, `stream_id`.
    public let id: String
    /// The way of the events.
    public var delivery: Delivery
    /// The kinds that the receiver wants.
    public var requested: [SecurityEvent.Kind]
    /// The receiver's own description.
    public var description: String?
    /// Whether events flow.
    public var status = Status.enabled
    /// Why they do not, in the words of the last change of the status.
    public var statusReason: String?
    /// Events before are not sent: when the stream was made, or enabled after it was disabled.
    public var since: Instant
    /// A verification event that is due.
    public var verification: Verification?
    /// When the receiver last asked for a verification event.
    public var verificationRequestedAt: Instant?

    /// A stream that begins at `since`.
    public init(
        id: String, delivery: Delivery, requested: [SecurityEvent.Kind], description: String? = nil, since: Instant
    ) {
        (self.id, self.delivery, self.requested) = (id, delivery, requested)
        (self.description, self.since) = (description, since)
    }

    /// Whether the server sends the events by itself.
    public var isPush: Bool { if case .push = delivery { true } else { false } }

    /// The event of the stream that an event of the audit trail is; nil if the receiver is not told of it.
    public func event(_ recorded: RecordedEvent) -> SecurityEvent? {
        guard recorded.event.at >= since, let event = SecurityEvent(recorded), requested.contains(event.kind) else {
            return nil
        }
        return event
    }

    /// Sets the status. A stream that was disabled begins again at `now`.
    mutating func set(_ status: Status, because reason: String?, at now: Instant) {
        if self.status == .disabled, status != .disabled { since = now }
        (self.status, statusReason) = (status, reason)
    }
}
