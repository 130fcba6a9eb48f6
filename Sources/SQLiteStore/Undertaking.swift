internal import Locks
internal import Sessions

/// A change on its way, as whoever asked for it waits: for the decision, so that the answer is prepared while the disk
/// works, and for the end. No generic type: a refresh passes here, and would look up what it is made of at every step.
final class Undertaking: Sendable {
    private enum Stage {
        case waiting
        case decided
        case durable
        case refused(StoreError)
    }

    private struct State {
        var stage = Stage.waiting
        var decision: CheckedContinuation<Void, Never>?
        var end: CheckedContinuation<Void, Never>?

        var isDecided: Bool { if case .waiting = stage { false } else { true } }
        var hasEnded: Bool {
            switch stage {
            case .waiting, .decided: false
            case .durable, .refused: true
            }
        }
    }

    private let state = Locked(State())

    /// Waits until the change is decided; throws if it is known by then that it has not happened.
    func decision() async throws(StoreError) {
        await withCheckedContinuation { continuation in
            let isDecided = state.withLock { state in
                if !state.isDecided { state.decision = continuation }
                return state.isDecided
            }
            if isDecided { continuation.resume() }
        }
        if case .refused(let error) = state.withLock({ $0.stage }) { throw error }
    }

    /// Waits until the change is durable; throws if it has not happened.
    func durability() async throws(StoreError) {
        if !state.withLock({ $0.hasEnded }) {
            await withCheckedContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.end = continuation }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume() }
            }
        }
        if case .refused(let error) = state.withLock({ $0.stage }) { throw error }
    }

    /// The change is decided, and not durable yet.
    func decide() { reach(.decided)?.resume() }

    /// The change is durable, or was refused and has not happened. Nothing follows.
    func end(_ refusal: StoreError?) {
        reach(refusal.map { .refused($0) } ?? .durable)?.resume()
        state.withLock { $0.end.take() }?.resume()
    }

    private func reach(_ stage: Stage) -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            state.stage = stage
            return state.decision.take()
        }
    }
}
