/// An object that a loop calls, usually an actor with that loop as its executor, which uses `assumeIsolated`.
public protocol EventHandler: AnyObject, Sendable {
    /// Handles one turn. The loop calls it on its thread once per turn, before the jobs of the turn.
    ///
    /// - Parameters:
    ///   - events: the handler's descriptors that became ready; often none.
    ///   - now: the loop's clock, read once for this turn.
    func turn(_ events: [ReadyEvent], now: MonotonicInstant)

    /// Returns the moment of the next turn at the latest. The loop calls it on its thread before it waits.
    func nextDeadline() -> MonotonicInstant?
}

/// The registration of one handler at a loop. It registers the handler's descriptors.
public struct EventSource: Sendable {
    /// The loop that this source belongs to.
    public let loop: EventLoop
    let id: UInt16

    /// Makes the loop call the handler once per turn. The loop keeps the handler alive until `detach`.
    public func attach(_ handler: any EventHandler) { loop.attach(handler, id) }

    /// Watches a descriptor until it is removed or closed.
    ///
    /// - Parameter token: comes back with each event; only the lower 48 bits count.
    public func add(_ descriptor: Int32, for interest: EventInterest, token: UInt64) throws(EventLoopError) {
        try loop.add(descriptor, for: interest, data: UInt64(id) << 48 | token & ReadyEvent.tokenMask)
    }

    /// Stops watching a descriptor. Closing it has the same effect, unless it was duplicated.
    public func remove(_ descriptor: Int32) { loop.remove(descriptor) }

    /// Ends the calls to the handler, from the next turn on.
    public func detach() { loop.detach(id) }
}

/// A descriptor that became ready.
public struct ReadyEvent: Sendable {
    static let tokenMask: UInt64 = (1 << 48) - 1

    /// The token that was passed to `add`.
    public let token: UInt64
    /// The operations that are possible now.
    public let readiness: Readiness
}

/// The events to report for a descriptor.
public enum EventInterest: Sendable {
    /// Incoming connections on a descriptor that several loops watch. The kernel wakes one of them (`EPOLLEXCLUSIVE`),
    /// repeatedly while connections wait.
    case sharedAccept
    /// Every change of a stream, reported once (`EPOLLET`), so that no system call is needed when the interest changes.
    case streamEdges
}

/// The operations for which a descriptor is ready.
public struct Readiness: OptionSet, Sendable {
    /// The flags of epoll.
    public let rawValue: UInt32

    /// Creates a set from the flags of epoll.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
