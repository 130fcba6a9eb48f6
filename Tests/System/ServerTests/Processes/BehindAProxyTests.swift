import FoundationEssentials
import Glibc
import HTTP
import JSON
import Server
import Sockets
import Testing

@testable import Configuration
@testable import sojourn

/// What the application knows of clients that come through a proxy.
@Suite("Behind a proxy", .timeLimit(.minutes(10)))
struct BehindAProxyTests {
    let folder = StartingFolder()
    let clock = StartingClock()
    static let adminKey = "an-admin-key-for-those-who-look-behind-proxies"

    /// Fails to log in, with these fields, and returns the answer and the address in the audit trail.
    private func fail(
        _ configuration: ServerConfiguration, at address: (SojournServer.Start) throws -> SocketAddress,
        _ fields: Fields
    ) async throws -> (answer: Response, recorded: String?) {
        let server = SojournServer(configuration, clock.environment(adminKey: Self.adminKey))
        let start = try await server.start()
        var fields = fields
        fields.append("Content-Type", "application/json")
        let body = Array(#"{"username":"nobody","password":"wrong","device":{"id":"d"}}"#.utf8)
        let answer = try HTTPExchange.send(
            Request(.post, "/v1/login", fields: fields, body: body), to: address(start))
        let events = try ask(.get, start.addresses.admin + "/admin/v1/events", bearer: Self.adminKey).json
        await server.stop(deadline: .seconds(1))
        let refused = events["items"]?.elements.first { $0["remote_address"] != nil }
        return (answer, refused?["remote_address"]?.string)
    }

    private func overTCP(_ start: SojournServer.Start) throws -> SocketAddress {
        try SocketAddress(String(start.addresses.public.dropFirst("http://".count)))
    }

    private static let forwarded: Fields = [
        "X-Forwarded-For": "198.51.100.9, 192.0.2.77", "X-Forwarded-Proto": "https", "Forwarded": "for=203.0.113.1",
    ]

    @Test("by default no proxy is believed")
    func noProxyIsTrusted() async throws {
        let (answer, recorded) = try await fail(folder.configuration, at: overTCP, Self.forwarded)
        #expect(answer.status.code == 401)
        #expect(recorded == "127.0.0.1")
        #expect(!answer.fields.contains("Strict-Transport-Security"))
    }

    @Test("a trusted proxy is believed: the client is recorded, and https is to stay")
    func proxyIsTrusted() async throws {
        var configuration = folder.configuration
        configuration.server.trustedProxies = [try #require(AddressRange("127.0.0.0/8"))]
        let (answer, recorded) = try await fail(configuration, at: overTCP, Self.forwarded)
        #expect(recorded == "192.0.2.77")
        #expect(answer.fields.first("Strict-Transport-Security") == "max-age=31536000")
        configuration.server.forwardedField = .forwarded
        let (other, otherRecorded) = try await fail(configuration, at: overTCP, Self.forwarded)
        #expect(otherRecorded != nil)
        #expect(!other.fields.contains("Strict-Transport-Security"))
    }

    @Test("a Unix socket has its mode, its peers, and no URL")
    func unixSocket() async throws {
        var configuration = folder.configuration
        let path = folder.file("public.sock")
        configuration.server.publicListen = .unix(path: path)
        let nameless = SojournServer(configuration, clock.environment(adminKey: Self.adminKey))
        await #expect(throws: StartError.self) { try await nameless.start() }
        #expect(!folder.exists("public.sock"))

        configuration.server.issuer = "https://login.example"
        configuration.server.trustedProxies = [try #require(AddressRange("unix"))]
        var mode: UInt32 = 0
        let (answer, recorded) = try await fail(
            configuration,
            at: { start in
                mode = folder.mode("public.sock")
                #expect(start.addresses.public == "unix:\(path)")
                return .unix(path: path)
            }, Self.forwarded)
        #expect(mode == 0o660)
        #expect(answer.status.code == 401)
        #expect(recorded == "192.0.2.77")
        #expect(!folder.exists("public.sock"))
    }

    @Test("with the PROXY protocol, the client of the header is recorded, and a connection without one is refused")
    func proxyProtocol() async throws {
        var configuration = folder.configuration
        configuration.server.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        configuration.server.proxyProtocol = .required
        let server = SojournServer(configuration, clock.environment(adminKey: Self.adminKey))
        let start = try await server.start()
        let bare = try ClientSocket(to: overTCP(start), timeout: .seconds(60))
        try bare.send(Array("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(((try? bare.receive()) ?? []).isEmpty)
        let proxied = try ClientSocket(to: overTCP(start), timeout: .seconds(60))
        let body = #"{"username":"nobody","password":"wrong","device":{"id":"d"}}"#
        try proxied.send(
            Array(
                """
                PROXY TCP4 192.0.2.5 127.0.0.1 4711 443\r
                POST /v1/login HTTP/1.1\r
                Host: a\r
                X-Forwarded-For: 198.51.100.9\r
                Content-Type: application/json\r
                Content-Length: \(body.utf8.count)\r
                \r
                \(body)
                """.utf8))
        #expect(String(decoding: try proxied.receive(), as: UTF8.self).hasPrefix("HTTP/1.1 401 "))
        let events = try ask(.get, start.addresses.admin + "/admin/v1/events", bearer: Self.adminKey).json
        #expect(events["items"]?.elements.contains { $0["remote_address"]?.string == "192.0.2.5" } == true)
        await server.stop(deadline: .seconds(1))
    }
}
