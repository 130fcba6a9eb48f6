/// The character classes of the RFCs, written down once. A `switch` over constants compiles to a bit test.
enum Grammar {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20

    /// RFC 9110 §5.6.2: `tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~"
    /// / DIGIT / ALPHA`
    @inline(__always)
    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x7C, 0x7E: true
        default: false
        }
    }

    /// RFC 5234: `CTL = %x00-1F / %x7F`, without HTAB, which a field value may contain (RFC 9110 §5.5).
    @inline(__always)
    static func isForbiddenControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != tab) || byte == 0x7F
    }

    /// RFC 3986 §2.3 and §2.2: `unreserved / sub-delims`
    /// (`ALPHA / DIGIT / "-" / "." / "_" / "~"` and `"!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="`).
    @inline(__always)
    static func isUnreservedOrSubDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x24, 0x26...0x2E, 0x30...0x39, 0x3B, 0x3D, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x7E: true
        default: false
        }
    }

    /// RFC 3986 §3.3: `pchar = unreserved / pct-encoded / sub-delims / ":" / "@"`, without the escapes, plus the `/`
    /// between segments.
    @inline(__always)
    static func isPathCharacter(_ byte: UInt8) -> Bool {
        isUnreservedOrSubDelimiter(byte) || byte == 0x3A || byte == 0x40 || byte == 0x2F
    }

    /// RFC 3986 §3.4: `query = *( pchar / "/" / "?" )`, without the escapes.
    @inline(__always)
    static func isQueryCharacter(_ byte: UInt8) -> Bool { isPathCharacter(byte) || byte == 0x3F }

    /// RFC 5234: `DIGIT`
    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// RFC 5234: `HEXDIG`, of either case; nil for anything else.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// RFC 9110 §5.6.3: `OWS = *( SP / HTAB )`
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    /// ASCII letters folded to lower case; every other byte is itself.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Whether `bytes` is a `token`: at least one `tchar`, nothing else.
    static func isToken(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        for index in bytes.indices where !isTokenCharacter(bytes[index]) { return false }
        return true
    }

    /// Compares ASCII without regard to case (RFC 9110 §5.1).
    @inline(__always)
    static func equalsIgnoringCase(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
        return true
    }

    /// `bytes` without the blanks at both ends.
    static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, isBlank(bytes[lower]) { lower += 1 }
        while upper > lower, isBlank(bytes[upper - 1]) { upper -= 1 }
        return lower..<upper
    }
}
