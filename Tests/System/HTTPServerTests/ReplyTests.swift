import EventLoops
import HTTP
import HTTPServer
import Locks
import Sockets
import Testing

/// Answers that are known at once, alone and among others that have to be awaited.
@Suite(.timeLimit(.minutes(5))) struct ReplyTests {
    /// Answers at once, but for what lies under `/later`; notes the targets in the order of their arrival.
    private final class Mixed: Sendable {
        let seen = Locked<[String]>([])
        let release = Gate()

        var responder: Responder {
            { request, _ in
                let path = request.target.path
                self.seen.withLock { $0.append(path) }
                guard path.hasPrefix("/later") else { return .now(Response(.ok, text: path)) }
                return .later {
                    if path == "/later/gate" { await self.release.pass() }
                    return Response(.ok, text: path)
                }
            }
        }
    }

    /// A connection with a request on its way.
    private final class Waiting: Sendable {
        private let socket: ClientSocket

        init(_ address: SocketAddress) throws {
            socket = try ClientSocket(to: address, timeout: .seconds(30))
            try socket.send(Array(get("/other").utf8))
        }
    }

    private func withResponder(
        _ configuration: HTTPServer.Configuration = HTTPServer.Configuration(), loops: Int = 1,
        responder: @escaping Responder, _ body: (ServerUnderTest, SocketAddress) async throws -> Void
    ) async throws {
        try await withServer(configuration, loops: loops) { server in
            let address = try server.server.listen(on: SocketAddress("127.0.0.1:0"), responder: responder)
            try await body(server, address)
        }
    }

    @Test func keepTheOrderOfTheRequests() async throws {
        let mixed = Mixed()
        try await withResponder(loops: 2, responder: mixed.responder) { _, address in
            let client = try await Client(address)
            let targets = ["/a", "/later/gate", "/b", "/later/1", "/later/2", "/c", "/d"]
            try await client.send(targets.map { get($0) }.joined())
            #expect(try await client.response().body == "/a")
            await mixed.release.open()
            for target in targets.dropFirst() { #expect(try await client.response().body == target) }
        }
        #expect(mixed.seen.withLock { $0.count } == 7)
    }

    @Test func comeForThousandsOfRequestsThatWereSentAhead() async throws {
        try await withResponder(responder: Mixed().responder) { server, address in
            let client = try await Client(address)
            try await client.send((0..<5000).map { get("/\($0 % 7 == 0 ? "later/" : "")\($0)") }.joined())
            for number in 0..<5000 {
                #expect(try await client.response().body == "/\(number % 7 == 0 ? "later/" : "")\(number)")
            }
            #expect(server.server.statistics.requests == 5000)
            #expect(server.server.statistics.pending == 0)
        }
    }

    /// The other connection is made, and its request sent, while the first request of the flood is answered: so it waits
    /// in the kernel before the second one is.
    @Test func leaveTurnsToOtherConnections() async throws {
        let order = Locked<[String]>([])
        let other = Locked<Waiting?>(nil)
        let own = Locked<SocketAddress?>(nil)
        let responder: Responder = { request, _ in
            let path = request.target.path
            if path == "/0", let address = own.withLock({ $0 }) {
                other.withLock { $0 = try? Waiting(address) }
            }
            order.withLock { $0.append(path) }
            return .now(Response(.ok, text: path))
        }
        try await withResponder(responder: responder) { _, address in
            own.withLock { $0 = address }
            let client = try await Client(address)
            try await client.send((0..<1000).map { get("/\($0)") }.joined())
            for number in 0..<1000 { #expect(try await client.response().body == "/\(number)") }
        }
        let place = try #require(order.withLock { $0.firstIndex(of: "/other") })
        #expect(place > 0 && place < 200, "among 1000")
    }

    @Test func endTheConnectionWhenTheClientOrTheLimitSaysSo() async throws {
        var configuration = HTTPServer.Configuration()
        configuration.maximumRequestsPerConnection = 3
        try await withResponder(configuration, responder: Mixed().responder) { server, address in
            let asked = try await Client(address)
            try await asked.send(get("/a") + get("/b", "Connection: close\r\n") + get("/never"))
            #expect(try await asked.response().body == "/a")
            #expect(try await asked.response().fields["connection"] == "close")
            #expect(try await asked.isClosed())
            let limited = try await Client(address)
            try await limited.send((0..<5).map { get("/\($0)") }.joined())
            for number in 0..<3 {
                let response = try await limited.response()
                #expect(response.body == "/\(number)")
                #expect(response.fields["connection"] == (number == 2 ? "close" : nil))
            }
            #expect(try await limited.isClosed())
            #expect(server.server.statistics.requests == 5)
        }
    }

    @Test func waitForAClientThatDoesNotRead() async throws {
        let large = [UInt8](repeating: 0x61, count: 1 << 20)
        let count = Locked(0)
        let responder: Responder = { _, _ in
            count.withLock { $0 += 1 }
            return .now(Response(.ok, "text/plain", large))
        }
        try await withResponder(responder: responder) { server, address in
            let client = try await Client(address)
            try await client.send((0..<40).map { get("/\($0)") }.joined())
            // Long before the last request is looked at, the client has to read.
            try await server.settle()
            #expect(count.withLock { $0 } < 40)
            for _ in 0..<40 { #expect(try await client.response().body.utf8.count == large.count) }
            #expect(count.withLock { $0 } == 40)
        }
    }
}
