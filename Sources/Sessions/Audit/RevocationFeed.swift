internal import Locks

/// Delivers revocations to waiting readers. While there are readers, one small query repeats for all of them, so that
/// revocations of other nodes arrive as fast as those of this node, through any proxy before the database.
public final class RevocationFeed: Sendable {
    /// The pause between two queries. The whole delivery to all readers should take at most a tenth of a second.
    public static let pause = Duration.milliseconds(25)

    /// The largest number of revocations in one answer.
    public static let pageMax = 200

    /// The answer to a reader; nil if the cursor is not of this database.
    private typealias Answer = Result<[Revocation]?, StoreError>

    private struct Waiting {
        let cursor: RevocationCursor
        let limit: Int
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        var waiting: [Int: Waiting] = [:]
        var lastTicket = 0
        var isLooking = false
        /// The cursor up to which all revocations were delivered; nil while no query runs.
        var seen: RevocationCursor?
    }

    private let source: any RevocationSource
    private let clock: WallClock
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    /// Creates the feed of `source`.
    public init(
        source: any RevocationSource, clock: WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.source = source
        self.clock = clock
        self.now = now
    }

    /// The number of waiting readers.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns true if this database made the cursor, as far as that can be known. A cursor before deleted revocations counts
    /// as known.
    public func knows(_ cursor: RevocationCursor) async throws(ServiceError) -> Bool {
        try await page(after: cursor, limit: 0) != nil
    }

    /// The revocations after `cursor` that still matter, or an empty array; nil if the cursor is not of this database.
    public func page(after cursor: RevocationCursor, limit: Int) async throws(ServiceError) -> [Revocation]? {
        let limit = min(limit, Self.pageMax)
        do throws(StoreError) {
            let excerpt = try await excerpt(from: cursor, limit: limit)
            switch excerpt.news(for: cursor) {
            case .unknownCursor: return nil
            case .revocations(let news): return Array(news.prefix(limit))
            case .nothing:
                // Only the number can be checked, because the cursor's own revocation has been deleted.
                if cursor.number == 0 || !excerpt.rows.isEmpty { return [] }
                return try await cursor.number <= source.lastAssignedRevocation() ? [] : nil
            }
        } catch { throw .store(error) }
    }

    /// The cursor after everything that was revoked until now.
    func end() async throws(ServiceError) -> RevocationCursor {
        do throws(StoreError) {
            return RevocationCursor(number: try await source.lastRevocation())
        } catch { throw .store(error) }
    }

    private func excerpt(from cursor: RevocationCursor, limit: Int) async throws(StoreError) -> RevocationExcerpt {
        try await RevocationExcerpt(from: cursor, in: source, at: clock.now, limit: limit)
    }

    /// Returns the revocations after `cursor` like `page`, but waits for at least one, at most for `patience` or until the task
    /// is cancelled.
    public func next(
        after cursor: RevocationCursor, limit: Int, patience: Duration
    ) async throws(ServiceError) -> [Revocation]? {
        // A reader at the delivered cursor only needs to wait with the others.
        if state.withLock({ $0.seen != cursor }) {
            guard let page = try await page(after: cursor, limit: limit) else { return nil }
            if !page.isEmpty { return page }
        }
        let news: [Revocation]?
        do throws(StoreError) {
            news = try await wait(at: cursor, limit: min(limit, Self.pageMax), until: now() + patience).get()
        } catch { throw .store(error) }
        // The store is read again, because the shared query may have begun before the cursor was made.
        if news?.isEmpty != false, !Task.isCancelled { return try await page(after: cursor, limit: limit) }
        return news
    }

    private func wait(
        at cursor: RevocationCursor, limit: Int, until deadline: ContinuousClock.Instant
    ) async -> Answer {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(
                    ticket, Waiting(cursor: cursor, limit: limit, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.continuation.resume(returning: .success([]))
        }
    }

    private func begin(_ ticket: Int, _ waiting: Waiting) {
        // The task may be cancelled between the check and the registration, in which case the handler does not find the reader.
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

    /// Repeats the query while there are readers.
    private func look() async {
        while true {
            let cursor = state.withLock { state -> RevocationCursor? in
                let cursor = state.waiting.values.lazy.map(\.cursor).min { $0.number < $1.number }
                if cursor == nil { (state.isLooking, state.seen) = (false, nil) }
                return cursor
            }
            guard let cursor else { return }
            do throws(StoreError) {
                deliver(.success(try await excerpt(from: cursor, limit: Self.pageMax)), from: cursor)
            } catch { deliver(.failure(error), from: cursor) }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func deliver(_ result: Result<RevocationExcerpt, StoreError>, from cursor: RevocationCursor) {
        let now = now()
        let ended = state.withLock { state in
            if case .success(let excerpt) = result { state.seen = excerpt.end ?? cursor }
            var ended: [(Waiting, Answer)] = []
            for (ticket, waiting) in state.waiting {
                guard let answer = Self.answer(to: waiting, from: result, since: cursor, at: now) else { continue }
                state.waiting[ticket] = nil
                ended.append((waiting, answer))
            }
            return ended
        }
        for (waiting, answer) in ended { waiting.continuation.resume(returning: answer) }
    }

    /// Returns the answer to a reader; nil if it continues to wait.
    private static func answer(
        to waiting: Waiting, from result: Result<RevocationExcerpt, StoreError>, since cursor: RevocationCursor,
        at now: ContinuousClock.Instant
    ) -> Answer? {
        switch result {
        case .failure(let error): return .failure(error)
        case .success(let excerpt):
            // A reader with an earlier cursor that came during the query gets earlier revocations from the next query.
            let news = waiting.cursor.number < cursor.number ? .nothing : excerpt.news(for: waiting.cursor)
            return switch news {
            case .unknownCursor: .success(nil)
            case .revocations(let news): .success(Array(news.prefix(waiting.limit)))
            case .nothing: waiting.deadline <= now ? .success([]) : nil
            }
        }
    }
}
