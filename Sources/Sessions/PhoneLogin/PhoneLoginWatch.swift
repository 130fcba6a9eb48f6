internal import Locks

/// Lets requests wait for changes of logins and verifications: a change by this node wakes them at once, the end of a session on any node wakes
/// them by the revocation feed, and every other change by another node is found by a look that each of them repeats.
public final class PhoneLoginWatch: Sendable {
    /// What a request waits for.
    enum Subject: Hashable, Sendable {
        case login(Identifier<Session>)
        /// Everything that a user's phones can see.
        case user(Identifier<User>)
        case verification(Identifier<Verification>)
    }

    /// The pause between two looks.
    public static let pause = Duration.milliseconds(500)

    /// For how long the feed is read when no request waits, because each of them looks between two waits.
    private static let linger = Duration.seconds(2)

    private struct State {
        var waiting: [Int: (subject: Subject, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var lastTicket = 0
        var feed: RevocationFeed?
        var isFollowing = false
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

    /// Lets the ends of sessions in `feed` wake requests.
    public func follow(_ feed: RevocationFeed) { state.withLock { $0.feed = feed } }

    /// Waits until a session ends or something else changes about its login, at most for `duration`.
    public func pause(for sessionID: Identifier<Session>, atMost duration: Duration) async {
        _ = await wait(.login(sessionID), atMost: duration)
    }

    /// Wakes the requests that wait for one of those.
    ///
    /// - Parameter isEnd: whether a session has ended, which may be that of a request.
    func wake(_ subjects: Set<Subject>, isEnd: Bool = false) {
        let woken = state.withLock { state in
            let tickets = state.waiting.filter { subjects.contains($0.value.subject) }.keys
            return tickets.compactMap { state.waiting.removeValue(forKey: $0)?.continuation }
        }
        for continuation in woken { continuation.resume(returning: isEnd) }
    }

    /// Calls `look` until it has something new, at most for `patience` or until the task is cancelled. Returns what it saw last.
    ///
    /// - Parameter isAdmitted: whether the request may go on, which is asked when a session has ended. False ends the wait.
    func next<Value: Sendable>(
        _ subject: Subject, patience: Duration, while isAdmitted: () async -> Bool = { true },
        _ look: () async throws(ServiceError) -> (value: Value, isNew: Bool)
    ) async throws(ServiceError) -> Value {
        let deadline = now() + patience
        while true {
            let seen = try await look()
            let left = deadline - now()
            if seen.isNew || left <= .zero || Task.isCancelled { return seen.value }
            let mayHaveEnded = await wait(subject, atMost: min(left, Self.pause))
            if mayHaveEnded, await !isAdmitted() { return seen.value }
        }
    }

    /// Waits. Returns whether the end of a session has ended the wait.
    private func wait(_ subject: Subject, atMost duration: Duration) async -> Bool {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        var alarm: Task<Void, Never>?
        let mayHaveEnded = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let feed = state.withLock { state -> RevocationFeed? in
                    state.waiting[ticket] = (subject, continuation)
                    if state.isFollowing { return nil }
                    state.isFollowing = state.feed != nil
                    return state.feed
                }
                // It begins after the registration, so that it always finds it.
                alarm = Task { [self] in
                    await sleep(duration)
                    end(ticket)
                }
                if Task.isCancelled { end(ticket) }
                if let feed { Task { await self.read(feed) } }
            }
        } onCancel: {
            end(ticket)
        }
        alarm?.cancel()
        return mayHaveEnded
    }

    private func end(_ ticket: Int) {
        state.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume(returning: false)
    }

    /// Wakes requests by the feed, for as long as there are any.
    private func read(_ feed: RevocationFeed) async {
        var cursor: RevocationCursor?
        while isStillFollowing() {
            do throws(ServiceError) {
                let start: RevocationCursor
                if let cursor {
                    start = cursor
                } else {
                    start = try await feed.end()
                    // What ended before that, and after the last look of a request, is in no later news.
                    wakeAll()
                }
                let news = try await feed.next(after: start, limit: RevocationFeed.pageMax, patience: Self.linger)
                cursor = news.map { $0.last.map { RevocationCursor(after: $0) } ?? start }
                for revocation in news ?? [] { wake(revocation) }
            } catch {
                cursor = nil
                await sleep(Self.pause)
            }
        }
    }

    private func isStillFollowing() -> Bool {
        state.withLock { state in
            state.isFollowing = !state.waiting.isEmpty
            return state.isFollowing
        }
    }

    private func wake(_ revocation: Revocation) {
        if let sessionID = revocation.sessionID {
            wake([.login(sessionID)], isEnd: true)
            if let userID = revocation.userID { wake([.user(userID)], isEnd: true) }
        } else {
            // A cut through many sessions: everything is looked at again.
            wakeAll()
        }
    }

    private func wakeAll() { wake(Set(state.withLock { $0.waiting.values.map(\.subject) }), isEnd: true) }
}
