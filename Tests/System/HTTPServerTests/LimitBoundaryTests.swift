import HTTP
import Sockets
import Testing

@testable import HTTPServer

/// Each limit and each deadline just below, at, and just above, over real sockets.
@Suite(.timeLimit(.minutes(10))) struct LimitBoundaryTests {
    @Test(arguments: [-1, 0, 1]) func sizes(excess: Int) async throws {
        var configuration = HTTPServer.Configuration()
        configuration.limits.requestLine = 100
        configuration.limits.fieldCount = 8
        configuration.limits.fieldBytes = 400
        configuration.limits.body = 1000
        func text(_ count: Int) -> String { String(repeating: "a", count: count + excess) }
        let fields = (0..<7 + excess).map { "X-\($0): a\r\n" }.joined()
        let cases: [(request: String, status: Int, limit: HTTPServer.Limit)] = [
            (get("/" + text(100 - "GET / HTTP/1.1".utf8.count)), 414, .requestLine),
            (get("/", fields), 431, .fieldCount),
            (get("/", "X: " + text(400 - "Host: a\r\nX: ".utf8.count) + "\r\n"), 431, .fieldBytes),
            (post("/", text(1000)), 413, .body),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + String(1000 + excess, radix: 16) + "\r\n\(text(1000))\r\n0\r\n\r\n", 413, .body
            ),
        ]
        for (request, status, limit) in cases {
            try await withServer(configuration) { server in
                let answer = try await server.client().ask(request)
                #expect(answer.status == (excess > 0 ? status : 200), "\(limit)")
                #expect(server.server.statistics.reached[limit] == (excess > 0 ? 1 : 0), "\(limit)")
            }
        }
    }

    @Test(arguments: [-1, 0, 1]) func deadlinesOfRequests(excess: Int) async throws {
        let cases: [(start: String, rest: String, seconds: Int, limit: HTTPServer.Limit)] = [
            ("GET / HTTP/1.1\r\nHost: a\r\n", "\r\n", 10, .headerTime),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na", "b", 30, .bodyTime),
        ]
        for (start, rest, seconds, limit) in cases {
            try await withServer(loops: 1) { server in
                let client = try await server.client()
                try await client.send(start)
                try await server.settle()
                server.advance(.seconds(seconds + excess))
                try await server.settle()
                if excess < 0 { try await client.send(rest) }
                let answer = try await client.response()
                #expect(answer.status == (excess < 0 ? 200 : 408), "\(limit)")
                #expect(server.server.statistics.reached[limit] == (excess < 0 ? 0 : 1), "\(limit)")
            }
        }
    }

    @Test(arguments: [-1, 0, 1]) func theDeadlineOfIdleConnections(excess: Int) async throws {
        try await withServer(loops: 1) { server in
            let client = try await server.client()
            #expect(try await client.ask(get("/")).status == 200)
            server.advance(.seconds(75 + excess))
            try await server.settle()
            if excess < 0 {
                #expect(try await client.ask(get("/")).status == 200)
            } else {
                #expect(try await client.isClosed())
            }
            #expect(server.server.statistics.reached[.idleTime] == (excess < 0 ? 0 : 1))
        }
    }

    @Test(arguments: [-1, 0, 1]) func theDeadlineOfHandlers(excess: Int) async throws {
        let (started, release) = (Gate(), Gate())
        try await withServer(loops: 1, handler: slowEcho(started, release)) { server in
            let client = try await server.client()
            try await client.send(get("/slow"))
            await started.pass()
            server.advance(.seconds(15 + excess))
            try await server.settle()
            await release.open()
            let answer = try await client.response()
            #expect(answer.status == (excess < 0 ? 200 : 503))
            #expect(server.server.statistics.reached[.requestTime] == (excess < 0 ? 0 : 1))
        }
    }

    @Test(arguments: [-1, 0, 1]) func connections(excess: Int) async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = 8
        try await withServer(configuration) { server in
            var statuses: [Int] = []
            var clients: [Client] = []
            for _ in 0..<8 + excess {
                clients.append(try await server.client())
                statuses.append(try await clients[clients.count - 1].ask(get("/")).status)
            }
            #expect(statuses.prefix(8).allSatisfy { $0 == 200 })
            #expect(statuses.dropFirst(8).allSatisfy { $0 == 503 })
            #expect(server.server.statistics.reached[.connections] == max(0, excess))
        }
    }

    @Test func probesOfOperatorsGetInWhenItIsFull() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = 3
        configuration.reservedConnections = 2
        try await withServer(configuration) { server in
            var options = HTTPServer.ServiceOptions(name: "admin")
            options.isReserved = true
            let address = try server.server.listen(
                on: .ipv4(bytes: [127, 0, 0, 1], port: 0), options, handler: echo)
            var clients: [Client] = []
            for expected in [200, 200, 200, 503] {
                clients.append(try await server.client())
                #expect(try await clients[clients.count - 1].ask(get("/")).status == expected)
            }
            for expected in [200, 200, 503] {
                clients.append(try await Client(address))
                #expect(try await clients[clients.count - 1].ask(get("/")).status == expected)
            }
        }
    }

    @Test(arguments: [-1, 0, 1]) func connectionsFromOneAddress(excess: Int) async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnectionsPerAddress = 4
        try await withServer(configuration) { server in
            var (statuses, clients): ([Int], [Client]) = ([], [])
            for _ in 0..<4 + excess {
                clients.append(try await server.client())
                statuses.append(try await clients[clients.count - 1].ask(get("/")).status)
            }
            #expect(statuses == Array(repeating: 200, count: min(4, 4 + excess)) + (excess > 0 ? [503] : []))
            #expect(server.server.statistics.reached[.connectionsPerAddress] == max(0, excess))
        }
    }

    @Test(arguments: [-1, 0, 1]) func requestsOfOneConnection(excess: Int) async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumRequestsPerConnection = 3
        try await withServer(configuration) { server in
            let client = try await server.client()
            for number in 1...3 + excess where number <= 3 {
                let answer = try await client.ask(get("/"))
                #expect(answer.fields["connection"] == (number == 3 ? "close" : nil))
            }
            if excess > 0 { await #expect(throws: (any Error).self) { try await client.ask(get("/")) } }
            #expect(server.server.statistics.reached[.requestsPerConnection] == (excess < 0 ? 0 : 1))
        }
    }

    @Test(arguments: [2, 3, 4]) func connectionsAreSpreadOverTheLoops(count: Int) async throws {
        try await withServer(loops: count) { server in
            var clients: [Client] = []
            for _ in 0..<64 {
                clients.append(try await server.client())
                #expect(try await clients[clients.count - 1].ask(get("/")).status == 200)
            }
            let open = server.server.statistics.openByLoop
            #expect(open.reduce(0, +) == 64)
            #expect((open.max() ?? 0) - (open.min() ?? 0) <= 1, "\(open)")
            // When those of one loop have gone, the next ones go there.
            for client in clients.prefix(32) { await client.close() }
            while server.server.statistics.open > 32 { await aMoment() }
            for _ in 0..<32 {
                clients.append(try await server.client())
                #expect(try await clients[clients.count - 1].ask(get("/")).status == 200)
            }
            let again = server.server.statistics.openByLoop
            #expect((again.max() ?? 0) - (again.min() ?? 0) <= 1, "\(again)")
        }
    }

    @Test(arguments: [
        ("192.0.2.1:1", "192.0.2.1:2", true), ("192.0.2.1:1", "192.0.2.2:1", false),
        ("[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:1", true),
        ("[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1", false),
        ("[::ffff:192.0.2.1]:1", "192.0.2.1:1", true), ("[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.2]:1", false),
        ("[::1]:1", "0.0.0.1:1", false), ("[::]:1", "0.0.0.0:1", false),
    ])
    func addressesOfOneNetworkCountAsOne(first: String, second: String, isSame: Bool) throws {
        func block(_ text: String, _ bits: Int) throws -> AddressBlock? {
            AddressBlock(try SocketAddress(text), ipv6PrefixBits: bits)
        }
        let (left, right) = (try block(first, 64), try block(second, 64))
        #expect((left == right) == isSame)
        #expect(try block(first, 128) != nil)
        #expect(AddressBlock(.unix(path: ""), ipv6PrefixBits: 64) == nil)
    }

    @Test(arguments: [(48, 3), (49, 2), (64, 2), (65, 1), (128, 0)])
    func thePrefixCanBeChosen(bits: Int, count: Int) throws {
        let base = AddressBlock(try SocketAddress("[2001:db8:1::]:1"), ipv6PrefixBits: bits)
        let others = ["[2001:db8:1:8000::]:1", "[2001:db8:1:0:8000::]:1", "[2001:db8:1:0:4000::]:1"]
        // Those that differ only behind the prefix count as the same.
        let same = try others.filter { try AddressBlock(SocketAddress($0), ipv6PrefixBits: bits) == base }
        #expect(same.count == count)
    }
}
