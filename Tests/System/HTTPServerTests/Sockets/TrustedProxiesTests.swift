import HTTP
import HTTPServer
import Sockets
import Testing

/// The address of the client, behind proxies.
struct TrustedProxiesTests {
    private static func origin(
        _ peer: String, _ lines: [String], trusted: [String] = ["10.0.0.0/8", "2001:db8::/32", "unix"],
        field: ForwardingField = .xForwardedFor, isSecure: Bool = false
    ) throws -> String {
        let proxies = TrustedProxies(try trusted.map { try #require(AddressRange($0)) }, field: field)
        let fields = try Fields(parsing: Array(lines.map { $0 + "\r\n" }.joined().utf8))
        let address = peer == "unix" ? SocketAddress.unix(path: "") : try #require(SocketAddress(host: peer, port: 9))
        let origin = proxies.origin(of: fields, from: address, isSecure: isSecure)
        let host = origin.client.port == nil ? "unix" : origin.client.host
        return host + (origin.isSecure ? " https" : "")
    }

    /// A proxy that is believed about clients is believed about requests.
    @Test(arguments: ForwardingField.allCases) func aListedAddressIsAProxy(field: ForwardingField) throws {
        let proxies = TrustedProxies([try #require(AddressRange("10.0.0.0/8"))], field: field)
        for (peer, isProxy) in [("10.0.0.1", true), ("192.0.2.1", false), ("127.0.0.1", false)] {
            let address = try #require(SocketAddress(host: peer, port: 9))
            for fields: Fields in [[:], ["X-Forwarded-For": "10.0.0.1"], ["X-Forwarded-For": "192.0.2.1"]] {
                #expect(proxies.origin(of: fields, from: address).isFromProxy == (isProxy && field != .none), "\(peer)")
            }
        }
    }

    @Test(arguments: [
        // No proxy is trusted that is not listed, whatever it says.
        ("192.0.2.1", ["X-Forwarded-For: 1.1.1.1", "X-Forwarded-Proto: https"], "192.0.2.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["X-Forwarded-For: 192.0.2.1"], "192.0.2.1"),
        ("::ffff:10.0.0.1", ["X-Forwarded-For: 192.0.2.1"], "192.0.2.1"),
        ("unix", ["X-Forwarded-For: 192.0.2.1"], "192.0.2.1"),
        ("2001:db8::1", ["X-Forwarded-For: ::ffff:192.0.2.1"], "192.0.2.1"),
        // The first that is not trusted, from the right; nothing left of it matters.
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1, 192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1, 192.0.2.1, 10.0.0.2"], "192.0.2.1"),
        (
            "10.0.0.1", ["X-Forwarded-For: 1.1.1.1", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 10.0.0.2"],
            "192.0.2.1"
        ),
        ("10.0.0.1", ["X-Forwarded-For: 10.0.0.9, 192.0.2.1, 10.0.0.2"], "192.0.2.1"),
        // Proxies all the way: the farthest.
        ("10.0.0.1", ["X-Forwarded-For: 10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        // Where the chain breaks, the last trusted hop is what is known.
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1, nonsense, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1, , 10.0.0.2"], "1.1.1.1"),
        ("unix", ["X-Forwarded-For: nonsense"], "unix"),
        ("10.0.0.1", ["X-Forwarded-For: unix"], "10.0.0.1"),
        // The scheme is the nearest proxy's word, whatever the client is.
        ("10.0.0.1", ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https"], "192.0.2.1 https"),
        ("10.0.0.1", ["X-Forwarded-For: nonsense", "X-Forwarded-Proto: https"], "10.0.0.1 https"),
        ("10.0.0.1", ["X-Forwarded-Proto: https"], "10.0.0.1 https"),
        ("10.0.0.1", ["X-Forwarded-Proto: http"], "10.0.0.1"),
        // The other field is the client's own invention.
        ("10.0.0.1", ["Forwarded: for=1.1.1.1;proto=https"], "10.0.0.1"),
    ])
    func theClientIsTheFirstThatIsNotTrusted(peer: String, lines: [String], expected: String) throws {
        #expect(try Self.origin(peer, lines) == expected)
    }

    @Test(arguments: [
        ("10.0.0.1", ["Forwarded: for=1.1.1.1, for=192.0.2.1;proto=https"], "192.0.2.1 https"),
        ("10.0.0.1", ["Forwarded: for=192.0.2.1;proto=https, for=10.0.0.2;proto=http"], "192.0.2.1"),
        ("10.0.0.1", ["Forwarded: for=192.0.2.1;proto=http, for=10.0.0.2;proto=https"], "192.0.2.1 https"),
        ("10.0.0.1", ["Forwarded: for=1.1.1.1, for=_hidden;proto=https"], "10.0.0.1 https"),
        ("10.0.0.1", ["Forwarded: for=1.1.1.1, for=bad;proto=https"], "10.0.0.1"),
        ("10.0.0.1", ["X-Forwarded-For: 1.1.1.1", "X-Forwarded-Proto: https"], "10.0.0.1"),
        ("192.0.2.1", ["Forwarded: for=1.1.1.1;proto=https"], "192.0.2.1"),
    ])
    func forwardedIsReadWhereItIsChosen(peer: String, lines: [String], expected: String) throws {
        #expect(try Self.origin(peer, lines, field: .forwarded) == expected)
    }

    @Test func withNoFieldNothingIsBelieved() throws {
        let lines = ["Forwarded: for=1.1.1.1;proto=https", "X-Forwarded-For: 1.1.1.1", "X-Forwarded-Proto: https"]
        #expect(try Self.origin("10.0.0.1", lines, field: .none) == "10.0.0.1")
        #expect(try Self.origin("10.0.0.1", lines, trusted: []) == "10.0.0.1")
    }

    @Test func anEncryptedConnectionIsSecureUnlessItsProxySaysOtherwise() throws {
        #expect(try Self.origin("192.0.2.1", ["X-Forwarded-Proto: http"], isSecure: true) == "192.0.2.1 https")
        #expect(try Self.origin("10.0.0.1", [], isSecure: true) == "10.0.0.1 https")
        #expect(try Self.origin("10.0.0.1", ["X-Forwarded-Proto: http"], isSecure: true) == "10.0.0.1")
    }
}
