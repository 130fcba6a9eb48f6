import Dispatch
import Glibc
import Locks

/// `sojourn-bench flood`.
struct FloodBenchmark {
    let options: Options

    private static let password = "correct horse battery staple"
    private static let addressCount = 50
    private static let wrongPerSecond = 200.0
    private static let refreshesPerSecond = 10.0
    private static let userCount = 10
    /// A full queue lets so many requests wait that each address needs several connections.
    private static let connectionsPerAddress = 6
    /// A right login that takes longer has failed.
    private static let millisecondsMax = 2000.0

    /// The answer to a right login.
    private struct PageLogin {
        let isKnown: Bool
        let status: Int
        let milliseconds: Double
    }

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        let launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        try calls.rotateAtEveryRefresh()
        try calls.makeUser()
        let tokens = try TokenSupply.mint(10, server, launch)
        // The sessions of the known devices; they also tell how long a login takes alone.
        var report = Report("flood")
        var alone: [Double] = []
        for user in 0..<Self.userCount {
            try calls.makeUser("bench-\(user)", password: Self.password)
            let login = Self.logIn(user, round: 0, isKnown: true, server.publicPort, due: monotonicNanoseconds())
            guard login.status == 200 else { throw Failure("a login before the flood was answered \(login.status)") }
            alone.append(login.milliseconds)
        }
        report.figures.append(Figure("a login alone", "ms", alone))
        let (logins, statuses, refreshed) = try measure(server.publicPort, tokens)
        for isKnown in [true, false] { add(logins.filter { $0.isKnown == isKnown }, isKnown, to: &report) }
        for (status, count) in statuses.sorted(by: { $0.key < $1.key }) {
            report.figures.append(Figure("wrong passwords answered \(status)", "", [Double(count)]))
        }
        report.figures += [
            Figure("refreshes beside it", "of \(refreshed.answered + refreshed.errors)", [Double(refreshed.answered)]),
            Figure("refreshes beside it, p50", "ms", [refreshed.latency(0.5)]),
            Figure("refreshes beside it, p99", "ms", [refreshed.latency(0.99)]),
        ]
        try server.stop()
        return report
    }

    /// Runs the flood, the refreshes and the right logins at the same time. Returns the right logins, the number of wrong ones
    /// by the status of their answer, and the refreshes.
    private func measure(
        _ port: UInt16, _ tokens: [[[UInt8]]]
    ) throws -> ([PageLogin], [Int: Int], LoadResult) {
        let seconds = options.seconds
        let group = DispatchGroup()
        let logins = Locked<[PageLogin]>([])
        let flooded = Locked<Result<[Int: Int], any Error>?>(nil)
        let refreshed = Locked<Result<LoadResult, any Error>?>(nil)
        DispatchQueue(label: "flood").async(group: group) {
            let result = Result { try Self.flood(port, seconds: seconds) }
            flooded.withLock { $0 = result }
        }
        DispatchQueue(label: "refreshes").async(group: group) {
            let result = Result {
                try LoadGenerator(port: port, tokens.map { RefreshChains($0) }, reconnects: true)
                    .run(seconds: seconds, perSecond: Self.refreshesPerSecond, inTurn: true)
            }
            refreshed.withLock { $0 = result }
        }
        let start = monotonicNanoseconds()
        for round in 1...max(1, Int(seconds)) {
            let due = start + Int64(round) * 1_000_000_000
            usleep(UInt32(max(0, due - monotonicNanoseconds()) / 1000))
            DispatchQueue(label: "login").async(group: group) {
                let login = Self.logIn(
                    round / 2 % Self.userCount, round: round, isKnown: round.isMultiple(of: 2), port, due: due)
                logins.withLock { $0.append(login) }
            }
        }
        group.wait()
        guard let statuses = try flooded.withLock({ $0 })?.get(), let result = try refreshed.withLock({ $0 })?.get()
        else { throw Failure("nothing was measured") }
        if let error = result.firstError { SojournBench.progress("a refresh failed: \(error)") }
        return (logins.withLock { $0 }, statuses, result)
    }

    /// Sends the wrong passwords. Returns their number by the status of the answer.
    private static func flood(_ port: UInt16, seconds: Double) throws -> [Int: Int] {
        let tally = WrongLogins.Tally()
        let load = try LoadGenerator(
            port: port, (0..<addressCount * connectionsPerAddress).map { WrongLogins(number: $0, tally) },
            sources: (0..<addressCount).map { LoopbackAddress.source(1, UInt8($0), 1) }, reconnects: true)
        let result = try load.run(seconds: seconds, perSecond: wrongPerSecond, inTurn: true)
        if let error = result.firstError { SojournBench.progress("a wrong login failed: \(error)") }
        return tally.statuses
    }

    /// Logs a user in: on its known device at an address in a network of the flood, or on a new device in another network.
    private static func logIn(_ user: Int, round: Int, isKnown: Bool, _ port: UInt16, due: Int64) -> PageLogin {
        let device = isKnown ? "known-\(user)" : "new-\(round)"
        let source =
            isKnown
            ? LoopbackAddress.source(1, UInt8(user), 2) : LoopbackAddress.source(2, UInt8(round % 250), 1)
        let body = #"{"username":"bench-\#(user)","password":"\#(password)","device":{"id":"\#(device)"}}"#
        let status = try? SingleRequest(port: port, source: source, path: "/v1/login", body: body).status()
        return PageLogin(
            isKnown: isKnown, status: status ?? 0, milliseconds: Double(monotonicNanoseconds() - due) / 1e6)
    }

    private func add(_ logins: [PageLogin], _ isKnown: Bool, to report: inout Report) {
        guard !logins.isEmpty else { return }
        let name = isKnown ? "right logins from known devices" : "right logins from new devices"
        let right = logins.filter { $0.status == 200 && $0.milliseconds <= Self.millisecondsMax }
        report.figures.append(Figure("\(name) within 2 s", "of \(logins.count)", [Double(right.count)]))
        let times = logins.filter { $0.status == 200 }.map(\.milliseconds).sorted()
        guard !times.isEmpty else { return }
        for (share, text) in [(0.5, "p50"), (0.95, "p95"), (1, "most")] {
            let index = min(times.count - 1, Int(Double(times.count) * share))
            report.figures.append(Figure("\(name), \(text) of those with 200", "ms", [times[index]]))
        }
    }
}

/// Logins with a wrong password, each for another name.
private struct WrongLogins: Conversation {
    /// The answers of all connections, which one thread counts.
    final class Tally {
        var statuses: [Int: Int] = [:]
    }

    private let number: Int
    private let tally: Tally
    private var round = 0

    init(number: Int, _ tally: Tally) {
        self.number = number
        self.tally = tally
    }

    var request: [UInt8] {
        let body = #"{"username":"guess-\#(number)-\#(round)","password":"wrong","device":{"id":"guess-\#(number)"}}"#
        return SingleRequest.bytes("/v1/login", body)
    }

    mutating func accepts(_ answer: Answer, in bytes: [UInt8]) -> Bool {
        round += 1
        tally.statuses[answer.status, default: 0] += 1
        return [401, 429, 503].contains(answer.status)
    }
}

/// One request over a connection of its own, from a chosen address, of which only the status matters.
private struct SingleRequest {
    let port: UInt16
    let source: UInt32
    let path: String
    let body: String

    static func bytes(_ path: String, _ body: String) -> [UInt8] {
        Array(
            """
            POST \(path) HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """.utf8)
    }

    /// Sends it, and waits for the answer.
    func status() throws -> Int {
        let number = try LoopbackAddress(port: port, source: source).connect()
        defer { close(number) }
        var time = timeval(tv_sec: 40, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let request = Self.bytes(path, body)
        let sent = request.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == request.count else { throw Failure("a request could not be sent") }
        var (received, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = recv(number, &buffer, buffer.count, 0)
            guard count > 0 else { throw Failure("the server closed the connection") }
            received += buffer[..<count]
            if let answer = try Answer(received) { return answer.status }
        }
    }
}
