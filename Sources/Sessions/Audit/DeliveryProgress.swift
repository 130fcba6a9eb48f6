/// The progress of a webhook, of the logout tokens for a client's receiver, or of a stream of security events, and the node that
/// sends. Only one of several nodes sends, and the next one continues where the last one stopped.
public struct DeliveryProgress: Hashable, Sendable {
    /// The id of the last finished event of the audit trail.
    public var cursor: Int64
    /// The beginning of the delivery. Earlier events are not sent.
    public var since: Instant
    /// The node that sends. No other node sends before `heldUntil`.
    public var holder: String
    /// The end of the node's lease.
    public var heldUntil: Instant
    /// The time of the first failed delivery since the last successful one; nil if there is none.
    public var failingSince: Instant?

    /// Creates the progress of a new delivery without a sending node.
    public init(since: Instant) {
        cursor = 0
        self.since = since
        holder = ""
        heldUntil = since
    }
}

extension DeliveryProgress {
    private static let logoutPrefix = "logout "

    /// The name under which the store keeps the progress of a client's logout tokens. No webhook has a space in its name.
    public static func name(ofLogoutsTo clientID: String) -> String { logoutPrefix + clientID }

    /// The client whose logout tokens have their progress under `name`; nil for a webhook.
    public static func clientID(ofLogouts name: String) -> String? {
        name.hasPrefix(logoutPrefix) ? String(name.dropFirst(logoutPrefix.count)) : nil
    }

    /// The name under which the store keeps how far mails to users about their accounts have come.
    public static let mailNotices = "mail notices"

    private static let streamPrefix = "stream "

    /// The name under which the store keeps the progress of a stream of security events.
    public static func name(ofStream id: String) -> String { streamPrefix + id }

    /// The stream whose progress is under `name`; nil for a webhook, or logout tokens.
    public static func streamID(of name: String) -> String? {
        name.hasPrefix(streamPrefix) ? String(name.dropFirst(streamPrefix.count)) : nil
    }

    /// The right to send, as `holder` and `heldUntil` have it.
    private var lease: Lease {
        get { Lease(holder: holder, heldUntil: heldUntil) }
        set { (holder, heldUntil) = (newValue.holder, newValue.heldUntil) }
    }

    /// Gives `node` a lease from `now` on, unless another node holds one. Returns true if `node` may send.
    public mutating func take(by node: String, at now: Instant, for duration: Duration) -> Bool {
        lease.take(by: node, at: now, for: duration)
    }

    /// Records that `node` has finished all events up to `cursor`. Returns false if another node has taken over.
    public mutating func advance(to cursor: Int64, by node: String) -> Bool {
        guard holder == node, cursor >= self.cursor else { return false }
        self.cursor = cursor
        failingSince = nil
        return true
    }

    /// Records that a delivery of `node` failed at `now`. The lease is extended until `lease` after the next attempt, which
    /// comes after `delay`. Returns the time since which deliveries fail; nil if another node has taken over.
    public mutating func fail(by node: String, at now: Instant, for delay: Duration, _ lease: Duration) -> Instant? {
        guard holder == node else { return nil }
        heldUntil = now + delay + lease
        let since = failingSince ?? now
        failingSince = since
        return since
    }

    /// Ends the lease of `node`, so that another node need not wait for its end.
    public mutating func leave(_ node: String, at now: Instant) {
        lease.leave(node, at: now)
    }
}
