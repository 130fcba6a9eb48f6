internal import FoundationEssentials

/// A JSON string (RFC 8259 section 7).
public enum JSONText {
    /// `text` between quotation marks. What needs no escape, nearly everything, only gets these.
    public static func quoted(_ text: String) -> String {
        isPlain(text) ? "\"" + text + "\"" : escaped(text)
    }

    /// Whether it is ASCII without anything that JSON gives a meaning: it stands for itself.
    static func isPlain(_ text: String) -> Bool { isPlain(text.utf8.span) }

    /// Whether the bytes of a text are.
    static func isPlain(_ text: borrowing Span<UInt8>) -> Bool {
        var special: UInt64 = 0
        if text.count < 8 {
            // Seven spaces beside each.
            for index in text.indices { special |= Self.special(0x2020_2020_2020_2000 | UInt64(text[index])) }
            return special == 0
        }
        let bytes = unsafe text.bytes
        let last = bytes.byteCount - 8
        for index in stride(from: 0, to: last, by: 8) {
            special |= unsafe Self.special(bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
        }
        // The last eight, some of them for the second time.
        special |= unsafe Self.special(bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt64.self))
        return special == 0
    }

    /// Looks at eight bytes at once: zero, if each is ASCII, not below a space, no quotation mark and no backslash.
    private static func special(_ bytes: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslashes = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
        return (bytes | below(0x20, bytes) | below(1, quotes) | below(1, backslashes)) & (ones &* 0x80)
    }

    /// The highest bit of some byte is set, exactly if some byte of `bytes` is less than `bound`.
    private static func below(_ bound: UInt64, _ bytes: UInt64) -> UInt64 {
        (bytes &- 0x0101_0101_0101_0101 &* bound) & ~bytes
    }

    /// As Foundation's encoder writes it.
    static func escaped(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // A text can always be encoded.
        guard let encoded = try? encoder.encode(text) else { return "null" }
        return String(decoding: encoded, as: UTF8.self)
    }
}
