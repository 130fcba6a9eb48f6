import Dispatch
import HTTP
import HTTPConformance
import HTTPServer
import Sockets
import Testing

/// Goal: over a socket, too, every row is answered as its clause says, in order, and the connection ends as it should.
/// Method: a server whose handler says what it has read; each row is a connection, with one more request behind it.
@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
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

    @Test func everyRowIsAnsweredByteByByte() async throws {
        let path = "/tmp/sojourn-conformance-\(UInt64.random(in: 0 ... .max)).sock"
        try await withServer(on: "unix:" + path, handler: summarize) { server in
            let rows = Row.all.filter { $0.bytes.count < 600 }
            for complaint in await complaints(rows, server.address, .byteByByte) { Issue.record("\(complaint)") }
        }
    }
}
