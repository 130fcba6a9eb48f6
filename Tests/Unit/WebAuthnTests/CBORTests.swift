import Testing
import WebAuthn
import WebAuthnFixture

/// The subset of CBOR. The well-formed texts are those of RFC 8949, appendix A.
@Suite struct CBORTests {
    static let accepted: [([UInt8], CBOR)] = [
        ([0x00], .integer(0)), ([0x17], .integer(23)), ([0x18, 0x18], .integer(24)), ([0x18, 0x64], .integer(100)),
        ([0x19, 0x03, 0xE8], .integer(1000)), ([0x1A, 0x00, 0x0F, 0x42, 0x40], .integer(1_000_000)),
        ([0x1B, 0, 0, 0, 0xE8, 0xD4, 0xA5, 0x10, 0], .integer(1_000_000_000_000)),
        ([0x1B, 0x7F, 255, 255, 255, 255, 255, 255, 255], .integer(.max)),
        ([0x3B, 0x7F, 255, 255, 255, 255, 255, 255, 255], .integer(.min)),
        ([0x20], .integer(-1)), ([0x38, 0x63], .integer(-100)), ([0x39, 0x01, 0x00], .integer(-257)),
        ([0xF4], .bool(false)), ([0xF5], .bool(true)), ([0xF6], .null),
        ([0x40], .bytes([])), ([0x44, 1, 2, 3, 4], .bytes([1, 2, 3, 4])),
        ([0x60], .text("")), ([0x62, 0xC3, 0xBC], .text("ü")),
        ([0x80], .array([])), ([0x83, 1, 2, 3], .array([.integer(1), .integer(2), .integer(3)])),
        ([0xA0], .map([:])), ([0xA2, 1, 2, 0x61, 0x61, 4], .map([.integer(1): .integer(2), .text("a"): .integer(4)])),
        ([0xA2, 0x61, 0x61, 4, 1, 2], .map([.integer(1): .integer(2), .text("a"): .integer(4)])),
        ([0x81, 0x81, 0x81, 0x81, 0], .array([.array([.array([.array([.integer(0)])])])])),
    ]

    static let refused: [(String, [UInt8])] = [
        ("nothing", []), ("two values", [0, 0]), ("24 in two bytes is the shortest, 23 is not", [0x18, 0x17]),
        ("255 in three bytes", [0x19, 0, 0xFF]), ("65535 in five bytes", [0x1A, 0, 0, 0xFF, 0xFF]),
        ("2^32 - 1 in nine bytes", [0x1B, 0, 0, 0, 0, 255, 255, 255, 255]),
        ("a length in its longer form", [0x58, 1, 1]), ("2^63", [0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        ("-2^63 - 1", [0x3B, 0x80, 0, 0, 0, 0, 0, 0, 0]), ("reserved 28", [0x1C]), ("indefinite bytes", [0x5F, 0xFF]),
        ("indefinite array", [0x9F, 0xFF]), ("indefinite map", [0xBF, 0xFF]), ("break", [0xFF]),
        ("a tag", [0xC0, 0x60]), ("a half float", [0xF9, 0, 0]), ("a double", [0xFB, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("undefined", [0xF7]), ("a simple value", [0xF0]), ("a simple value of two bytes", [0xF8, 0x20]),
        ("an argument cut off", [0x19, 1]), ("bytes cut off", [0x42, 1]), ("text cut off", [0x62, 0x61]),
        ("an array cut off", [0x82, 1]), ("a map cut off", [0xA1, 1]),
        ("a length of 2^62", [0x5B, 0x40, 0, 0, 0, 0, 0, 0, 0]),
        ("an array of 2^62", [0x9B, 0x40, 0, 0, 0, 0, 0, 0, 0]), ("a map of 2^62", [0xBB, 0x40, 0, 0, 0, 0, 0, 0, 0]),
        ("no UTF-8", [0x61, 0xFF]), ("a surrogate", [0x63, 0xED, 0xA0, 0x80]), ("a key twice", [0xA2, 1, 2, 1, 2]),
        ("a text key twice", [0xA2, 0x61, 0x61, 1, 0x61, 0x61, 2]), ("a key of bytes", [0xA1, 0x40, 1]),
        ("a key that is true", [0xA1, 0xF5, 1]), ("a key that is an array", [0xA1, 0x80, 1]),
        ("five arrays", [0x81, 0x81, 0x81, 0x81, 0x80]), ("five maps", [0xA1, 1, 0xA1, 1, 0xA1, 1, 0xA1, 1, 0xA0]),
    ]

    @Test("well-formed values are decoded", arguments: accepted)
    func wellFormed(_ bytes: [UInt8], _ value: CBOR) throws { #expect(try CBOR.decode(bytes) == value) }

    @Test("everything else is refused", arguments: refused)
    func malformed(_ name: String, _ bytes: [UInt8]) {
        #expect(throws: WebAuthnError.malformedCBOR, "\(name)") { try CBOR.decode(bytes) }
    }

    @Test("more than 16 KiB are refused unread") func tooLong() {
        #expect(throws: WebAuthnError.tooLong) {
            try CBOR.decode(EncodedCBOR.bytes(.init(repeating: 0, count: CBOR.lengthMax)))
        }
    }

    @Test("a prefix ends where its value ends") func prefix() throws {
        let (value, end) = try CBOR.decodePrefix([9, 9, 0x82, 1, 2, 9, 9][2...])
        #expect(value == .array([.integer(1), .integer(2)]))
        #expect(end == 5)
    }
}
