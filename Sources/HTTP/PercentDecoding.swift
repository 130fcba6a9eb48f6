/// Percent-decoding that refuses what is not well-formed (RFC 3986 §2.1).
enum PercentDecoding {
    /// Decodes `bytes` to a string of valid UTF-8 without NUL. Raw controls are refused, escaped ones are data.
    static func string(_ bytes: Span<UInt8>, plusIsSpace: Bool) throws(FormError) -> String {
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
}
