public import Cryptography
internal import HTTP
internal import Synchronization

/// The `X-Request-Id` of a request and its answer, by which the log, the audit trail and the caller speak of it.
enum RequestID {
    static let lengthMax = 128

    /// The id that the request brings, if it is 1 to 128 visible ASCII characters and brought once.
    static func kept(_ fields: Fields) -> String? {
        guard let bytes = fields.firstBytes("X-Request-Id"), isVisible(bytes, lengthMax: lengthMax),
            let id = try? fields.only("X-Request-Id")
        else { return nil }
        return id
    }

    /// Whether `bytes` are 1 to `lengthMax` visible ASCII characters.
    static func isVisible(_ bytes: some Collection<UInt8>, lengthMax: Int) -> Bool {
        (1...lengthMax).contains(bytes.count) && bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Makes request ids: unique, not secret, so that a counter behind a random start will do.
public final class RequestIDMaker: Sendable {
    /// Eight random bytes in hexadecimal.
    private let prefix: [UInt8]
    private let count = Atomic<UInt64>(0)

    /// A maker whose ids no other has.
    public init(_ random: RandomSource) { prefix = Array(Hex.encode(random.bytes(8)).utf8) }

    /// The next id.
    public func next() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return String(unsafeUninitializedCapacity: 32) { buffer in
            _ = buffer.update(fromContentsOf: prefix)
            for index in 16..<32 {
                let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * (31 - index)) & 0xF)
                buffer[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
            }
            return 32
        }
    }
}
