/// The character classes of the RFCs, as one bit per ASCII character. The bit masks are fast but unreadable, so a test
/// compares every byte with the characters that the RFCs list.
enum Grammar {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20

    /// RFC 9110 §5.6.2: `tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" / "~"
    /// / DIGIT / ALPHA`
    @inline(__always)
    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        isOne(byte, of: 0x03FF_6CFA_0000_0000, 0x57FF_FFFF_C7FF_FFFE)
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
        isOne(byte, of: 0x2BFF_7FD2_0000_0000, 0x47FF_FFFE_87FF_FFFE)
    }

    /// RFC 3986 §3.3 and §3.4: `query = *( pchar / "/" / "?" )` with
    /// `pchar = unreserved / pct-encoded / sub-delims / ":" / "@"`, without the escapes. A path has the same without `?`.
    @inline(__always)
    static func isQueryCharacter(_ byte: UInt8) -> Bool {
        isOne(byte, of: 0xAFFF_FFD2_0000_0000, 0x47FF_FFFE_87FF_FFFF)
    }

    /// Returns true if the bit of an ASCII character is set: `low` has 0x00 to 0x3F, `high` has 0x40 to 0x7F.
    @inline(__always)
    private static func isOne(_ byte: UInt8, of low: UInt64, _ high: UInt64) -> Bool {
        let half = byte < 0x40 ? low : high
        return byte < 0x80 && half &>> UInt64(byte) & 1 != 0
    }

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

    /// Folds an ASCII letter to lower case and returns every other byte unchanged.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// Returns true if `bytes` is a `token`: at least one `tchar`, nothing else.
    static func isToken(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return false }
        for index in bytes.indices where !isTokenCharacter(bytes[index]) { return false }
        return true
    }

    /// Returns true if `bytes` contains a control character that field values must not contain.
    static func containsForbiddenControl(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index + 8 <= bytes.count, controls(bytes, at: index) == 0 { index += 8 }
        while index < bytes.count, !isForbiddenControl(bytes[index]) { index += 1 }
        return index < bytes.count
    }

    /// Checks eight bytes at once. Returns 0 if none is below 0x20 or equal to 0x7F; otherwise the lowest set bit lies
    /// in the first such byte, and the bits above it have no meaning.
    ///
    /// A byte of `word &- n` borrows into its top bit if it is less than n. `& ~word` ignores bytes that had the top
    /// bit before, so that obs-text does not match. A borrow reaches the next byte only after a true match.
    @inline(__always)
    static func controls(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        // The load checks the bounds, and any eight bytes are a valid UInt64.
        let loaded = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        let word = UInt64(littleEndian: loaded)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let delete = word ^ (ones &* 0x7F)
        let below = (word &- ones &* 0x20) & ~word
        return (below | (delete &- ones) & ~delete) & (ones &* 0x80)
    }

    /// Compares ASCII case-insensitively (RFC 9110 §5.1).
    @inline(__always)
    static func equalsIgnoringCase(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
        return true
    }

    /// Returns `range` without the blanks at both ends.
    static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, isBlank(bytes[lower]) { lower += 1 }
        while upper > lower, isBlank(bytes[upper - 1]) { upper -= 1 }
        return lower..<upper
    }
}
