internal import Cryptography

/// A place in the feed of revocations, as those who follow it keep it: the number of the last revocation that they have, until
/// when that one matters, and a mark of what it says. A database that was restored from a backup, or a standby that had not
/// got everything, gives numbers a second time; by the rest it knows the places apart that it has not given.
public struct RevocationCursor: Hashable, Sendable, CustomStringConvertible {
    /// Before all revocations.
    public static let start = RevocationCursor(number: 0, until: nil, mark: nil)

    /// Of the last revocation before the place.
    public let number: Int64
    /// Until when it matters; nil: somebody has only the number.
    public let until: Instant?
    /// What tells it from others of its number. Many matter until the same second, while tokens of a longer life are out.
    public let mark: Int64?

    private init(number: Int64, until: Instant?, mark: Int64?) {
        self.number = number
        self.until = until
        self.mark = mark
    }

    /// The place behind `revocation`.
    public init(after revocation: Revocation) {
        self.init(number: revocation.number, until: revocation.until, mark: revocation.mark)
    }

    /// The digits of the largest number.
    private static let digitsMax = 19

    /// Reads a place; nil: it cannot be one. All but the number may be missing, from the end on.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.count <= Self.digitsMax && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(part) : nil
        }
        guard (1...3).contains(parts.count), numbers.count == parts.count else { return nil }
        self.init(
            number: numbers[0], until: numbers.count > 1 ? Instant(secondsSinceEpoch: numbers[1]) : nil,
            mark: numbers.count > 2 ? numbers[2] : nil)
    }

    /// As `init` reads it.
    public var description: String {
        [number, until?.secondsSinceEpoch, mark].compactMap { $0.map(String.init) }.joined(separator: "-")
    }

    /// Whether `revocation`, which has the number of this place, is the one that the place was given for.
    func isBehind(_ revocation: Revocation) -> Bool {
        (until ?? revocation.until) == revocation.until && (mark ?? revocation.mark) == revocation.mark
    }
}

extension Revocation {
    /// Four bytes of a hash of what it says.
    fileprivate var mark: Int64 {
        let ids = [userID?.description, sessionID?.description, clientID].map { $0 ?? "" }.joined(separator: " ")
        let text = "\(kind.rawValue) \(at.secondsSinceEpoch) \(ids)"
        return sha256(Array(text.utf8)).prefix(4).reduce(0) { $0 << 8 | Int64($1) }
    }
}
