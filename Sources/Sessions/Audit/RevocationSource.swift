/// The storage of the revocation feed.
public protocol RevocationSource: Sendable {
    /// Returns up to `limit` revocations after the number `cursor` that still matter at `now`, oldest first. A reader of one
    /// revocation has been given every smaller number that any node ever wrote.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation]

    /// Returns the largest assigned number. A cursor beyond it is not of this database.
    func lastRevocation() async throws(StoreError) -> Int64
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
        case unknownPlace
    }

    init(from place: RevocationCursor, in source: any RevocationSource, at now: Instant, limit: Int)
        async throws(StoreError)
    {
        // One row more, for the cursor's own revocation.
        rows = try await source.revocations(after: place.number - 1, at: now, limit: limit + 1)
        isComplete = rows.count <= limit
        instant = now
    }

    /// The cursor after the last row.
    var end: RevocationCursor? { rows.last.map(RevocationCursor.init(after:)) }

    func news(for place: RevocationCursor) -> News {
        let rest = rows.drop { $0.number < place.number }
        if rest.isEmpty, !isComplete { return .nothing }
        guard let own = rest.first, own.number == place.number else {
            if place.number > 0, let until = place.until, until > instant { return .unknownPlace }
            return rest.isEmpty ? .nothing : .revocations(rest)
        }
        if !place.isBehind(own) { return .unknownPlace }
        return rest.count == 1 ? .nothing : .revocations(rest.dropFirst())
    }
}
