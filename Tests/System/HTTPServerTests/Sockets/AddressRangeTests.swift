import Sockets
import Testing

/// Ranges of addresses: what they hold, at every boundary, and what is none.
struct AddressRangeTests {
    private static func address(_ host: String) throws -> SocketAddress {
        if host == "unix" { return .unix(path: "") }
        return try #require(SocketAddress(host: host, port: 4711), "\(host)")
    }

    @Test(arguments: [
        (
            "10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"],
            ["9.255.255.255", "11.0.0.0", "::10.0.0.1"]
        ),
        ("192.0.2.64/26", ["192.0.2.64", "192.0.2.127"], ["192.0.2.63", "192.0.2.128"]),
        ("192.0.2.7/31", [], []),
        ("192.0.2.6/31", ["192.0.2.6", "192.0.2.7"], ["192.0.2.5", "192.0.2.8"]),
        ("192.0.2.7/32", ["192.0.2.7"], ["192.0.2.6", "192.0.2.8"]),
        ("192.0.2.7", ["192.0.2.7", "::ffff:192.0.2.7"], ["192.0.2.6", "192.0.2.8", "::c000:207", "unix"]),
        ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"], ["::", "::1", "unix"]),
        ("128.0.0.0/1", ["128.0.0.0", "255.255.255.255"], ["127.255.255.255"]),
        ("0.0.0.0", ["0.0.0.0"], ["0.0.0.1", "::"]),
        ("::/0", ["::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], ["0.0.0.0", "::ffff:1.2.3.4", "unix"]),
        ("::1", ["::1"], ["::", "::2", "127.0.0.1", "0.0.0.1"]),
        ("8000::/1", ["8000::", "ffff::"], ["7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"]),
        (
            "2001:db8::/32", ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"]
        ),
        ("2001:db8::8/127", ["2001:db8::8", "2001:db8::9"], ["2001:db8::7", "2001:db8::a"]),
        ("::ffff:10.0.0.0/104", ["10.0.0.0", "10.255.255.255", "::ffff:10.0.0.1"], ["11.0.0.0", "9.255.255.255"]),
        ("::ffff:0:0/96", ["0.0.0.0", "255.255.255.255"], ["::1"]),
        ("::ffff:192.0.2.1", ["192.0.2.1"], ["192.0.2.2"]),
        ("unix", ["unix"], ["127.0.0.1", "::1"]),
    ])
    func aRangeHoldsItsAddressesAndNoOthers(text: String, inside: [String], outside: [String]) throws {
        guard let range = AddressRange(text) else {
            #expect(inside.isEmpty && outside.isEmpty, "\(text) was refused")
            return
        }
        #expect(!inside.isEmpty, "\(text) was taken")
        for host in inside { #expect(range.contains(try Self.address(host)), "\(host) in \(text)") }
        for host in outside { #expect(!range.contains(try Self.address(host)), "\(host) in \(text)") }
    }

    @Test func everyPrefixLengthEndsWhereItSays() throws {
        for length in 1...32 {
            let bits: UInt32 = 0xA5C3_96F0
            let mask = UInt32.max << (32 - UInt32(length))
            let text = Self.text(bits & mask) + "/\(length)"
            let range = try #require(AddressRange(text), "\(text)")
            #expect(range.contains(try Self.address(Self.text(bits & mask))))
            #expect(range.contains(try Self.address(Self.text(bits | ~mask))))
            #expect(!range.contains(try Self.address(Self.text(bits ^ 1 << (32 - UInt32(length))))), "\(text)")
            if length < 32 {
                let crooked = Self.text(bits & mask | 1) + "/\(length)"
                #expect(AddressRange(crooked) == nil, "\(crooked)")
            }
        }
    }

    private static func text(_ bits: UInt32) -> String {
        [24, 16, 8, 0].map { "\(bits >> $0 & 0xFF)" }.joined(separator: ".")
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8/8",
        "10.0.0.0/255.0.0.0", "10.0.0.1/8", "10.0.0/8", "10/8", "010.0.0.0/8", "10.0.0.0 /8", " 10.0.0.0/8",
        "10.0.0.0/8 ", "10.0.0.256", "1.2.3.4:80", "[::1]", "[::1]/128", "::1/129", "::1/127", "2001:db8::1/32",
        "fe80::1%eth0", "::ffff:10.0.0.1/104", "::ffff:10.0.0.0/95", "localhost", "*", "all", "Unix", "unix:/run/x",
        "unix/8", "10.0.0.0\0/8", "::/00", "10.0.0.0/1e1",
    ])
    func whatIsNoRangeIsRefused(text: String) { #expect(AddressRange(text) == nil) }

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("192.0.2.1", "192.0.2.1"), ("192.0.2.1/32", "192.0.2.1"), ("::1/128", "::1"),
        ("2001:DB8:0:0::/32", "2001:db8::/32"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::/0", "::/0"),
        ("0.0.0.0/0", "0.0.0.0/0"), ("unix", "unix"),
    ])
    func aRangeDescribesItself(text: String, description: String) throws {
        let range = try #require(AddressRange(text))
        #expect(range.description == description)
        #expect(AddressRange(description) == range)
    }
}
