import HTTP
import HostileServer
import Sockets
import Testing

@testable import HTTPClient

/// To which addresses a client connects that asks URLs of strangers.
struct DestinationTests {
    private func ask(
        _ text: String, _ ranges: [String] = []
    ) async throws -> Result<OutboundResponse, OutboundError> {
        let options = HTTPClient.Options(
            width: 1, destinations: .publicAddresses(and: try ranges.map { try #require(AddressRange($0)) }))
        let url = try #require(OutboundURL(text, plainLoopback: true), "\(text)")
        return await HTTPClient(options).outcome(OutboundRequest(.get, url))
    }

    /// Every spelling of this machine that a URL can have. The port is added.
    static let spellings = [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.",
        "127.255.255.254", "0", "0.0.0.0", "localhost", "LOCALHOST", "localhost.", "[::1]", "[::]",
        "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ]

    @Test("no spelling of this machine is asked", arguments: spellings)
    func spelling(_ host: String) async throws {
        let server = HostileServer { _ in [.say("HTTP/1.1 204 No Content\r\n\r\n")] }
        defer { server.stop() }
        for scheme in ["https", "http"] {
            // Plain http has no other host than the three that `OutboundURL` knows.
            guard scheme == "https" || OutboundURL("http://\(host)/", plainLoopback: true) != nil else { continue }
            let failure = try await ask("\(scheme)://\(host):\(server.port)/").failure
            // A resolver may know no address for the spelling.
            #expect(failure == .forbidden || failure == .unreachable, "\(scheme)")
            if !["127.0.0.1.", "localhost.", "0"].contains(host) { #expect(failure == .forbidden, "\(scheme)") }
        }
        #expect(server.connections == 0)
    }

    @Test(
        "private, shared, link-local and other special addresses are refused before a connection is tried",
        arguments: [
            "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "224.0.0.1", "255.255.255.255",
            "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "[fd00:ec2::254]", "[fe80::1]", "[ff02::1]", "[fc00::1]",
            "[::ffff:169.254.169.254]", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]",
        ])
    func special(_ host: String) async throws {
        #expect(try await ask("https://\(host)/").failure == .forbidden)
    }

    @Test("a range that the operator allows is asked, and no other; mapped addresses count as what they map")
    func allowed() async throws {
        let server = HostileServer { _ in [.say("HTTP/1.1 204 No Content\r\n\r\n")] }
        defer { server.stop() }
        #expect(try await ask(server.origin, ["127.0.0.1"]).get().status == 204)
        #expect(try await ask(server.origin, ["127.0.0.0/8", "::1"]).get().status == 204)
        #expect(try await ask(server.origin, ["127.0.0.2", "10.0.0.0/8", "::1"]).failure == .forbidden)
        // Only the address counts: the name of the URL is resolved first.
        #expect(try await ask("http://localhost:\(server.port)/", ["127.0.0.1"]).get().status == 204)
        #expect(server.requests.count == 3)
    }

    @Test("a redirect leads nowhere, whatever is allowed") func redirect() async throws {
        let inside = HostileServer { _ in [.say("HTTP/1.1 204 No Content\r\n\r\n")] }
        let server = HostileServer { [port = inside.port] _ in
            [
                .say(
                    "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:\(port)/\r\nContent-Length: 0\r\n\r\n"
                )
            ]
        }
        defer {
            server.stop()
            inside.stop()
        }
        #expect(try await ask(server.origin, ["127.0.0.1"]).get().status == 307)
        #expect(inside.connections == 0)
    }

    @Test("this machine's own public address is not asked, because its firewall is not in between")
    func ownAddress() throws {
        let policy = HTTPClient.Destinations.publicAddresses(and: [])
        let address = try #require(SocketAddress(host: "8.8.8.8", port: 443))
        #expect(policy.allow(address, own: { [] }))
        #expect(!policy.allow(address, own: { [address.withoutPort] }))
        let allowing = HTTPClient.Destinations.publicAddresses(and: [try #require(AddressRange("8.8.8.8"))])
        #expect(allowing.allow(address, own: { [address.withoutPort] }))
    }

    @Test("a URL that the operator has set is asked wherever it is") func anywhere() async throws {
        let server = HostileServer { _ in [.say("HTTP/1.1 204 No Content\r\n\r\n")] }
        defer { server.stop() }
        let url = try #require(OutboundURL(server.origin, plainLoopback: true))
        #expect(try await HTTPClient().outcome(OutboundRequest(.get, url)).get().status == 204)
    }
}
