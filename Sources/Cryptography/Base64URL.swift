/// Base64 with the URL alphabet and without padding (RFC 4648 §5, as RFC 7515 §2 uses it).
public enum Base64URL {
    /// The text of `bytes`.
    public static func encode(_ bytes: [UInt8]) -> String { String(decoding: encodeUTF8(bytes), as: UTF8.self) }

    /// The text of `bytes`, as ASCII.
    public static func encodeUTF8(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes.span, to: &text)
        return text
    }

    /// Adds the text of `bytes`, as ASCII.
    public static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        text.append(addingCapacity: (bytes.count * 4 + 2) / 3) { rest in append(bytes, to: &rest) }
    }

    private static func append(_ bytes: Span<UInt8>, to text: inout OutputSpan<UInt8>) {
        let alphabet = alphabet.span
        func append(_ group: UInt32, _ count: Int) {
            for place in 0..<count { text.append(alphabet[Int(group >> UInt32(18 - 6 * place) & 63)]) }
        }
        var index = 0
        while index + 2 < bytes.count {
            append(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]), 4)
            index += 3
        }
        switch bytes.count - index {
        case 2: append(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8, 3)
        case 1: append(UInt32(bytes[index]) << 16, 2)
        default: break
        }
    }

    /// The bytes of `text`, see `decode(utf8:)`.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(utf8: Array(text.utf8)) }

    /// The bytes of `text`, or nil unless `encode` would have written exactly this text: no padding, no white space, no
    /// other alphabet, and no stray bits at the end, so that one value has one text (RFC 4648 §3.5).
    public static func decode(utf8 text: [UInt8]) -> [UInt8]? { decode(utf8: text[...]) }

    /// See `decode(utf8:)`.
    public static func decode(utf8 text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        let values = values
        var group: UInt32 = 0
        var bits = 0
        var seen: UInt8 = 0
        for character in text {
            let value = values[Int(character)]
            seen |= value
            group = group << 6 | UInt32(value & 63)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
            }
        }
        let leftOver = group & ((1 << UInt32(bits)) - 1)
        return seen & invalid == 0 && leftOver == 0 ? bytes : nil
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    /// Set in the value of a character that is not in the alphabet.
    private static let invalid: UInt8 = 0x80
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
