/// Base64 with the URL alphabet and without padding (RFC 4648 §5, as RFC 7515 §2 uses it).
public enum Base64URL {
    /// Encodes `bytes` to text.
    public static func encode(_ bytes: [UInt8]) -> String { String(decoding: encodeUTF8(bytes), as: UTF8.self) }

    /// Encodes `bytes` to ASCII.
    public static func encodeUTF8(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        append(bytes.span, to: &text)
        return text
    }

    /// Appends `bytes` as base64url in ASCII. It computes eight characters at a time without a table, because the cache
    /// lines of a table would leak the bytes.
    public static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        let count = (bytes.count * 4 + 2) / 3
        // The last group may be longer than needed.
        text.append(addingCapacity: count + 8) { rest in
            unsafe rest.withUnsafeMutableBufferPointer { room, initializedCount in
                let place = UnsafeMutableRawBufferPointer(room)
                var (index, end) = (0, 0)
                while index + 8 <= bytes.count {
                    let eight = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
                    let characters = characters(of: UInt64(bigEndian: eight) >> 16)
                    unsafe place.storeBytes(of: characters.bigEndian, toByteOffset: end, as: UInt64.self)
                    (index, end) = (index + 6, end + 8)
                }
                while index < bytes.count {
                    var group: UInt64 = 0
                    for offset in 0..<min(6, bytes.count - index) {
                        group |= UInt64(bytes[index + offset]) << UInt64(40 - 8 * offset)
                    }
                    unsafe place.storeBytes(of: characters(of: group).bigEndian, toByteOffset: end, as: UInt64.self)
                    (index, end) = (index + 6, end + 8)
                }
                initializedCount = count
            }
        }
    }

    /// Returns the eight characters of the lowest 48 bits.
    private static func characters(of group: UInt64) -> UInt64 {
        // Spreads the bits to six per byte in three steps: 24 per half, 12 per quarter, 6 per byte.
        var values = (group & 0xFFFF_FF00_0000) << 8 | group & 0xFF_FFFF
        values = (values & 0x00FF_F000_00FF_F000) << 4 | values & 0x0000_0FFF_0000_0FFF
        values = (values & 0x0FC0_0FC0_0FC0_0FC0) << 2 | values & 0x003F_003F_003F_003F
        // Sets each byte to 1 if its value is not less than `bound`.
        func reach(_ bound: UInt64) -> UInt64 { (values + (128 - bound) * ones) >> 7 & ones }
        // A-Z, a-z, 0-9, - and _ begin at the values 0, 26, 52, 62 and 63. At each bound the distance between value and
        // character changes by the given amount. No byte overflows or goes below zero.
        let raised = values + 65 * ones + 6 * reach(26) + 49 * reach(63)
        return raised - 75 * reach(52) - 13 * reach(62)
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Decodes `text`. Returns nil as `decode(utf8:)` does.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(utf8: Array(text.utf8)) }

    /// Decodes `text`. Returns nil unless `encode` would write exactly this text: no padding, no white space, no other
    /// alphabet, no stray bits at the end, so that one value has one text (RFC 4648 §3.5).
    public static func decode(utf8 text: [UInt8]) -> [UInt8]? { decode(utf8: text[...]) }

    /// Decodes a slice. Returns nil as `decode(utf8:)` of an array does.
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
    /// Marks characters outside of the alphabet.
    private static let invalid: UInt8 = 0x80
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
