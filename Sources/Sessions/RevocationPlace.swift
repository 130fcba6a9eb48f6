/// A place in the feed of revocations, as those who follow it keep it: the number of the last revocation that they have, and
/// until when that one matters. A database that was restored from a backup gives numbers a second time; by the instant it
/// knows the places apart that it has not given.
public struct RevocationPlace: Hashable, Sendable, CustomStringConvertible {
    /// Before all revocations.
    public static let start = RevocationPlace(number: 0, until: nil)

    /// Of the last revocation before the place.
    public let number: Int64
    /// Until when it matters; nil: somebody has only the number.
    public let until: Instant?

    private init(number: Int64, until: Instant?) {
        self.number = number
        self.until = until
    }

    /// The place behind `revocation`.
    public init(after revocation: Revocation) { self.init(number: revocation.number, until: revocation.until) }

    /// Reads a place; nil: it cannot be one.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
        }
        guard (1...2).contains(parts.count), numbers.count == parts.count else { return nil }
        self.init(
            number: numbers[0], until: parts.count == 2 ? Instant(secondsSinceEpoch: numbers[1]) : nil)
    }

    /// As `init` reads it.
    public var description: String { until.map { "\(number)-\($0.secondsSinceEpoch)" } ?? "\(number)" }
}

extension RevocationFeed {
    /// Whether this database has given `place`, as far as that can be known: a place before what has been swept is one.
    public func knows(_ place: RevocationPlace) async throws(ServiceError) -> Bool {
        if place.number == 0 { return true }
        do throws(StoreError) {
            guard let until = place.until else { return try await place.number <= store.lastRevocation() }
            let all = Instant(secondsSinceEpoch: 0)
            let found = try await store.revocations(after: place.number - 1, at: all, limit: 1).first
            if let found, found.number == place.number { return found.until == until }
            if until > clock.now { return false }
            return try await place.number <= store.lastRevocation()
        } catch { throw .store(error) }
    }
}
