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
    private let prefix: String
    private let count = Atomic<UInt64>(0)

    /// A maker whose ids no other has.
    public init(_ random: RandomSource) { prefix = Hex.encode(random.bytes(8)) }

    /// The next id.
    public func next() -> String {
        let digits = String(count.wrappingAdd(1, ordering: .relaxed).newValue, radix: 16)
        return prefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
