import Sockets
import Testing

/// The PROXY protocol: whole, byte by byte, and every prefix.
struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]

    private static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? rest.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + rest
    }

    private static let ipv4Rest: [UInt8] = [192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x34, 0x01, 0xBB]
    private static let ipv6Rest: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 0, count: 16)
        + [0xFF, 0xFF, 0, 80]
    /// An extension (TLV) that the server ignores.
    private static let extension0: [UInt8] = [0xEE, 0, 3, 1, 2, 3]

    private static let headers: [(bytes: [UInt8], source: String?)] = [
        (Array("PROXY TCP4 192.0.2.1 10.0.0.1 56324 443\r\n".utf8), "192.0.2.1:56324"),
        (Array("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n".utf8), "255.255.255.255:65535"),
        (Array("PROXY TCP4 192.0.2.1 10.0.0.1 0 0\r\n".utf8), "192.0.2.1:0"),
        (Array("PROXY TCP6 2001:db8::1 ::1 4711 80\r\n".utf8), "[2001:db8::1]:4711"),
        (Array("PROXY TCP6 ::ffff:192.0.2.1 ::1 4711 80\r\n".utf8), "192.0.2.1:4711"),
        (Array("PROXY UNKNOWN\r\n".utf8), nil),
        (
            Array(
                ("PROXY UNKNOWN " + "ffff:f...f:ffff ".replacing("f...f", with: "ffff:ffff:ffff:ffff:ffff:ffff")
                    + "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n").utf8), nil
        ),
        (Array("PROXY UNKNOWN whatever this is\r\n".utf8), nil),
        (binary(0x21, 0x11, ipv4Rest), "192.0.2.1:4660"), (binary(0x21, 0x11, ipv4Rest + extension0), "192.0.2.1:4660"),
        (binary(0x21, 0x21, ipv6Rest), "[2001:db8::1]:65535"),
        (binary(0x21, 0x21, ipv6Rest + extension0 + extension0), "[2001:db8::1]:65535"),
        (binary(0x21, 0x31, [UInt8](repeating: 0x41, count: 216)), nil), (binary(0x20, 0x00, []), nil),
        (binary(0x20, 0x11, ipv4Rest), nil), (binary(0x20, 0x11, []), nil), (binary(0x21, 0x00, []), nil),
        (binary(0x21, 0x00, extension0), nil),
        (binary(0x21, 0x11, ipv4Rest + [UInt8](repeating: 0, count: 2020)), "192.0.2.1:4660"),
    ]

    @Test func aHeaderIsReadHoweverItIsCut() throws {
        for (bytes, source) in Self.headers {
            let address = try source.map { try SocketAddress($0) }
            let expected = ProxyHeader.Outcome.header(source: address, length: bytes.count)
            for count in 0..<bytes.count {
                #expect(ProxyHeader.parse(Array(bytes[..<count])) == .needMore, "\(count) of \(bytes)")
            }
            #expect(ProxyHeader.parse(bytes) == expected, "\(bytes)")
            #expect(ProxyHeader.parse(bytes + Array("GET / HTTP/1.1\r\n".utf8)) == expected, "\(bytes)")
            #expect(ProxyHeader.parse(bytes + bytes) == expected, "\(bytes)")
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}", "PROXY\r\n", "PROXY \r\n", "PROXY TCP4\r\n", "proxy UNKNOWN\r\n",
        "PROXY  TCP4 1.2.3.4 1.2.3.4 1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n",
        "PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 -1 1\r\n",
        "PROXY TCP4 1.2.3.4 1.2.3.4  1\r\n",
        "PROXY TCP4 1.2.3 1.2.3.4 1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.400 1 1\r\n", "PROXY TCP4 ::1 ::1 1 1\r\n",
        "PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n", "PROXY TCP6 ::1 1.2.3.4 1 1\r\n", "PROXY TCP6 [::1] [::1] 1 1\r\n",
        "PROXY TCP5 1.2.3.4 1.2.3.4 1 1\r\n", "PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n", "PROXY unknown\r\n",
        "PROXY UNKNOWNX\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1\r\r\n", "PROXY TCP4\t1.2.3.4 1.2.3.4 1 1\r\n",
        "PROXY UNKNOWN \r \r\n", "PROXY UNKNOWN " + String(repeating: "a", count: 92) + "\r\n", "\r\n\r\n\0\r\nQUIX",
        "\r\n\r\n\0\r\nQUIT\n\u{11}", "\r\n\r\n\0\r\nQUIT\n\u{31}", "\r\n\r\n\0\r\nQUIT\n\u{22}",
        "\r\n\r\n\0\r\nQUIT\n!\u{12}",
        "\r\n\r\n\0\r\nQUIT\n!\u{41}", "\r\n\r\n\0\r\nQUIT\n!\u{01}", "\r\n\r\n\0\r\nQUIT\n!\u{10}",
    ])
    func whatIsNoHeaderIsRefused(text: String) {
        let bytes = Array(text.utf8)
        #expect(ProxyHeader.parse(bytes) == .malformed)
        // Once refused, always refused: more bytes mend nothing.
        var isRefused = false
        for count in 0...bytes.count {
            let outcome = ProxyHeader.parse(Array(bytes[..<count]))
            if isRefused { #expect(outcome == .malformed, "\(count)") }
            isRefused = outcome == .malformed
        }
    }

    @Test func addressesThatAreTooShortAndHeadersThatAreTooLongAreRefused() {
        #expect(ProxyHeader.parse(Self.binary(0x21, 0x11, Array(Self.ipv4Rest.dropLast()))) == .malformed)
        #expect(ProxyHeader.parse(Self.binary(0x21, 0x21, Array(Self.ipv6Rest.dropLast()))) == .malformed)
        #expect(ProxyHeader.parse(Self.binary(0x21, 0x31, [UInt8](repeating: 0, count: 215))) == .malformed)
        #expect(ProxyHeader.parse(Self.binary(0x21, 0x11, Self.ipv4Rest, length: 2033)) == .malformed)
        #expect(ProxyHeader.parse(Self.binary(0x21, 0x11, Self.ipv4Rest, length: 65535)) == .malformed)
        #expect(ProxyHeader.parse(Self.binary(0x21, 0x11, Self.ipv4Rest, length: 2032)) == .needMore)
        #expect(ProxyHeader.parse(Array(("PROXY UNKNOWN " + String(repeating: "a", count: 200)).utf8)) == .malformed)
        #expect(ProxyHeader.parse(Array(("PROXY UNKNOWN " + String(repeating: "a", count: 92)).utf8)) == .needMore)
    }

    @Test func changedHeadersAreReadTheSameHoweverTheyAreCut() {
        var random = SplitMix(seed: 20_261_121)
        for round in 0..<40_000 {
            var bytes = Self.headers[round % Self.headers.count].bytes
            for _ in 0..<Int(random.next() % 3 + 1) {
                let index = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 3 {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: index)
                default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            let whole = ProxyHeader.parse(bytes)
            let cut = ProxyHeader.parse(Array(bytes[..<Int(random.next() % UInt64(bytes.count))]))
            if cut != .needMore { #expect(cut == whole, "\(bytes)") }
            if case .header(_, let length) = whole { #expect(length <= bytes.count) }
        }
    }
}

/// Random numbers that are the same in every run.
private struct SplitMix {
    var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
