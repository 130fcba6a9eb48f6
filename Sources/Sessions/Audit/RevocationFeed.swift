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

    /// What somebody is told; nil: the place that they are at is not of this database.
    private typealias Answer = Result<[Revocation]?, StoreError>

    private struct Waiting {
        let place: RevocationCursor
        let limit: Int
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        var waiting: [Int: Waiting] = [:]
        var lastTicket = 0
        var isLooking = false
        /// No revocation up to this place is to come any more that nobody has seen; nil while nobody looks.
        var seen: RevocationCursor?
    }

    private let source: any RevocationSource
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// The feed of `source`.
    public init(
        source: any RevocationSource, clock: WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.source = source
        self.clock = clock
        self.now = now
    }

    /// How many wait at present.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Whether this database has given `place`, as far as that can be known: a place before what has been swept is one.
    public func knows(_ place: RevocationCursor) async throws(ServiceError) -> Bool {
        try await page(after: place, limit: 0) != nil
    }

    /// What there is after `place` that still matters; nothing, if there is nothing. Nil: `place` is not of this database.
    public func page(after place: RevocationCursor, limit: Int) async throws(ServiceError) -> [Revocation]? {
        let limit = min(limit, Self.pageMax)
        do throws(StoreError) {
            let excerpt = try await excerpt(from: place, limit: limit)
            switch excerpt.news(for: place) {
            case .unknownPlace: return nil
            case .revocations(let news): return Array(news.prefix(limit))
            case .nothing:
                // Of a place whose own revocation does not matter any more, only the number is left.
                if place.number == 0 || !excerpt.rows.isEmpty { return [] }
                return try await place.number <= source.lastRevocation() ? [] : nil
            }
        } catch { throw .store(error) }
    }

    private func excerpt(from place: RevocationCursor, limit: Int) async throws(StoreError) -> RevocationExcerpt {
        try await RevocationExcerpt(from: place, in: source, at: clock.now, limit: limit)
    }

    /// The same as `page`, but waits until there is something; for `patience` at most, and no longer than the task lives.
    public func next(
        after place: RevocationCursor, limit: Int, patience: Duration
    ) async throws(ServiceError) -> [Revocation]? {
        // Whoever is as far as the others has only to wait with them.
        if state.withLock({ $0.seen != place }) {
            guard let page = try await page(after: place, limit: limit) else { return nil }
            if !page.isEmpty { return page }
        }
        let news: [Revocation]?
        do throws(StoreError) {
            news = try await wait(at: place, limit: min(limit, Self.pageMax), until: now() + patience).get()
        } catch { throw .store(error) }
        // The look that knows nothing of the place may be older than the place.
        if news?.isEmpty != false, !Task.isCancelled { return try await page(after: place, limit: limit) }
        return news
    }

    private func wait(
        at place: RevocationCursor, limit: Int, until deadline: ContinuousClock.Instant
    ) async -> Answer {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(
                    ticket, Waiting(place: place, limit: limit, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume(returning: .success([]))
        }
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
            let place = state.withLock { state -> RevocationCursor? in
                let place = state.waiting.values.lazy.map(\.place).min { $0.number < $1.number }
                if place == nil { (state.isLooking, state.seen) = (false, nil) }
                return place
            }
            guard let place else { return }
            do throws(StoreError) {
                deliver(.success(try await excerpt(from: place, limit: Self.pageMax)), from: place)
            } catch { deliver(.failure(error), from: place) }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func deliver(_ result: Result<RevocationExcerpt, StoreError>, from place: RevocationCursor) {
        let now = now()
        let ended = state.withLock { state in
            if case .success(let excerpt) = result { state.seen = excerpt.end ?? place }
            var ended: [(Waiting, Answer)] = []
            for (ticket, waiting) in state.waiting {
                guard let answer = Self.answer(to: waiting, from: result, since: place, at: now) else { continue }
                state.waiting[ticket] = nil
                ended.append((waiting, answer))
            }
            return ended
        }
        for (waiting, answer) in ended { waiting.continuation.resume(returning: answer) }
    }

    /// Nil: goes on waiting.
    private static func answer(
        to waiting: Waiting, from result: Result<RevocationExcerpt, StoreError>, since place: RevocationCursor,
        at now: ContinuousClock.Instant
    ) -> Answer? {
        switch result {
        case .failure(let error): return .failure(error)
        case .success(let excerpt):
            // Who began to wait at an earlier place while the store was asked finds what comes before in the next look.
            let news = waiting.place.number < place.number ? .nothing : excerpt.news(for: waiting.place)
            return switch news {
            case .unknownPlace: .success(nil)
            case .revocations(let news): .success(Array(news.prefix(waiting.limit)))
            case .nothing: waiting.deadline <= now ? .success([]) : nil
            }
        }
    }
}
