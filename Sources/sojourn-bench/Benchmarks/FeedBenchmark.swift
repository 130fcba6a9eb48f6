import Dispatch
import FoundationEssentials
import Glibc
import Locks
import Sockets

/// `sojourn-bench feed`.
struct FeedBenchmark {
    let options: Options

    /// Collects the events of the other node as they arrive.
    private final class Subscriber: Sendable {
        private let seen = Locked<[String: Int64]>([:])
        private let failure = Locked<String?>(nil)

        /// Follows the feed of `server` on a thread of its own until the server ends it.
        init(_ server: ServerProcess, _ launch: ServerProcess.Launch) {
            let (port, key) = (server.adminPort, launch.adminKey)
            DispatchQueue(label: "subscriber").async { [self] in
                do { try read(port, key) } catch { failure.withLock { $0 = "\(error)" } }
            }
        }

        private func read(_ port: UInt16, _ key: String) throws {
            let socket = try ClientSocket(to: .ipv4(bytes: [127, 0, 0, 1], port: port), timeout: .seconds(60))
            let head = "GET /admin/v1/revocations HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            try socket.send(Array("\(head)Authorization: Bearer \(key)\r\n\r\n".utf8))
            var rest = ""
            while true {
                let bytes = try socket.receive()
                if bytes.isEmpty { throw Failure("the feed has ended") }
                let now = monotonicNanoseconds()
                let lines = (rest + String(decoding: bytes, as: UTF8.self)).split(
                    separator: "\n", omittingEmptySubsequences: false)
                rest = String(lines.last ?? "")
                for line in lines.dropLast() where line.hasPrefix("data: ") {
                    guard let start = line.firstRange(of: "\"sid\":\"")?.upperBound else { continue }
                    let id = String(line[start...].prefix { $0 != "\"" })
                    seen.withLock { $0[id] = $0[id] ?? now }
                }
            }
        }

        /// Returns the moment at which the event about that session arrived. Waits up to ten seconds for it.
        func arrival(of id: String) throws -> Int64 {
            let deadline = monotonicNanoseconds() + 10_000_000_000
            while monotonicNanoseconds() < deadline {
                if let at = seen.withLock({ $0[id] }) { return at }
                if let text = failure.withLock({ $0 }) { throw Failure(text) }
                usleep(500)
            }
            throw Failure("the end of session \(id) did not come within 10 seconds")
        }
    }

    func run() throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        var first = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        var second = first
        first.url = options.postgres
        second.url = options.postgres
        second.folder = folder.path + "/second"
        mkdir(second.folder, 0o700)
        guard options.postgres != nil else {
            throw UsageError("--postgres postgres://… names an empty database that may be filled")
        }
        let (one, other) = (try ServerProcess(first), try ServerProcess(second))
        let calls = AdminCalls(one, first)
        try calls.rotateAtEveryRefresh()
        try calls.makeUser()
        var report = Report("feed")
        for count in options.connections {
            let tokens = try TokenSupply.mint(count, one, first)
            let load = try LoadGenerator(port: one.publicPort, tokens.map { RefreshChains($0) })
            let top = try load.run(seconds: 2).perSecond
            for share in [0, 0.5, 1] {
                let subscriber = Subscriber(other, second)
                let done = Locked<Result<[Double], any Error>?>(nil)
                DispatchQueue(label: "revoking").async {
                    let result = Result { try Self.revoke(until: options.seconds, calls, subscriber) }
                    done.withLock { $0 = result }
                }
                let seconds = options.seconds + 0.5
                var refreshes = 0.0
                switch share {
                case 0: usleep(UInt32(seconds * 1e6))
                case 1: refreshes = try load.run(seconds: seconds).perSecond
                default: refreshes = try load.run(seconds: seconds, perSecond: top * share).perSecond
                }
                while done.withLock({ $0 == nil }) { usleep(1000) }
                let latencies = try done.withLock { try $0?.get() ?? [] }.sorted()
                let name = share == 0 ? "idle" : share == 1 ? "at the top rate" : "at half of the top rate"
                func add(_ what: String, _ unit: String, _ value: Double) {
                    report.figures.append(Figure("\(what), \(name)", unit, connections: count, [value]))
                }
                add("refreshes", "per second", refreshes)
                add("revocations", "", Double(latencies.count))
                for (share, text) in [(0.5, "p50"), (0.99, "p99"), (1, "most")] {
                    let index = min(latencies.count - 1, Int(Double(latencies.count) * share))
                    add("from the acknowledgement to the other node's subscriber, \(text)", "ms", latencies[index])
                }
            }
        }
        try one.stop()
        try other.stop()
        return report
    }

    /// Ends sessions one after the other. Returns for each the milliseconds from the acknowledgement to the arrival of
    /// its event.
    private static func revoke(
        until seconds: Double, _ calls: AdminCalls, _ subscriber: Subscriber
    ) throws -> [Double] {
        let end = monotonicNanoseconds() + Int64(seconds * 1e9)
        var latencies: [Double] = []
        while monotonicNanoseconds() < end {
            let id = try calls.mintSessionID(device: 900_000_000 + latencies.count)
            try calls.endSession(id)
            let acknowledged = monotonicNanoseconds()
            let arrived = try subscriber.arrival(of: id)
            latencies.append(max(0, Double(arrived - acknowledged) / 1e6))
        }
        return latencies
    }
}
