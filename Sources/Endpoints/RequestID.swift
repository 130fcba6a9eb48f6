internal import Cryptography
internal import HTTP

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

    /// A new id.
    static func made(_ random: RandomSource) -> String { Hex.encode(random.bytes(16)) }

    /// Whether `bytes` are 1 to `lengthMax` visible ASCII characters.
    static func isVisible(_ bytes: some Collection<UInt8>, lengthMax: Int) -> Bool {
        (1...lengthMax).contains(bytes.count) && bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
