internal import Locks
internal import Sessions

/// A change on its way, as the writer runs it and as whoever asked for it waits: for the decision, so that the answer is prepared while
/// the disk works, and for the end. No generic type: a refresh passes here, and would look up what it is made of at every step.
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
        /// What `caller` waits for: the decision, or the end.
        var awaitsEnd = false

        func hasCome(_ awaitsEnd: Bool) -> Bool {
            switch stage {
            case .waiting: false
            case .decided: !awaitsEnd
            case .durable, .refused: true
            }
        }

        /// Who is to be resumed, now that `stage` is reached.
        mutating func reach(_ stage: Stage) -> CheckedContinuation<Void, Never>? {
            self.stage = stage
            return hasCome(awaitsEnd) ? caller.take() : nil
        }
    }

    let waitingSince: ContinuousClock.Instant
    private let change: @Sendable (inout Transaction) throws(DatabaseError) -> Void
    private let state = Locked(State())

    /// A change that waits for the writer. It is run, and delivers what it comes to, which counts once the transaction is committed.
    init(
        waitingSince: ContinuousClock.Instant,
        _ change: @escaping @Sendable (inout Transaction) throws(DatabaseError) -> Void
    ) {
        self.waitingSince = waitingSince
        self.change = change
    }

    // MARK: The caller

    /// Waits until the change is decided, and not durable yet; throws if it is known by then that it has not happened.
    func decision() async throws(StoreError) { try await wait(forEnd: false) }

    /// Waits until the change is durable; throws if it has not happened.
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

    /// Runs the change; again, if the transaction has to be run again.
    func run(in transaction: inout Transaction) throws(DatabaseError) { try change(&transaction) }

    /// The change was run for the last time, and is not durable yet.
    func decide() { state.withLock { $0.reach(.decided) }?.resume() }

    /// The change is durable, or was refused and has not happened. Nothing follows.
    func end(_ refusal: StoreError?) {
        state.withLock { $0.reach(refusal.map { .refused($0) } ?? .durable) }?.resume()
    }
}
