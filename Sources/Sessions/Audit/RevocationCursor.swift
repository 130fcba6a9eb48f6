internal import Cryptography

/// A cursor of the revocation feed: the number of the last revocation read, its expiry, and a mark of its content. A database
/// restored from a backup, or a standby that missed writes, assigns numbers a second time, and detects foreign cursors by
/// expiry and mark.
public struct RevocationCursor: Hashable, Sendable, CustomStringConvertible {
    /// The cursor before all revocations.
    public static let start = RevocationCursor(number: 0, until: nil, mark: nil)

    /// The number of the last revocation before the cursor.
    public let number: Int64
    /// The expiry of that revocation; nil if the cursor has only a number.
    public let until: Instant?
    /// A mark of its content. The expiry alone does not identify a revocation, because many expire in one second while tokens
    /// with an older, longer lifetime exist.
    public let mark: Int64?

    private init(number: Int64, until: Instant?, mark: Int64?) {
        self.number = number
        self.until = until
        self.mark = mark
    }

    /// The cursor after the revocation with that number, of which nothing else is known.
    init(number: Int64) { self.init(number: number, until: nil, mark: nil) }

    /// Creates the cursor after `revocation`.
    public init(after revocation: Revocation) {
        self.init(number: revocation.number, until: revocation.until, mark: revocation.mark)
    }

    /// The number of digits of the largest number.
    private static let digitsMax = 19

    /// Parses a cursor; nil if the text is invalid. Expiry and mark may be missing.
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

    /// The text form, which `init` parses.
    public var description: String {
        [number, until?.secondsSinceEpoch, mark].compactMap { $0.map(String.init) }.joined(separator: "-")
    }

    /// Returns true if `revocation`, which has the cursor's number, is the one that the cursor was made for.
    func isBehind(_ revocation: Revocation) -> Bool {
        (until ?? revocation.until) == revocation.until && (mark ?? revocation.mark) == revocation.mark
    }
}

extension Revocation {
    /// Four bytes of a hash of the content.
    fileprivate var mark: Int64 {
        let ids = [userID?.description, sessionID?.description, clientID, tokenID].map { $0 ?? "" }
            .joined(separator: " ")
        let text = "\(kind.rawValue) \(at.secondsSinceEpoch) \(ids) \(tokenEpoch ?? 0)"
        return sha256(Array(text.utf8)).prefix(4).reduce(0) { $0 << 8 | Int64($1) }
    }
}
