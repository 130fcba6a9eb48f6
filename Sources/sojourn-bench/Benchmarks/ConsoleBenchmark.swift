import SQLiteStore
import Sessions
import Sockets

/// `sojourn-bench console`.
struct ConsoleBenchmark {
    let options: Options
    /// How often each page is asked for in a round.
    private static let repeats = 20

    func run() async throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        let launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        // The first start creates the database and its keys.
        try ServerProcess(launch).stop()
        SojournBench.progress("filling the database with \(options.sessions) sessions")
        let store = try SessionFiller.open(launch.database)
        let filler = SessionFiller(store: store)
        let users = try await filler.addUsers(max(1, options.sessions / SessionFiller.sessionsPerUser))
        let sessions = try await filler.addSessions(max(1, options.sessions), of: users)
        await store.close()
        let server = try ServerProcess(launch)
        defer { try? server.stop() }
        let console = try ConsoleConversation(port: server.adminPort, key: launch.adminKey)
        let pages = [
            ("Find", "/console"), ("a user", "/console/users/\(users[users.count / 2])"),
            ("a session", "/console/sessions/\(sessions[sessions.count / 3])"), ("Clients", "/console/clients"),
            ("a client", "/console/clients/mobile"), ("Settings", "/console/settings"), ("Keys", "/console/keys"),
            ("Logins", "/console/logins"), ("Logins of a user", "/console/logins?user=\(users[users.count / 2])"),
            ("Deliveries", "/console/deliveries"), ("Now", "/console/now"), ("Events", "/console/events"),
            ("Bulk, 50 of the first that match", "/console/bulk?client=mobile"),
            ("Bulk, one step without a match", "/console/bulk?client=none"),
        ]
        var report = Report("console")
        for (name, path) in pages {
            var milliseconds: [Double] = []
            let repeats = path.hasSuffix("=none") ? 1 : Self.repeats
            for _ in 0..<options.rounds * repeats { milliseconds.append(try console.milliseconds(path)) }
            report.figures.append(Figure("\(name), \(options.sessions) sessions", "ms", milliseconds))
        }
        return report
    }
}

/// A browser in the console of a server.
private final class ConsoleConversation {
    private let address: SocketAddress
    private let host: String
    private var cookies: [String: String] = [:]

    /// Enters with an admin key.
    init(port: UInt16, key: String) throws {
        address = .ipv4(bytes: [127, 0, 0, 1], port: port)
        host = "127.0.0.1:\(port)"
        let entry = try send("GET /console/enter", "")
        guard
            let token = entry.firstRange(of: "name=\"csrf\" value=\"").map({
                entry[$0.upperBound...].prefix { $0 != "\"" }
            })
        else { throw Failure("the console asks for no key") }
        _ = try send("POST /console/enter", "csrf=\(token)&key=\(key)")
        guard cookies["sojourn-console"] != nil else { throw Failure("the console does not take the admin key") }
    }

    /// The time from the request to the whole answer.
    func milliseconds(_ path: String) throws -> Double {
        let start = monotonicNanoseconds()
        let answer = try send("GET \(path)", "")
        let end = monotonicNanoseconds()
        guard answer.hasPrefix("HTTP/1.1 200 ") else {
            throw Failure("\(path) was answered with: \(answer.prefix(200))")
        }
        return Double(end - start) / 1e6
    }

    private func send(_ line: String, _ form: String) throws -> String {
        let cookies = cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let request = """
            \(line) HTTP/1.1\r
            Host: \(host)\r
            Cookie: \(cookies)\r
            Content-Type: application/x-www-form-urlencoded\r
            Content-Length: \(form.utf8.count)\r
            Connection: close\r
            \r
            \(form)
            """
        let socket = try ClientSocket(to: address, timeout: .seconds(20))
        try socket.send(Array(request.utf8))
        var received: [UInt8] = []
        while true {
            let bytes = try socket.receive()
            if bytes.isEmpty { break }
            received += bytes
        }
        let answer = String(decoding: received, as: UTF8.self)
        for part in answer.split(separator: "\r\nSet-Cookie: ").dropFirst() {
            let pair = part.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { self.cookies[String(pair[0])] = String(pair[1]) }
        }
        return answer
    }
}
