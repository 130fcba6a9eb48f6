/// Base16 in lower case (RFC 4648 §8).
public enum Hex {
    /// Encodes each byte as two digits.
    public static func encode(_ bytes: [UInt8]) -> String {
        unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (index, byte) in bytes.enumerated() {
                unsafe text[2 * index] = digit(byte >> 4)
                unsafe text[2 * index + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    /// Encodes two numbers as 32 digits.
    public static func encode(_ words: (high: UInt64, low: UInt64)) -> String {
        unsafe String(unsafeUninitializedCapacity: 32) { text in
            for place in 0..<32 {
                let word = place < 16 ? words.high : words.low
                unsafe text[place] = digit(UInt8(truncatingIfNeeded: word &>> UInt64(4 * (15 - place & 15))) & 15)
            }
            return 32
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// Decodes `text`. Returns nil unless it is an even number of lower-case digits.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
