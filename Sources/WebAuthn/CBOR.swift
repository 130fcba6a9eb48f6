/// A value in the subset of CBOR (RFC 8949) that authenticators write: whole numbers, byte strings, texts, arrays, maps, truth
/// values and null, each with a definite length in its shortest form (CTAP2 section 8). Floats, tags, indefinite lengths and
/// repeated keys are refused.
///
/// The order of the keys of a map is not checked: clients have written attestation objects in another one than CTAP2's, and no
/// two maps differ by it.
public enum CBOR: Hashable, Sendable {
    /// A whole number from -2^63 to 2^63 - 1.
    case integer(Int64)
    /// A byte string.
    case bytes([UInt8])
    /// A text of valid UTF-8.
    case text(String)
    case array([CBOR])
    case map([Key: CBOR])
    /// A truth value.
    case bool(Bool)
    case null

    /// The key of a map's entry.
    public enum Key: Hashable, Sendable {
        /// A whole number.
        case integer(Int64)
        case text(String)
    }

    /// How many arrays and maps may stand in each other. An attestation object with certificates has three.
    public static let depthMax = 4
    /// The longest byte string that is decoded. A TPM's attestation with its chain of certificates has about 6 KiB.
    public static let lengthMax = 16 * 1024

    /// Decodes one value, which takes up all of `bytes`.
    public static func decode(_ bytes: [UInt8]) throws(WebAuthnError) -> CBOR {
        let (value, end) = try decodePrefix(bytes[...])
        guard end == bytes.endIndex else { throw .malformedCBOR }
        return value
    }

    /// Decodes the value with which `bytes` begins. Returns it with the index of the first byte after it.
    public static func decodePrefix(_ bytes: ArraySlice<UInt8>) throws(WebAuthnError) -> (value: CBOR, end: Int) {
        guard bytes.count <= lengthMax else { throw .tooLong }
        var decoder = CBORDecoder(bytes)
        let value = try decoder.value(depth: 0)
        return (value, decoder.position)
    }

    /// The value of the entry `key` of a map; nil for any other value.
    public subscript(key: Key) -> CBOR? { if case .map(let entries) = self { entries[key] } else { nil } }
    /// The bytes of a byte string.
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    /// The number.
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    var text: String? { if case .text(let text) = self { text } else { nil } }
}

/// Reads values one after the other. Nothing is reserved by a length that the input only claims.
private struct CBORDecoder {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    mutating func value(depth: Int) throws(WebAuthnError) -> CBOR {
        let head = try byte()
        let low = head & 0x1F
        switch head >> 5 {
        case 0: return .integer(try number(low))
        case 1: return .integer(-1 - (try number(low)))
        case 2: return .bytes(Array(try string(low)))
        case 3: return .text(try text(low))
        case 4: return .array(try elements(low, depth))
        case 5: return .map(try entries(low, depth))
        case 7 where low == 20: return .bool(false)
        case 7 where low == 21: return .bool(true)
        case 7 where low == 22: return .null
        default: throw .malformedCBOR
        }
    }

    private mutating func byte() throws(WebAuthnError) -> UInt8 {
        guard position < bytes.endIndex else { throw .malformedCBOR }
        defer { position += 1 }
        return bytes[position]
    }

    /// The argument of a head (RFC 8949 section 3) in its shortest form.
    private mutating func number(_ low: UInt8) throws(WebAuthnError) -> Int64 {
        guard low >= 24 else { return Int64(low) }
        guard low <= 27 else { throw .malformedCBOR }
        var value: UInt64 = 0
        for _ in 0..<(1 << (low - 24)) { value = value << 8 | UInt64(try byte()) }
        let least: UInt64 = low == 24 ? 24 : 1 << (8 << (low - 25))
        guard value >= least, let number = Int64(exactly: value) else { throw .malformedCBOR }
        return number
    }

    private mutating func string(_ low: UInt8) throws(WebAuthnError) -> ArraySlice<UInt8> {
        let count = try number(low)
        guard count <= bytes.endIndex - position else { throw .malformedCBOR }
        defer { position += Int(count) }
        return bytes[position..<position + Int(count)]
    }

    private mutating func text(_ low: UInt8) throws(WebAuthnError) -> String {
        guard let text = String(validating: try string(low), as: UTF8.self) else { throw .malformedCBOR }
        return text
    }

    private mutating func elements(_ low: UInt8, _ depth: Int) throws(WebAuthnError) -> [CBOR] {
        let count = try count(low, depth)
        var elements: [CBOR] = []
        for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
        return elements
    }

    private mutating func entries(_ low: UInt8, _ depth: Int) throws(WebAuthnError) -> [CBOR.Key: CBOR] {
        let count = try count(low, depth)
        var entries: [CBOR.Key: CBOR] = [:]
        for _ in 0..<count {
            let key: CBOR.Key
            // A key that is an array or a map fails here before it is read, so that the depth of keys needs no bound of its own.
            switch try value(depth: CBOR.depthMax) {
            case .integer(let number): key = .integer(number)
            case .text(let text): key = .text(text)
            default: throw .malformedCBOR
            }
            guard entries.updateValue(try value(depth: depth + 1), forKey: key) == nil else { throw .malformedCBOR }
        }
        return entries
    }

    /// The number of elements or entries. Each takes a byte at least, so that a claim beyond the input fails at once.
    private mutating func count(_ low: UInt8, _ depth: Int) throws(WebAuthnError) -> Int {
        guard depth < CBOR.depthMax else { throw .malformedCBOR }
        let count = try number(low)
        guard count <= bytes.endIndex - position else { throw .malformedCBOR }
        return Int(count)
    }
}
