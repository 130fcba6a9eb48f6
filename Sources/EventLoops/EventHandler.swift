/// What a loop calls: usually an actor whose executor is that loop, answering with `assumeIsolated`.
public protocol EventHandler: AnyObject, Sendable {
    /// Called on the loop's thread once per turn, before the jobs of the turn.
    ///
    /// - Parameters:
    ///   - events: the handler's descriptors that became ready; often none.
    ///   - now: the loop's clock, read once for this turn.
    func turn(_ events: [ReadyEvent], now: MonotonicInstant)

    /// Asked on the loop's thread before it waits: when the handler wants its next turn at the latest.
    func nextDeadline() -> MonotonicInstant?
}

/// A handler's place in one loop: registers its descriptors.
public struct EventSource: Sendable {
    /// The loop that this source belongs to.
    public let loop: EventLoop
    let id: UInt16

    /// From now on the handler is called once per turn. The loop keeps it alive until it is detached.
    public func attach(_ handler: any EventHandler) { loop.attach(handler, id) }

    /// Watches a descriptor until it is removed or closed.
    ///
    /// - Parameter token: comes back with each event; only the lower 48 bits count.
    public func add(_ descriptor: Int32, for interest: EventInterest, token: UInt64) throws(EventLoopError) {
        try loop.add(descriptor, for: interest, data: UInt64(id) << 48 | token & ReadyEvent.tokenMask)
    }

    /// Watches the descriptor no longer; closing it does the same, unless it was duplicated.
    public func remove(_ descriptor: Int32) { loop.remove(descriptor) }

    /// Ends the calls to the handler, from the next turn on.
    public func detach() { loop.detach(id) }
}

/// A descriptor that became ready.
public struct ReadyEvent: Sendable {
    static let tokenMask: UInt64 = (1 << 48) - 1

    /// The token the descriptor was added with.
    public let token: UInt64
    /// What it is ready for.
    public let readiness: Readiness
}

/// What to be told about, and how.
public enum EventInterest: Sendable {
    /// Incoming connections on a descriptor that several loops watch: the kernel wakes one of them (`EPOLLEXCLUSIVE`),
    /// again and again while connections wait.
    case sharedAccept
    /// Every change of a stream, told once (`EPOLLET`): no system call is needed when the interest changes.
    case streamEdges
}

/// What a descriptor is ready for.
public struct Readiness: OptionSet, Sendable {
    /// The bits of epoll.
    public let rawValue: UInt32

    /// Takes the bits of epoll.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
