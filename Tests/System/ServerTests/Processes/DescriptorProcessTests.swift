import FoundationEssentials
import Glibc
import HTTP
import JSON
import Sockets
import Testing

@testable import sojourn

/// File descriptors run out under a running server. It lives, open connections go on, admins get in, and when there are
/// descriptors again so do all other callers.
@Suite("Descriptors that run out under the server", .timeLimit(.minutes(10)))
struct DescriptorProcessTests {
    /// A connection that stays.
    private final class Kept {
        private let socket: ClientSocket
        private var received: [UInt8] = []

        init(_ address: String) throws { socket = try ClientSocket(to: SocketAddress(address), timeout: .seconds(20)) }

        /// The answer to a GET, from its status on; empty when the server has closed instead.
        func get(_ path: String) throws -> String {
            let request =
                "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(CrashServer.adminKey)\r\n\r\n"
            try socket.send(Array(request.utf8))
            return try answer()
        }

        private func answer() throws -> String {
            var text = ""
            while true {
                let bytes = try socket.receive()
                if bytes.isEmpty { return "" }
                received += bytes
                text = String(decoding: received, as: UTF8.self)
                guard let end = text.firstRange(of: "\r\n\r\n"), let name = text.firstRange(of: "Content-Length: ")
                else { continue }
                let length = Int(text[name.upperBound...].prefix { $0.isNumber }) ?? 0
                if text[end.upperBound...].utf8.count >= length { break }
            }
            received = []
            return String(text.dropFirst("HTTP/1.1 ".count))
        }
    }

    @Test(
        "connections beyond the limit get 503 or are closed, and the database and the admins keep theirs"
    )
    func lowLimit() async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        let limit = ["FAULT_DESCRIPTORS": "160"]
        let server = try await CrashServer(folder, environment: library.environment.merging(limit) { $1 })
        var kept: [Kept] = []
        var answers: [String] = []
        for _ in 0..<240 {
            let connection = try Kept(server.publicAddress)
            answers.append((try? connection.get("/healthz")) ?? "")
            kept.append(connection)
        }
        let taken = answers.prefix { $0.hasPrefix("200") }.count
        #expect(taken == 80)
        for answer in answers.dropFirst(taken) {
            #expect(answer.isEmpty || answer.hasPrefix("503") && answer.contains("\r\nRetry-After: "))
        }
        #expect(answers[taken].hasPrefix("503"))
        // Open connections go on, admins get in, and the database has all files that it needs.
        #expect(try kept[0].get("/readyz").hasPrefix("200"))
        #expect(server.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
        #expect(server.admin(.post, "/users/username:anna/sessions", .object([:]))?.status != nil)
        let metrics = try Kept(server.adminAddress).get("/metrics")
        #expect(metrics.contains("sojourn_limit_reached_total{limit=\"limits.connections\"} "))
        #expect(!metrics.contains("sojourn_limit_reached_total{limit=\"limits.connections\"} 0\n"))
        kept = []
        var answer = ""
        for _ in 0..<1000 where !answer.hasPrefix("200") {
            answer = (try? Kept(server.publicAddress).get("/healthz")) ?? ""
        }
        #expect(answer.hasPrefix("200"))
        await server.kill()
    }

    @Test(
        "accepting that fails pauses, and goes on by itself",
        arguments: [FaultLibrary.Fault.noDescriptors, .noFiles, .noBuffers])
    func failingAccept(fault: FaultLibrary.Fault) async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        let server = try await CrashServer(folder, environment: library.environment)
        let (user, admin) = (try Kept(server.publicAddress), try Kept(server.adminAddress))
        #expect(try user.get("/healthz").hasPrefix("200"))
        func pauses() throws -> Int {
            let text = try admin.get("/metrics")
            let line = text.split(separator: "\n").first { $0.hasPrefix("sojourn_accept_pauses ") }
            return line.flatMap { Int($0.split(separator: " ")[1]) } ?? -1
        }
        #expect(try pauses() == 0)
        let start = ContinuousClock.now
        library.begin(fault)
        // The system has taken it; the server cannot.
        let waiting = try Kept(server.publicAddress)
        while try pauses() < 3 { #expect(try user.get("/healthz").hasPrefix("200")) }
        // It pauses, it does not spin: a loop tries again after a tenth of a second, and there are a few loops.
        let count = try pauses()
        let loops = Double(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        #expect(Double(count) < loops * (2 + (ContinuousClock.now - start) / .milliseconds(100)))
        library.end(fault)
        #expect(try waiting.get("/healthz").hasPrefix("200"))
        #expect(try Kept(server.publicAddress).get("/healthz").hasPrefix("200"))
        await server.kill()
    }
}
