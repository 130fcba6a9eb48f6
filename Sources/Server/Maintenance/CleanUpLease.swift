internal import Locks
internal import Sessions
internal import Telemetry

/// The right of this node to clean up. One node of all has it; when that node is gone or stands still, another one takes it.
final class CleanUpLease: Sendable {
    /// The time for which a node has the right without a renewal.
    static let duration = Duration.seconds(90)
    /// The time between two looks of a node that has not the right. It reads one row.
    static let look = Duration.seconds(60)

    private let store: any Store
    private let clock: WallClock
    private let logger: Logger
    /// The name of this node among all nodes.
    private let node: String
    private let state = Locked(State())

    private struct State {
        /// The end of the lease; nil without one.
        var heldUntil: Instant?
        /// The time of the last look at a lease of another node.
        var lookedAt: Instant?
    }

    init(_ context: ServiceContext, node: String, logger: Logger) {
        (store, clock, self.node, self.logger) = (context.store, context.clock, node, logger)
    }

    /// Whether this node may go on for a step. Takes or renews the lease when less than half of it is left.
    func take() async -> Bool {
        let now = clock.now
        let known = state.withLock { $0 }
        // A clock that was set back would seem to prolong a lease, or a pause.
        if let end = known.heldUntil, now + Self.duration / 2 < end, end <= now + Self.duration { return true }
        if let last = known.lookedAt, last <= now, now < last + Self.look { return false }
        do throws(StoreError) {
            let end = try await store.takeCleanUp(by: node, at: now, for: Self.duration)
            state.withLock { $0 = State(heldUntil: end, lookedAt: end == nil ? now : nil) }
            if known.heldUntil == nil, end != nil { logger.info("this node cleans up", ["node": .string(node)]) }
            if known.heldUntil != nil, end == nil { logger.info("another node cleans up", ["node": .string(node)]) }
            return end != nil
        } catch {
            logger.warning("the lease of the clean-up waits for the database", ["cause": .string("\(error)")])
            return false
        }
    }

    /// Lets another node take over at once.
    func leave() async {
        let isHeld = state.withLock { state in
            defer { state = State() }
            return state.heldUntil != nil
        }
        if isHeld { try? await store.leaveCleanUp(by: node, at: clock.now) }
    }
}
