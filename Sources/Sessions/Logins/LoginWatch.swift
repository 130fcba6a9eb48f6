internal import Locks

/// Lets requests wait for changes of logins: a change by this node wakes them at once, one by another node is found by a look
/// that each of them repeats.
public final class LoginWatch: Sendable {
    /// What a request waits for.
    enum Subject: Hashable, Sendable {
        /// One login.
        case login(Identifier<Session>)
        /// Everything that a user's phones can see.
        case user(Identifier<User>)
    }

    /// The pause between two looks.
    public static let pause = Duration.milliseconds(500)

    private struct State {
        var waiting: [Int: (subject: Subject, continuation: CheckedContinuation<Void, Never>)] = [:]
        var lastTicket = 0
    }

    private let state = Locked(State())
    private let now: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async -> Void

    /// A watch. It reads the time by `now`, and waits by `sleep`.
    public init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        (self.now, self.sleep) = (now, sleep)
    }

    /// The number of requests that wait.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Wakes the requests that wait for one of those.
    func wake(_ subjects: Set<Subject>) {
        let woken = state.withLock { state in
            let tickets = state.waiting.filter { subjects.contains($0.value.subject) }.keys
            return tickets.compactMap { state.waiting.removeValue(forKey: $0)?.continuation }
        }
        for continuation in woken { continuation.resume() }
    }

    /// Calls `look` until it has something new, at most for `patience` or until the task is cancelled. Returns what it saw last.
    func next<Value: Sendable>(
        _ subject: Subject, patience: Duration,
        _ look: () async throws(ServiceError) -> (value: Value, isNew: Bool)
    ) async throws(ServiceError) -> Value {
        let deadline = now() + patience
        while true {
            let seen = try await look()
            let left = deadline - now()
            if seen.isNew || left <= .zero || Task.isCancelled { return seen.value }
            await wait(subject, atMost: min(left, Self.pause))
        }
    }

    private func wait(_ subject: Subject, atMost duration: Duration) async {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let alarm = Task { [self] in
            await sleep(duration)
            end(ticket)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting[ticket] = (subject, continuation) }
                if Task.isCancelled { end(ticket) }
            }
        } onCancel: {
            end(ticket)
        }
        alarm.cancel()
    }

    private func end(_ ticket: Int) {
        state.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume()
    }
}
