/// A name and its value, decoded.
public struct FormPair: Hashable, Sendable {
    /// The name; it can be empty.
    public let name: String
    /// The value; empty when there was no `=`.
    public let value: String

    /// Puts a pair together.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Why a form was refused. The raw values are stable.
public enum FormError: String, Error, Hashable, Sendable, CaseIterable {
    /// A `%` is not followed by two hexadecimal digits.
    case invalidEscape = "invalid_escape"
    /// The decoded bytes are not UTF-8.
    case invalidUTF8 = "invalid_utf8"
    /// A raw control, or a NUL in any shape.
    case forbiddenCharacter = "forbidden_character"
    /// More pairs than the caller allows.
    case tooManyPairs = "too_many_pairs"
}

/// Strict `application/x-www-form-urlencoded` (WHATWG URL §5.1, and RFC 6749 appendix B, which refers to it).
///
/// Order and repetition are kept: whether a name may stand twice is for the caller to say (RFC 6749 §3.2: it may not).
public enum FormDecoder {
    /// No form that we know has a tenth of it.
    public static let defaultMaximumCount = 100

    /// Decodes a whole body.
    public static func decode(
        _ bytes: [UInt8], maximumCount: Int = defaultMaximumCount
    ) throws(FormError) -> [FormPair] {
        try decode(bytes.span, maximumCount: maximumCount)
    }

    /// Decodes `bytes`. Empty pieces (`a=1&&b=2`) are passed over, as WHATWG has it, but count.
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
