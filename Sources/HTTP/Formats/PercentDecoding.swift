/// Percent-decoding that refuses malformed input (RFC 3986 §2.1).
enum PercentDecoding {
    /// Decodes `bytes` to a string of valid UTF-8 without NUL. Raw control characters are refused; escaped ones are
    /// data.
    static func string(_ bytes: Span<UInt8>, plusIsSpace: Bool) throws(FormError) -> String {
        if isPlain(bytes) { return plain(bytes) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            var byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 1 < bytes.count, let high = Grammar.hexValue(bytes[index]),
                    let low = Grammar.hexValue(bytes[index + 1])
                else { throw .invalidEscape }
                byte = high << 4 | low
                index += 2
                guard byte != 0 else { throw .forbiddenCharacter }
            } else if byte < 0x20 || byte == 0x7F {
                throw .forbiddenCharacter
            } else if plusIsSpace, byte == UInt8(ascii: "+") {
                byte = Grammar.space
            }
            decoded.append(byte)
        }
        guard let string = String(validating: decoded, as: UTF8.self) else { throw .invalidUTF8 }
        return string
    }

    /// Returns true if `bytes` need no decoding: visible ASCII without `%` and `+`. Tokens, which are most of the
    /// input, need none.
    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        var special: UInt8 = 0
        // The loop has no early exit, so that the compiler can check many bytes at once.
        for index in bytes.indices {
            let byte = bytes[index]
            special |= byte &- 0x21 > 0x5D || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") ? 1 : 0
        }
        return special == 0
    }

    private static func plain(_ bytes: Span<UInt8>) -> String {
        unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
