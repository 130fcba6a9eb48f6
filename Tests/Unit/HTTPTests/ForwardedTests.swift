import HTTP
import Testing

/// What proxies say about the clients for which they ask.
struct ForwardedTests {
    private static func hops(_ lines: [String], _ field: ForwardingField) -> [String] {
        guard let fields = try? Fields(parsing: Array(lines.map { $0 + "\r\n" }.joined().utf8)) else {
            return ["no fields"]
        }
        return ForwardedHops(fields, in: field).map { hop in
            let scheme = hop.isSecure.map { $0 ? " https" : " http" } ?? ""
            return switch hop.node {
            case .address(let host): host + scheme
            case .unknown: "unknown" + scheme
            case .malformed: "malformed" + scheme
            }
        }
    }

    @Test(arguments: [
        // RFC 7239, sections 4, 6.3 and 7.1.
        (["for=\"_gazonk\""], ["unknown"]),
        (["For=\"[2001:db8:cafe::17]:4711\""], ["2001:db8:cafe::17"]),
        (["for=192.0.2.60;proto=http;by=203.0.113.43"], ["192.0.2.60 http"]),
        (["for=192.0.2.43, for=198.51.100.17"], ["198.51.100.17", "192.0.2.43"]),
        (["for=_hidden, for=_SEVKISEK"], ["unknown", "unknown"]),
        (["for=192.0.2.43,for=\"[2001:db8:cafe::17]\",for=unknown"], ["unknown", "2001:db8:cafe::17", "192.0.2.43"]),
        (
            ["for=192.0.2.43", "for=\"[2001:db8:cafe::17]\", for=unknown"],
            ["unknown", "2001:db8:cafe::17", "192.0.2.43"]
        ),
        (["for=\"192.0.2.43:47011\""], ["192.0.2.43"]), (["for=\"192.0.2.43:_port\""], ["192.0.2.43"]),
        (["for=\"[2001:db8:cafe::17]:_x\""], ["2001:db8:cafe::17"]),
        (["for=\"unknown:80\""], ["unknown"]), (["for=UNKNOWN"], ["unknown"]),
        (["proto=https;for=1.2.3.4"], ["1.2.3.4 https"]), (["for=1.2.3.4;PROTO=\"HTTPS\""], ["1.2.3.4 https"]),
        (["for=1.2.3.4;host=\"a,b;c=\\\"d\\\\\";x=y"], ["1.2.3.4"]),
        (["proto=https"], ["unknown https"]), ([";;for=1.2.3.4;;"], ["1.2.3.4"]),
        ([" ,, for=1.2.3.4 ,"], ["1.2.3.4"]), ([""], []), ([], []),
        (["for=\"1.2.3.\\4\""], ["1.2.3.4"]),
    ])
    func forwardedIsRead(lines: [String], expected: [String]) {
        #expect(Self.hops(lines.map { "Forwarded:" + $0 }, .forwarded) == expected)
    }

    @Test(arguments: [
        "for", "for=", "=1.2.3.4", "for =1.2.3.4", "for= 1.2.3.4", "for=1.2.3.4; proto=https", "for=1.2.3.4 ;by=x",
        "for=[::1]", "for=::1", "for=\"::1\"", "for=\"[::1\"", "for=\"[::1]x\"", "for=\"[::1]:\"", "for=\"[::1]:+8\"",
        "for=\"[::1]:65536\"", "for=\"[1.2.3.4]\"", "for=\"[::1%25eth0]\"", "for=1.2.3.4:80", "for=\"1.2.3.4:\"",
        "for=\"1.2.3.4:123456\"", "for=1.2.3", "for=1.2.3.256", "for=01.2.3.4", "for=example.org", "for=_",
        "for=\"_a b\"",
        "for=\"\"", "for=\"1.2.3.4", "for=\"1.2.3.4\\", "for=\"1.2.3.4\"x", "for=1.2.3.4;for=1.2.3.4",
        "for=1.2.3.4;For=5.6.7.8", "for=1.2.3.4;by=a;BY=b", "1.2.3.4", "for=1.2.3.4;proto=https;", "for=ünknown",
        "for='1.2.3.4'",
    ])
    func aMalformedElementIsTold(element: String) {
        // The last ones show that the list can tell good from bad: a trailing semicolon is allowed.
        let expected = element.hasSuffix("https;") ? "1.2.3.4 https" : "malformed"
        #expect(Self.hops(["Forwarded: \(element)"], .forwarded) == [expected])
        #expect(Self.hops(["Forwarded: for=9.9.9.9", "Forwarded: \(element)"], .forwarded).first == expected)
    }

    /// What a client sends must not change how the element is read that an honest proxy appends.
    @Test(arguments: [
        "for=\"", "for=\"\\", "x=\", for=1.1.1.1", "for=1.1.1.1;x=\"", "\"", "\"\"\"", "\\\"", "for=\"a\\\", b=\"", ",",
        ";",
        "for=\"[::1]", "x=\"\\\"",
    ])
    func anOpenQuoteSwallowsNoProxysWords(start: String) {
        for (element, expected) in [
            ("for=192.0.2.1;proto=http", "192.0.2.1 http"), ("for=\"[2001:db8::1]:80\"", "2001:db8::1"),
        ] {
            #expect(Self.hops(["Forwarded: \(start), \(element)"], .forwarded).first == expected)
            #expect(Self.hops(["Forwarded: \(start)", "Forwarded: \(element)"], .forwarded).first == expected)
        }
    }

    @Test(arguments: [
        (["X-Forwarded-For: 192.0.2.1"], ["192.0.2.1"]),
        (["X-Forwarded-For: 192.0.2.1, 198.51.100.2"], ["198.51.100.2", "192.0.2.1"]),
        (["X-Forwarded-For: 192.0.2.1,198.51.100.2", "x-forwarded-for: ::1"], ["::1", "198.51.100.2", "192.0.2.1"]),
        (["X-Forwarded-For: 192.0.2.1:80, [::1]:80, [::2]"], ["::2", "::1", "192.0.2.1"]),
        (["X-Forwarded-For: unknown, _x"], ["unknown", "unknown"]),
        (["X-Forwarded-For: , 192.0.2.1 ,,"], ["192.0.2.1"]), (["X-Forwarded-For:"], []),
        (["X-Forwarded-For: a b, 192.0.2.1"], ["192.0.2.1", "malformed"]),
        (["X-Forwarded-For: \"192.0.2.1\""], ["malformed"]), (["X-Forwarded-For: 192.0.2.1;"], ["malformed"]),
        (["X-Forwarded-For: 192.0.2.1 192.0.2.2"], ["malformed"]), (["X-Forwarded-For: 3232235521"], ["malformed"]),
        (["X-Forwarded-For: 0300.0.2.1"], ["malformed"]), (["X-Forwarded-For: fe80::1%eth0"], ["malformed"]),
        (["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"], ["192.0.2.1 https"]),
        (["X-Forwarded-For: 192.0.2.1, 192.0.2.2", "X-Forwarded-Proto: HTTPS"], ["192.0.2.2 https", "192.0.2.1"]),
        (["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https, http"], ["192.0.2.1 http"]),
        (["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Proto: http"], ["192.0.2.1 http"]),
        (["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: httpss"], ["192.0.2.1 http"]),
        (["X-Forwarded-Proto: https"], ["unknown https"]),
    ])
    func xForwardedForIsRead(lines: [String], expected: [String]) {
        #expect(Self.hops(lines, .xForwardedFor) == expected)
    }

    @Test func onlyTheChosenFieldIsRead() {
        let both = [
            "Forwarded: for=192.0.2.1;proto=https", "X-Forwarded-For: 198.51.100.1", "X-Forwarded-Proto: http",
        ]
        #expect(Self.hops(both, .forwarded) == ["192.0.2.1 https"])
        #expect(Self.hops(both, .xForwardedFor) == ["198.51.100.1 http"])
        #expect(Self.hops(both, .none) == [])
    }

    @Test func whateverComesItEnds() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array(",;=\"\\ []:.for10proto_unknownhttps".utf8)
        for _ in 0..<20_000 {
            let text = String(
                decoding: (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                }, as: UTF8.self)
            // What a proxy appends is read whatever stands before it.
            #expect(Self.hops(["Forwarded: \(text), for=192.0.2.7"], .forwarded).first == "192.0.2.7", "\(text)")
            #expect(Self.hops(["X-Forwarded-For: \(text), 192.0.2.7"], .xForwardedFor).first == "192.0.2.7", "\(text)")
        }
    }
}
