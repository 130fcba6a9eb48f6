internal import Locks

/// Brings revocations to those who wait for them. Only while somebody does, the store is asked again and again: one small
/// query for all of them. So the revocations of other nodes come as soon as one's own, through whatever stands between
/// here and the database.
public final class RevocationFeed: Sendable {
    /// How long nobody looks, when nothing has come. A tenth of a second is what the way from the caller of a revocation to
    /// everybody who follows the feed may take altogether.
    public static let pause = Duration.milliseconds(25)

    /// The most that one answer holds.
    public static let pageMax = 200

    private struct Waiting {
        let cursor: Int64
        let limit: Int
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Result<[Revocation], StoreError>, Never>
    }

    private struct State {
        var waiting: [Int: Waiting] = [:]
        var lastTicket = 0
        var isLooking = false
        /// No revocation up to this place is to come any more that nobody has seen; nil while nobody looks.
        var seen: Int64?
    }

    let store: any Store
    let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// The feed of `store`.
    public init(
        store: any Store, clock: WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.store = store
        self.clock = clock
        self.now = now
    }

    /// How many wait at present.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// What there is after `cursor` that still matters; nothing, if there is nothing.
    public func page(after cursor: Int64, limit: Int) async throws(ServiceError) -> [Revocation] {
        do throws(StoreError) { return try await found(after: cursor, limit: limit) } catch { throw .store(error) }
    }

    private func found(after cursor: Int64, limit: Int) async throws(StoreError) -> [Revocation] {
        try await store.revocations(after: cursor, at: clock.now, limit: min(limit, Self.pageMax))
    }

    /// The same as `page`, but waits until there is something; for `patience` at most, and no longer than the task lives.
    public func next(
        after cursor: Int64, limit: Int, patience: Duration
    ) async throws(ServiceError) -> [Revocation] {
        // Whoever is as far as the others has only to wait with them.
        if state.withLock({ $0.seen != cursor }) {
            let page = try await page(after: cursor, limit: limit)
            if !page.isEmpty { return page }
        }
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let deadline = now() + patience
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(
                    ticket,
                    Waiting(
                        cursor: cursor, limit: min(limit, Self.pageMax), deadline: deadline, continuation: continuation)
                )
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume(returning: .success([]))
        }
        do throws(StoreError) { return try result.get() } catch { throw .store(error) }
    }

    private func begin(_ ticket: Int, _ waiting: Waiting) {
        // Between a look at the task and the list, the task can be cancelled: then nobody finds it in the list.
        let mustLook = state.withLock { state in
            state.waiting[ticket] = waiting
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if Task.isCancelled {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume(returning: .success([]))
        }
        if mustLook { Task { await look() } }
    }

    /// Looks for as long as somebody waits.
    private func look() async {
        while true {
            let place = state.withLock { state -> Int64? in
                let place = state.waiting.values.lazy.map(\.cursor).min()
                if place == nil { (state.isLooking, state.seen) = (false, nil) }
                return place
            }
            guard let place else { return }
            let result: Result<[Revocation], StoreError>
            do throws(StoreError) {
                result = .success(try await found(after: place, limit: Self.pageMax))
            } catch { result = .failure(error) }
            deliver(result, after: place)
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func deliver(_ result: Result<[Revocation], StoreError>, after place: Int64) {
        let now = now()
        let ended = state.withLock { state in
            if case .success(let found) = result { state.seen = found.last?.number ?? place }
            let ended = state.waiting.filter { _, waiting in
                switch result {
                case .failure: true
                case .success(let found): waiting.deadline <= now || (found.last?.number ?? 0) > waiting.cursor
                }
            }
            for ticket in ended.keys { state.waiting[ticket] = nil }
            return ended.values
        }
        for waiting in ended {
            waiting.continuation.resume(
                returning: result.map { found in
                    Array(found.lazy.filter { $0.number > waiting.cursor }.prefix(waiting.limit))
                })
        }
    }
}
