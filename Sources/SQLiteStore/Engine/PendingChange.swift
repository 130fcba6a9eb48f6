internal import Locks
internal import Sessions

/// A change in the queue, for the writer, which runs it, and for the caller. The caller waits for the decision, so that it
/// prepares the answer while the disk works, and then for the end. The type is not generic, because a refresh would then look
/// up type metadata at every step.
final class PendingChange: Sendable {
    private enum Stage {
        case waiting
        case decided
        case durable
        case refused(StoreError)
    }

    private struct State {
        var stage = Stage.waiting
        var caller: CheckedContinuation<Void, Never>?
        /// Whether `caller` waits for the end; otherwise for the decision.
        var awaitsEnd = false

        func hasCome(_ awaitsEnd: Bool) -> Bool {
            switch stage {
            case .waiting: false
            case .decided: !awaitsEnd
            case .durable, .refused: true
            }
        }

        /// Moves to `stage`, and returns the caller if it waited for that.
        mutating func reach(_ stage: Stage) -> CheckedContinuation<Void, Never>? {
            self.stage = stage
            return hasCome(awaitsEnd) ? caller.take() : nil
        }
    }

    let waitingSince: ContinuousClock.Instant
    private let change: @Sendable (inout Transaction) throws(DatabaseError) -> Void
    private let state = Locked(State())

    /// A change that waits for the writer. `change` delivers its own outcome, which is valid once the transaction is committed.
    init(
        waitingSince: ContinuousClock.Instant,
        _ change: @escaping @Sendable (inout Transaction) throws(DatabaseError) -> Void
    ) {
        self.waitingSince = waitingSince
        self.change = change
    }

    // MARK: The caller

    /// Waits until the change is decided, before it is durable. Throws if it has already been refused.
    func decision() async throws(StoreError) { try await wait(forEnd: false) }

    /// Waits until the change is durable. Throws if it was refused.
    func durability() async throws(StoreError) { try await wait(forEnd: true) }

    private func wait(forEnd awaitsEnd: Bool) async throws(StoreError) {
        if !state.withLock({ $0.hasCome(awaitsEnd) }) {
            await withCheckedContinuation { continuation in
                let hasCome = state.withLock { state in
                    if state.hasCome(awaitsEnd) { return true }
                    (state.caller, state.awaitsEnd) = (continuation, awaitsEnd)
                    return false
                }
                if hasCome { continuation.resume() }
            }
        }
        if case .refused(let error) = state.withLock({ $0.stage }) { throw error }
    }

    // MARK: The writer

    /// Runs the change. The writer runs it again if the transaction has to be run again.
    func run(in transaction: inout Transaction) throws(DatabaseError) { try change(&transaction) }

    /// Records that the change has run for the last time and is not durable yet.
    func decide() { state.withLock { $0.reach(.decided) }?.resume() }

    /// Records the end: the change is durable, or `refusal` says why it was refused and rolled back.
    func end(_ refusal: StoreError?) {
        state.withLock { $0.reach(refusal.map { .refused($0) } ?? .durable) }?.resume()
    }
}
