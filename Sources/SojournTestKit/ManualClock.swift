public import SojournClient

/// A clock that a test moves. The wall clock and the continuous clock are apart, because users set the one and nothing sets the
/// other.
public final class ManualClock: ClientClock {
    private struct Sleeper {
        let wake: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var uptime: Duration = .zero
        var wallOffset: Int64
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleeps that were cancelled before they began.
        var cancelled: Set<Int> = []
        var sleepCount = 0
    }

    private let state: Guarded<State>

    /// A clock whose wall shows `wallSeconds` (Unix seconds).
    public init(wallSeconds: Int64 = 1_800_000_000) { state = Guarded(State(wallOffset: wallSeconds)) }

    /// Unix seconds by the wall clock.
    public var wallSeconds: Int64 { state.withLock { $0.wallOffset + $0.uptime.components.seconds } }

    /// Time since the clock was made.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// How many tasks sleep.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// How often a task has begun to sleep.
    package var sleepCount: Int { state.withLock { $0.sleepCount } }

    /// The time until the first sleeper wakes; nil if none sleeps.
    public var untilNextWake: Duration? {
        state.withLock { state in state.sleepers.values.map { $0.wake - state.uptime }.min() }
    }

    /// Moves both clocks on and resumes every sleeper whose time has come, in the order of their times.
    public func advance(by duration: Duration) {
        let due = state.withLock { state -> [Sleeper] in
            state.uptime += duration
            let due = state.sleepers.filter { $0.value.wake <= state.uptime }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.wake, $0.key) < ($1.value.wake, $1.key) }.map(\.value)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Moves both clocks on to the next sleeper. Returns false if none sleeps.
    @discardableResult
    public func advanceToNextWake() -> Bool {
        guard let duration = untilNextWake else { return false }
        advance(by: max(duration, .zero))
        return true
    }

    /// Sets the wall clock alone, as a user does.
    public func setWall(to seconds: Int64) {
        state.withLock { $0.wallOffset = seconds - $0.uptime.components.seconds }
    }

    /// Waits until the clock was advanced so far.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let id = state.withLock { state -> Int in
            state.lastID += 1
            state.sleepCount += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isCancelled = state.withLock { state -> Bool in
                    if state.cancelled.remove(id) != nil { return true }
                    state.sleepers[id] = Sleeper(wake: state.uptime + duration, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                if let sleeper = state.sleepers.removeValue(forKey: id) { return sleeper }
                state.cancelled.insert(id)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        // A cancellation that came after the wake-up left a note that nothing needs.
        state.withLock { _ = $0.cancelled.remove(id) }
    }
}
