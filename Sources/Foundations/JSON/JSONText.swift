internal import FoundationEssentials

/// Writes JSON texts and strings (RFC 8259 section 7).
public enum JSONText {
    /// Writes `value` without white space, members in the order of their names, slashes unescaped; nil if JSON has no
    /// text for the value, such as an infinite number.
    public static func compact(_ value: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { Array($0) }
    }

    /// Writes `text` between quotation marks. Nearly every text needs no escape.
    public static func quoted(_ text: String) -> String {
        isPlain(text) ? "\"" + text + "\"" : escaped(text)
    }

    /// True if `text` is ASCII without characters that JSON escapes.
    static func isPlain(_ text: String) -> Bool { isPlain(text.utf8.span) }

    /// True if the bytes of a text are ASCII without characters that JSON escapes.
    static func isPlain(_ text: borrowing Span<UInt8>) -> Bool {
        var special: UInt64 = 0
        if text.count < 8 {
            // Each byte is padded with seven spaces.
            for index in text.indices { special |= Self.special(0x2020_2020_2020_2000 | UInt64(text[index])) }
            return special == 0
        }
        let bytes = unsafe text.bytes
        let last = bytes.byteCount - 8
        for index in stride(from: 0, to: last, by: 8) {
            special |= unsafe Self.special(bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
        }
        // The last eight bytes overlap those before them.
        special |= unsafe Self.special(bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt64.self))
        return special == 0
    }

    /// Tests eight bytes at once: zero if each is ASCII, not below a space, no quotation mark and no backslash.
    private static func special(_ bytes: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
        return (bytes | below(0x20, bytes) | below(1, quotes) | below(1, backslashes)) & (ones &* 0x80)
    }

    /// Sets the highest bit of some byte exactly if some byte of `bytes` is less than `bound`.
    private static func below(_ bound: UInt64, _ bytes: UInt64) -> UInt64 {
        (bytes &- 0x0101_0101_0101_0101 &* bound) & ~bytes
    }

    /// Escapes `text` with Foundation's encoder.
    static func escaped(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // A text can always be encoded.
        guard let encoded = try? encoder.encode(text) else { return "null" }
        return String(decoding: encoded, as: UTF8.self)
    }
}
