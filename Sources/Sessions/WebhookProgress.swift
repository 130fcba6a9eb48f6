/// How far the webhook has come, and which node works on it: so that none of several nodes sends what another does, and whoever
/// takes over goes on where it stopped.
public struct WebhookProgress: Hashable, Sendable {
    /// The last event of the audit trail that is done with.
    public var cursor: Int64
    /// Events from before are not sent: the webhook was not there.
    public var since: Instant
    /// The node that sends; nobody else does before `heldUntil`.
    public var holder: String
    /// Until when the node is believed to be there.
    public var heldUntil: Instant
    /// When the delivery failed first that has not succeeded yet; nil: none has.
    public var failingSince: Instant?

    /// A webhook that begins with what comes from now on, and that nobody works on.
    public init(since: Instant) {
        cursor = 0
        self.since = since
        holder = ""
        heldUntil = since
    }
}
