/// Numbers of JSON that `JSONValue` cannot hold. It has integers of 64 bits and binary fractions, and JSON has every decimal number
/// (RFC 8259 section 6).
extension StrictJSON {
    /// Whether `JSONValue` holds each number of a valid JSON text as it is: what it writes is equal to what was read.
    public static func keepsNumbers(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: "\"") {
                rest = afterString(rest)
            } else if isDigit(byte) || byte == UInt8(ascii: "-") {
                let number = rest.prefix { isDigit($0) || "+-.eE".utf8.contains($0) }
                if !keeps(String(decoding: number, as: UTF8.self)) { return false }
                rest = rest[number.endIndex...]
            } else {
                rest = rest.dropFirst()
            }
        }
        return true
    }

    /// What follows the string at the start of `text`.
    private static func afterString(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var isEscaped = false
        for (index, byte) in zip(text.indices, text).dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                return text[(index + 1)...]
            }
        }
        return []
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Whether the number is one of 64 bits, or equal to the shortest text of the nearest fraction. What is no number, no reader takes.
    private static func keeps(_ number: String) -> Bool {
        guard Int64(number) == nil, let nearest = Double(number) else { return true }
        return nearest.isFinite && DecimalNumber(number) == DecimalNumber("\(nearest)")
    }
}

/// A decimal number as its digits, without zeros at either end, and the power of ten of the last one.
private struct DecimalNumber: Equatable {
    private let isNegative: Bool
    private let digits: [UInt8]
    private let power: Int

    /// Reads a number of JSON; nil for an exponent far beyond those of fractions.
    init?(_ text: String) {
        let parts = text.utf8.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        guard let mantissa = parts.first, let exponent = parts.count > 1 ? Int(Substring(parts[1])) : 0,
            abs(exponent) < 100_000
        else { return nil }
        let halves = mantissa.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let whole = halves.joined().filter { (0x30...0x39).contains($0) }.drop { $0 == 0x30 }
        let digits = whole.reversed().drop { $0 == 0x30 }
        isNegative = !digits.isEmpty && mantissa.first == UInt8(ascii: "-")
        self.digits = Array(digits)
        power = digits.isEmpty ? 0 : exponent - (halves.count > 1 ? halves[1].count : 0) + whole.count - digits.count
    }
}
