/// A Unix second as tokens say it (RFC 7519 section 2): it may have a fraction, which is dropped.
struct NumericDate: Decodable {
    let seconds: Int64

    /// Refuses what is beyond the numbers of 64 bits.
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let seconds = Int64(exactly: try value.decode(Double.self).rounded(.down)) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a date")
        }
        self.seconds = seconds
    }
}
