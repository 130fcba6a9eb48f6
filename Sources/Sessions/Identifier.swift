public import Cryptography

/// 16 random bytes that name a user or a session for ever; written as 32 lower-case hexadecimal digits.
///
/// `Subject` keeps the id of a user from being taken for that of a session.
public struct Identifier<Subject>: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of an identifier.
    public static var byteCount: Int { 16 }

    private let high: UInt64
    private let low: UInt64

    /// A new identifier from `random`.
    public init(random: RandomSource) {
        let bytes = random.bytes(Self.byteCount)
        precondition(bytes.count == Self.byteCount, "a random source gives what it is asked for")
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The identifier with those 16 bytes; nil for any other number of bytes.
    public init?(bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The identifier written as 32 lower-case hexadecimal digits; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 2 * Self.byteCount, let bytes = Hex.decode(String(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// The 16 bytes, most significant first.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { Hex.encode(bytes) }
}
