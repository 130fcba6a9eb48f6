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
        /// The time between that look and the next one.
        var pause = CleanUpLease.look
        /// Whether the clock of this node is in doubt.
        var isInDoubt = false
    }

    init(_ context: ServiceContext, node: String, logger: Logger) {
        (store, clock, self.node, self.logger) = (context.store, context.clock, node, logger)
    }

    /// Whether this node may go on for a step. Takes or renews the lease when less than half of it is left.
    ///
    /// A node with a doubtful clock records no end by time, so that it leaves the lease when the doubt begins. It takes the lease
    /// again if no other node has taken it in two looks, because the doubt is everywhere then.
    func take(inDoubt: Bool = false) async -> Bool {
        let now = clock.now
        if beginsDoubt(inDoubt, at: now) { try? await store.leaveCleanUp(by: node, at: now) }
        let known = state.withLock { $0 }
        // A clock that was set back would seem to prolong a lease, or a pause.
        if let end = known.heldUntil, now + Self.duration / 2 < end, end <= now + Self.duration { return true }
        if let last = known.lookedAt, last <= now, now < last + known.pause { return false }
        do throws(StoreError) {
            let end = try await store.takeCleanUp(by: node, at: now, for: Self.duration)
            state.withLock { state in
                state = State(heldUntil: end, lookedAt: end == nil ? now : nil, isInDoubt: state.isInDoubt)
            }
            if known.heldUntil == nil, end != nil { logger.info("this node cleans up", ["node": .string(node)]) }
            if known.heldUntil != nil, end == nil { logger.info("another node cleans up", ["node": .string(node)]) }
            return end != nil
        } catch {
            logger.warning("the lease of the clean-up waits for the database", ["cause": .string("\(error)")])
            return false
        }
    }

    /// Notes whether the clock is in doubt. Returns whether this node holds a lease that it leaves for that.
    private func beginsDoubt(_ isInDoubt: Bool, at now: Instant) -> Bool {
        state.withLock { state in
            let begins = isInDoubt && !state.isInDoubt
            state.isInDoubt = isInDoubt
            guard begins else { return false }
            let isHeld = state.heldUntil != nil
            state = State(heldUntil: nil, lookedAt: now, pause: Self.look * 2, isInDoubt: true)
            return isHeld
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
