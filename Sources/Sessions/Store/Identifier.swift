public import Cryptography

/// 16 bytes that name a user or a session permanently, written as 32 lower-case hexadecimal digits.
///
/// The first three digits of a new one are the number of its cell, the part of all users that one database holds, and the
/// rest is random. There is one cell, 000. The digits are reserved, because tokens carry the ids of sessions: with more cells,
/// a proxy finds the database of a token without a lookup. An id that comes from elsewhere stays as it is.
///
/// `Subject` is a phantom type, so that the compiler rejects a user's id where a session's id is expected.
public struct Identifier<Subject>: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of an identifier.
    public static var byteCount: Int { 16 }

    @usableFromInline let high: UInt64
    @usableFromInline let low: UInt64

    /// The bits at the beginning that name the cell.
    static var cellBitCount: Int { 12 }

    /// A new identifier from `random`.
    public init(random: RandomSource) { self.init(drawn: random.bytes(Self.byteCount)) }

    /// A new identifier from at least 16 bytes that are random, or derived so that they look it.
    public init(drawn bytes: [UInt8]) {
        high = Self.word(bytes[..<8]) & (.max >> Self.cellBitCount)
        low = Self.word(bytes[8..<Self.byteCount])
    }

    /// The identifier with those 16 bytes; nil for any other number of bytes.
    ///
    /// Inlinable, because a store reads several identifiers for each request and an unspecialised generic type is slow across
    /// modules.
    @inlinable public init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = Self.word(bytes.prefix(8))
        low = Self.word(bytes.dropFirst(8))
    }

    /// The identifier with those 16 bytes; nil for any other number of bytes.
    @inlinable public init?(bytes: [UInt8]) { self.init(bytes: bytes[...]) }

    /// The identifier with the bytes of two big-endian numbers, the first eight bytes in `high`.
    @inlinable public init(words: (high: UInt64, low: UInt64)) { (high, low) = words }

    /// The 16 bytes as two big-endian numbers, the first eight bytes in `high`.
    @inlinable public var words: (high: UInt64, low: UInt64) { (high, low) }

    @inlinable static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var word: UInt64 = 0
        for byte in bytes { word = word << 8 | UInt64(byte) }
        return word
    }

    /// The identifier that `text` spells as 32 hexadecimal digits; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 2 * Self.byteCount, let bytes = Hex.decode(String(text)) else { return nil }
        self.init(bytes: bytes)
    }

    /// The 16 bytes, most significant first.
    @inlinable public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for word in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return bytes
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { Hex.encode(words) }
}

extension Identifier: Codable {
    /// Decodes the 32 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let identifier = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no identifier")
        }
        self = identifier
    }

    /// Encodes the 32 hexadecimal digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
