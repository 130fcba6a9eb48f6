import HTTP
import HTTPServer
import Sockets
import Testing

/// A listener behind a proxy that passes bytes on.
@Suite(.timeLimit(.minutes(10))) struct ProxyProtocolTests {
    private static let header = "PROXY TCP4 192.0.2.1 10.0.0.1 56324 443\r\n"

    private func withProxied(
        from proxies: [String] = ["127.0.0.0/8"],
        _ configuration: HTTPServer.Configuration = HTTPServer.Configuration(),
        _ body: (ServerUnderTest, SocketAddress) async throws -> Void
    ) async throws {
        try await withServer(configuration) { server in
            var options = HTTPServer.ServiceOptions()
            options.proxies = try proxies.map { try #require(AddressRange($0)) }
            let address = try server.server.listen(through: Listener(SocketAddress("127.0.0.1:0")), options) {
                request, context in
                Response(.ok, text: "\(context.remoteAddress) \(request.target.path)")
            }
            try await body(server, address)
        }
    }

    @Test func theClientIsTheOneThatTheHeaderNames() async throws {
        try await withProxied { _, address in
            let client = try await Client(address)
            #expect(try await client.ask(Self.header + get("/a")).body == "192.0.2.1:56324 /a")
            #expect(try await client.ask(get("/b")).body == "192.0.2.1:56324 /b")
            let binary: [UInt8] =
                [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10, 0x21, 0x11, 0, 15]
                + [198, 51, 100, 7, 10, 0, 0, 1, 0x12, 0x34, 0x01, 0xBB, 4, 0, 0]
            let second = try await Client(address)
            try await second.send(binary)
            #expect(try await second.ask(get("/c")).body == "198.51.100.7:4660 /c")
        }
    }

    @Test func aHeaderMayComeInPieces() async throws {
        try await withProxied { _, address in
            let client = try await Client(address)
            for byte in (Self.header + get("/slow")).utf8 { try await client.send([byte]) }
            #expect(try await client.response().body == "192.0.2.1:56324 /slow")
        }
    }

    @Test func aProxyThatSpeaksForItselfKeepsItsAddress() async throws {
        try await withProxied { _, address in
            let client = try await Client(address)
            #expect(try await client.ask("PROXY UNKNOWN\r\n" + get("/")).body.hasPrefix("127.0.0.1:"))
        }
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PROXY TCP4 x\r\n", "\u{16}\u{3}\u{1}"])
    func withoutAHeaderTheConnectionIsClosedWithoutAWord(text: String) async throws {
        try await withProxied { server, address in
            let client = try await Client(address)
            try await client.send(text)
            #expect(await client.countUntilEnd() == 0)
            #expect(server.server.statistics.protocolErrors == 1)
            #expect(server.server.statistics.requests == 0)
        }
    }

    @Test func aSecondHeaderIsNoRequest() async throws {
        try await withProxied { _, address in
            let client = try await Client(address)
            #expect(try await client.ask(Self.header + Self.header + get("/")).status == 400)
        }
    }

    @Test func anAddressThatIsNoProxyIsNotBelieved() async throws {
        try await withProxied(from: ["10.0.0.0/8", "unix"]) { server, address in
            let client = try await Client(address)
            #expect(await client.countUntilEnd() == 0)
            #expect(server.server.statistics.protocolErrors == 1)
        }
    }

    @Test func theHeaderHasToComeInTime() async throws {
        try await withProxied { server, address in
            let client = try await Client(address)
            try await client.send("PROXY TCP4 192.0.2.1")
            while server.server.statistics.open < 1 { await aMoment() }
            server.advance(.seconds(11))
            #expect(await client.countUntilEnd() == 0)
            #expect(server.server.statistics.timeouts == 1)
        }
    }

    @Test func limitsGoByTheClientAndNotByItsProxy() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnectionsPerAddress = 2
        try await withProxied(configuration) { server, address in
            var clients: [Client] = []
            for _ in 0..<5 { clients.append(try await Client(address)) }
            for (index, client) in clients.enumerated() {
                let header = "PROXY TCP4 192.0.2.\(index / 3) 10.0.0.1 1 1\r\n"
                let body = try? await client.ask(header + get("/")).body
                #expect((body != nil) == (index != 2), "the third of one client is refused")
            }
            for client in clients { await client.close() }
            while server.server.statistics.open > 0 { await aMoment() }
            let again = try await Client(address)
            #expect(try await again.ask("PROXY TCP4 192.0.2.1 10.0.0.1 1 1\r\n" + get("/")).status == 200)
        }
    }

    @Test func aStopGivesTheGraceToOpeningConnections() async throws {
        try await withProxied { server, address in
            let client = try await Client(address)
            try await client.send("PROXY TCP4 ")
            while server.server.statistics.open < 1 { await aMoment() }
            async let stopped: Void = server.server.stop(deadline: .seconds(60))
            await server.isRefusing()
            try await client.send("192.0.2.1 10.0.0.1 1 1\r\n" + get("/"))
            let response = try await client.response()
            #expect(response.fields["connection"] == "close")
            await client.close()
            await stopped
        }
    }
}
