import Glibc
import SQLiteStore
import Sessions

/// `sojourn-bench store`.
struct StoreBenchmark {
    let options: Options

    func run() async throws -> Report {
        let folder = try TemporaryFolder(in: options.folder)
        let path = folder.path + "/store.sqlite"
        var report = Report("store")
        let sessions = try await fill(path, &report)
        let times = try await opening(path)
        report.figures.append(Figure("time to open with \(sessions.count) sessions", "ms", times))
        let store = try SessionFiller.open(path)
        for count in options.connections {
            var perSecond: [Double] = []
            for _ in 0..<options.rounds {
                perSecond.append(try await Self.updates(store, sessions, tasks: count, seconds: options.seconds))
            }
            report.figures.append(Figure("durable updates", "per second", connections: count, perSecond))
        }
        report.figures += try await beside(
            BackgroundWork(store: store, folder: folder.path), sessions, store)
        await store.close()
        return report
    }

    /// Measures updates beside each of `neighbours`, as a ratio to updates in the same round without it.
    private func beside(
        _ neighbours: BackgroundWork, _ sessions: [Identifier<Session>], _ store: SQLiteStore
    ) async throws -> [Figure] {
        let count = options.connections[options.connections.count / 2]
        var figures: [Figure] = []
        for (name, neighbour) in neighbours.all {
            var shares: [Double] = []
            for _ in 0..<options.rounds {
                let alone = try await Self.updates(store, sessions, tasks: count, seconds: options.seconds)
                let work = Task { try await neighbour() }
                let beside = try await Self.updates(store, sessions, tasks: count, seconds: options.seconds)
                work.cancel()
                try await work.value
                shares.append(beside / alone)
            }
            figures.append(Figure("updates beside \(name)", "of those alone", connections: count, shares))
        }
        return figures + neighbours.figures
    }

    private func fill(_ path: String, _ report: inout Report) async throws -> [Identifier<Session>] {
        let count = max(1, options.sessions)
        SojournBench.progress("filling a database with \(count) sessions")
        var store = try SessionFiller.open(path)
        let users = try await SessionFiller(store: store).addUsers(max(1, count / SessionFiller.sessionsPerUser))
        await store.close()
        let bytesBefore = try Self.bytes(path)
        store = try SessionFiller.open(path)
        let start = monotonicNanoseconds()
        let sessions = try await SessionFiller(store: store).addSessions(count, of: users)
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        await store.close()
        report.figures.append(
            Figure("bytes for a session", "bytes", [Double(try Self.bytes(path) - bytesBefore) / Double(count)]))
        report.figures.append(Figure("sessions imported", "per second", [Double(count) / seconds]))
        // These are over, so that clean-up deletes them.
        store = try SessionFiller.open(path)
        let end = SessionFiller.now + (.zero - RefreshPolicy.tombstoneLifetime * 2)
        _ = try await SessionFiller(store: store).addSessions(
            count / 6, of: users, ended: .init(reason: .loggedOut, at: end))
        await store.close()
        return sessions
    }

    private func opening(_ path: String) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<max(5, options.rounds) {
            let start = monotonicNanoseconds()
            let store = try SessionFiller.open(path)
            times.append(Double(monotonicNanoseconds() - start) / 1e6)
            await store.close()
        }
        return times
    }

    private static func bytes(_ path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure.system(path) }
        return Int(status.st_size)
    }

    /// Changes random sessions like a refresh does, from `tasks` tasks at a time. Returns changes per second.
    private static func updates(
        _ store: SQLiteStore, _ sessions: [Identifier<Session>], tasks: Int, seconds: Double
    ) async throws -> Double {
        let start = monotonicNanoseconds()
        let end = start + Int64(seconds * 1e9)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    var count = 0
                    while monotonicNanoseconds() < end, let id = sessions.randomElement() {
                        let found: Bool? = try await store.updateSession(id) { change in
                            change.session.parent = change.session.child
                            change.session.child += 1
                            return true
                        }
                        guard found == true else { throw Failure("session \(id) is gone") }
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) * 1e9 / Double(monotonicNanoseconds() - start)
    }
}
