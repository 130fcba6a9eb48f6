/// The storage of the revocation feed.
public protocol RevocationSource: Sendable {
    /// Returns up to `limit` revocations after the number `cursor` that still matter at `now`, oldest first. A reader of one
    /// revocation has been given every smaller number that any node ever wrote.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation]

    /// Returns a number that every later revocation exceeds.
    func lastRevocation() async throws(StoreError) -> Int64

    /// Returns the largest number that was assigned. A cursor beyond it is not of this database.
    func lastAssignedRevocation() async throws(StoreError) -> Int64
}

/// The state of the feed at one moment from a cursor on, with the cursor's own revocation. It also shows whether a cursor is of
/// this database, because revocations that still matter are never deleted.
struct RevocationExcerpt {
    /// The revocations that still mattered at `instant`, up to the limit.
    let rows: [Revocation]
    /// True if no further revocations existed.
    let isComplete: Bool
    let instant: Instant

    /// The revocations after a cursor.
    enum News {
        case nothing
        case revocations(ArraySlice<Revocation>)
        /// The database has never made the cursor, or has lost the revocation.
        case unknownCursor
    }

    init(from cursor: RevocationCursor, in source: any RevocationSource, at now: Instant, limit: Int)
        async throws(StoreError)
    {
        // One row more, for the cursor's own revocation.
        rows = try await source.revocations(after: cursor.number - 1, at: now, limit: limit + 1)
        isComplete = rows.count <= limit
        instant = now
    }

    /// The cursor after the last row.
    var end: RevocationCursor? { rows.last.map(RevocationCursor.init(after:)) }

    func news(for cursor: RevocationCursor) -> News {
        let rest = rows.drop { $0.number < cursor.number }
        if rest.isEmpty, !isComplete { return .nothing }
        guard let own = rest.first, own.number == cursor.number else {
            if cursor.number > 0, let until = cursor.until, until > instant { return .unknownCursor }
            return rest.isEmpty ? .nothing : .revocations(rest)
        }
        if !cursor.isBehind(own) { return .unknownCursor }
        return rest.count == 1 ? .nothing : .revocations(rest.dropFirst())
    }
}
