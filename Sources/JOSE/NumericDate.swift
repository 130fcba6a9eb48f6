/// A Unix second in a token (RFC 7519 §2). It may have a fraction, which is dropped.
struct NumericDate: Decodable {
    let seconds: Int64

    /// Decodes a number, and refuses one beyond 64 bits.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let seconds = Int64(exactly: try value.decode(Double.self).rounded(.down)) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a date")
        }
        self.seconds = seconds
    }
}
