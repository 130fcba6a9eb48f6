import Dispatch
import HTTP
import HTTPConformance
import HTTPServer
import Sockets
import TLSFixture
import Testing

/// Goal: over a socket, too, every row is answered as its clause says, in order, and the connection ends as it should.
/// Method: a server with a handler that says what it has read; each row is a connection, with one more request behind it.
@Suite(.timeLimit(.minutes(10))) struct EngineConformanceTests {
    private let summarize: RequestHandler = { request, _ in
        Response(.ok, "text/plain", Row.summary(request).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    private func complaints(_ rows: [Row], _ address: SocketAddress, _ pace: Judge.Pace) async -> [String] {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "judge").async {
                continuation.resume(returning: Judge(address, .summarize).complaints(about: rows, pace))
            }
        }
    }

    @Test func everyRowIsAnsweredOverTCP() async throws {
        try await withServer(handler: summarize) { server in
            for complaint in await complaints(Row.all, server.address, .whole) { Issue.record("\(complaint)") }
        }
    }

    /// RFC 9110 §7.4; over a plain connection of another client the rows have it refused.
    @Test func anHTTPSTargetIsAnsweredOverTLSAndToTrustedGateways() async throws {
        let request = "GET https://a/b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        try await withSecureServer(handler: summarize) { server in
            let result = try await server.sClient(input: request)
            #expect(result.contains("HTTP/1.1 200 OK\r\n") && result.contains("GET /b"))

            var options = HTTPServer.ServiceOptions(name: "behind a gateway")
            options.gateways = [try #require(AddressRange("127.0.0.1"))]
            let address = try server.plain.server.listen(on: SocketAddress("127.0.0.1:0"), options, handler: summarize)
            let client = try await Client(address)
            #expect(try await client.ask(request).body == "GET /b")
        }
    }

    @Test func everyRowIsAnsweredByteByByte() async throws {
        let path = "/tmp/sojourn-conformance-\(UInt64.random(in: 0 ... .max)).sock"
        try await withServer(on: "unix:" + path, handler: summarize) { server in
            let rows = Row.all.filter { $0.bytes.count < 600 }
            for complaint in await complaints(rows, server.address, .byteByByte) { Issue.record("\(complaint)") }
        }
    }
}
