/// Who keeps the feed of revocations.
public protocol RevocationSource: Sendable {
    /// Up to `limit` of the revocations after place `cursor` that still matter at `now`, the oldest first. Whoever has seen one has
    /// been shown every smaller one that was ever written, by whatever node.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation]

    /// The largest number that the feed has given away; a cursor beyond it is not of this database.
    func lastRevocation() async throws(StoreError) -> Int64
}

/// What the store had at one moment from a place of the feed on, the revocation before that place included. So it also shows
/// which places are not of this database: what still matters is not swept.
struct RevocationExcerpt {
    /// All that still mattered at `instant`, as far as `isComplete` says.
    let rows: [Revocation]
    /// Whether nothing came after them.
    let isComplete: Bool
    let instant: Instant

    /// What it has for those at some place.
    enum News {
        case nothing
        case revocations(ArraySlice<Revocation>)
        /// The database has never given the place, or has lost what it gave.
        case unknownPlace
    }

    init(from place: RevocationCursor, in source: any RevocationSource, at now: Instant, limit: Int)
        async throws(StoreError)
    {
        // One more, for the revocation before the place.
        rows = try await source.revocations(after: place.number - 1, at: now, limit: limit + 1)
        isComplete = rows.count <= limit
        instant = now
    }

    /// The place behind all of it.
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
