/// One name and its value, both decoded.
public struct FormPair: Hashable, Sendable {
    /// The name; it can be empty.
    public let name: String
    /// The value; empty if the pair has no `=`.
    public let value: String

    /// Creates a pair.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The reason for which a form is refused. The raw values are stable.
public enum FormError: String, Error, Hashable, Sendable, CaseIterable {
    /// A `%` is not followed by two hexadecimal digits.
    case invalidEscape = "invalid_escape"
    /// The decoded bytes are not UTF-8.
    case invalidUTF8 = "invalid_utf8"
    /// A raw control character, or a NUL, raw or escaped.
    case forbiddenCharacter = "forbidden_character"
    /// More pairs than the caller allows.
    case tooManyPairs = "too_many_pairs"
}

/// Strict decoder of `application/x-www-form-urlencoded` (WHATWG URL §5.1; RFC 6749 appendix B refers to it).
///
/// The result keeps order and repetition, because only the caller knows whether a name may repeat (RFC 6749 §3.2: it
/// may not).
public enum FormDecoder {
    /// The highest number of pairs by default. The largest form of the API has less than a tenth of it.
    public static let defaultMaximumCount = 100

    /// Decodes a whole body into its pairs, in their order.
    public static func decode(
        _ bytes: [UInt8], maximumCount: Int = defaultMaximumCount
    ) throws(FormError) -> [FormPair] {
        try decode(bytes.span, maximumCount: maximumCount)
    }

    /// Decodes `bytes` into its pairs, in their order. Empty pieces (`a=1&&b=2`) give no pair, as WHATWG URL §5.1 says,
    /// but they count towards `maximumCount`.
    public static func decode(
        _ bytes: Span<UInt8>, maximumCount: Int = defaultMaximumCount
    ) throws(FormError) -> [FormPair] {
        var pairs: [FormPair] = []
        var pieces = 0
        var start = 0
        while start < bytes.count {
            var end = start
            var equals: Int?
            while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
                if equals == nil, bytes[end] == UInt8(ascii: "=") { equals = end }
                end += 1
            }
            pieces += 1
            guard pieces <= maximumCount else { throw .tooManyPairs }
            if end > start {
                let nameEnd = equals ?? end
                let valueStart = equals.map { $0 + 1 } ?? end
                pairs.append(
                    FormPair(
                        name: try PercentDecoding.string(bytes.extracting(start..<nameEnd), plusIsSpace: true),
                        value: try PercentDecoding.string(bytes.extracting(valueStart..<end), plusIsSpace: true)))
            }
            start = end + 1
        }
        return pairs
    }
}
