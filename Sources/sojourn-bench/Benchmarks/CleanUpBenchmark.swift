import SQLiteStore
import Sessions

/// `sojourn-bench clean-up`.
struct CleanUpBenchmark {
    let options: Options

    /// The rows that a server examines per second by default (`clean_up.rows_per_second`).
    private static let rowsPerSecond = 5000

    private struct Part {
        var perSecond: [Double] = []
        var p99: [Double] = []
        var p999: [Double] = []
        var diskWrites: [Double] = []

        mutating func add(_ result: LoadResult, _ work: WorkCounters) {
            perSecond.append(result.perSecond)
            p99.append(result.latency(0.99))
            p999.append(result.latency(0.999))
            diskWrites.append(work.writes / Double(max(1, result.answered)))
        }
    }

    func run() async throws -> Report {
        let count = options.connections[0]
        let folder = try TemporaryFolder(in: options.folder)
        let launch = try ServerProcess.Launch(program: options.sojournPath(), folder: folder.path)
        try Self.prepare(launch)
        var (alone, beside, deleted): (Part, Part, [Double]) = (Part(), Part(), [])
        for round in 1...options.rounds {
            _ = try load(launch, count, device: 2 * round, into: &alone)
            // More than clean-up can delete, so that it works until the end of the load.
            let old = Int(options.seconds * 2 + 10) * Self.rowsPerSecond
            try await Self.addForgotten(old, launch)
            let seconds = try load(launch, count, device: 2 * round + 1, into: &beside)
            let left = try await Self.removeForgotten(launch)
            guard left > 0, left < old else {
                throw Failure("clean-up was not at work all the time: it left \(left) of \(old) sessions")
            }
            deleted.append(Double(old - left) / seconds)
            SojournBench.progress(
                "round \(round): \(Int(alone.perSecond[round - 1])) refreshes per second, beside clean-up "
                    + "\(Int(beside.perSecond[round - 1]))")
        }
        return report(count, alone, beside, deleted)
    }

    private func report(_ count: Int, _ alone: Part, _ beside: Part, _ deleted: [Double]) -> Report {
        var report = Report("clean-up")
        for (part, name) in [(alone, "alone"), (beside, "beside clean-up")] {
            report.figures += [
                Figure("durable refreshes, \(name)", "per second", connections: count, part.perSecond),
                Figure("latency p99, \(name)", "ms", connections: count, part.p99),
                Figure("latency p99.9, \(name)", "ms", connections: count, part.p999),
                Figure("write operations of the disk for a refresh, \(name)", "", connections: count, part.diskWrites),
            ]
        }
        let ratios = zip(beside.perSecond, alone.perSecond).map { $0 / $1 }
        report.figures.append(Figure("refreshes beside clean-up over those alone", "times", ratios))
        report.figures.append(Figure("sessions deleted meanwhile", "per second", deleted))
        return report
    }

    private static func prepare(_ launch: ServerProcess.Launch) throws {
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        try calls.rotateAtEveryRefresh()
        try calls.makeUser()
        try server.stop()
    }

    /// Loads a new server with refreshes. Returns the seconds for which it ran.
    private func load(
        _ launch: ServerProcess.Launch, _ count: Int, device: Int, into part: inout Part
    ) throws -> Double {
        let start = monotonicNanoseconds()
        let server = try ServerProcess(launch)
        let calls = AdminCalls(server, launch)
        let tokens = try (0..<count).map { [try calls.mintSession(device: device * count + $0)] }
        let load = try LoadGenerator(port: server.publicPort, tokens.map { RefreshChains($0) })
        _ = try load.run(seconds: 1)
        let before = try WorkCounters(calls, folder: launch.folder)
        let result = try load.run(seconds: options.seconds)
        if let error = result.firstError { throw Failure(error) }
        part.add(result, try WorkCounters(calls, folder: launch.folder) - before)
        try server.stop()
        return Double(monotonicNanoseconds() - start) / 1e9
    }

    /// Adds sessions with expired tombstones.
    private static func addForgotten(_ count: Int, _ launch: ServerProcess.Launch) async throws {
        let store = try SessionFiller.open(launch.database)
        let filler = SessionFiller(store: store)
        let users = try await filler.addUsers(count / SessionFiller.sessionsPerUser)
        let end = SessionFiller.now + (.zero - RefreshPolicy.tombstoneLifetime * 2)
        _ = try await filler.addSessions(count, of: users, ended: .init(reason: .loggedOut, at: end))
        await store.close()
    }

    /// Deletes the remaining ones, so that the next round starts without any. Returns their number.
    private static func removeForgotten(_ launch: ServerProcess.Launch) async throws -> Int {
        let store = try SessionFiller.open(launch.database)
        var (left, step) = (0, SessionSweep())
        repeat {
            step = try await SessionFiller(store: store).forgetTombstones(limit: 5000)
            left += step.deleted
        } while step.looks == 5000
        await store.close()
        return left
    }
}
