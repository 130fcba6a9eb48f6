/// How far a webhook has come, and which node works on it: so that none of several nodes sends what another does, and whoever
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

extension WebhookProgress {
    /// Nobody holds it for longer, not even for a receiver that asks for time. What says so is of a clock that was ahead, whose node
    /// may be gone: it is not believed.
    private static let longestHold = Duration.seconds(600)

    /// Lets `node` send until `lease` from `now` on, unless another one does. Whether it may.
    public mutating func take(by node: String, at now: Instant, for lease: Duration) -> Bool {
        if heldUntil > now + Self.longestHold { heldUntil = now }
        guard holder == node || now >= heldUntil else { return false }
        // A write for each look would cost more than it tells.
        if holder != node || heldUntil < now + lease / 2 { (holder, heldUntil) = (node, now + lease) }
        return true
    }

    /// Everything up to `cursor` is done with, says `node`. False: another one has taken over, and says what is done.
    public mutating func advance(to cursor: Int64, by node: String) -> Bool {
        guard holder == node, cursor >= self.cursor else { return false }
        self.cursor = cursor
        failingSince = nil
        return true
    }

    /// A delivery of `node` has failed at `now`, and it tries again after `delay`, so that it is not believed to be gone before
    /// `lease` later. Returns since when deliveries fail; nil: another node has taken over.
    public mutating func fail(by node: String, at now: Instant, for delay: Duration, _ lease: Duration) -> Instant? {
        guard holder == node else { return nil }
        heldUntil = now + delay + lease
        let since = failingSince ?? now
        failingSince = since
        return since
    }

    /// `node` goes, and whoever comes need not wait for the end of the lease.
    public mutating func leave(_ node: String, at now: Instant) {
        if holder == node { heldUntil = now }
    }
}
