import Dispatch
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Repository
import SQLiteStore
import Sessions
import Synchronization
import Testing

@testable import sojourn

/// The process is killed with SIGKILL at random moments under load and started again on the same database. What was
/// answered must stay true; no session ends by it.
@Suite("Kill -9", .timeLimit(.minutes(10)))
struct CrashTests {
    /// How often the server is killed: `SOJOURN_CRASH_ROUNDS`, or what the lane has time for.
    static let rounds =
        ProcessInfo.processInfo.environment["SOJOURN_CRASH_ROUNDS"].flatMap(Int.init)
        ?? Lane.rounds(push: 10, full: 200)
    static let workers = 16

    @Test("an acknowledged change outlives the process, and a restart ends no session")
    func underLoad() async throws {
        let folder = StartingFolder()
        let library = try FaultLibrary(in: folder)
        var server = try await CrashServer(folder, environment: library.environment)
        // Every refresh writes.
        let strict = server.admin(.put, "/settings/sessions", .object(["rotation_interval": .integer(0)]))
        try #require(strict?.status == 200)
        var workers = (0..<Self.workers).map(CrashWorker.init)
        for worker in workers { try #require(worker.prepare(server)) }
        // A follower reads the feed all the time: what was told has happened, whatever dies then.
        let subscriber = FeedSubscriber(server.adminAddress)
        defer { subscriber.end() }
        var acknowledged = 0
        var told: [String] = []
        for round in 1...Self.rounds {
            // So many answers later the server dies, while the others wait for theirs.
            let count = Atomic<Int>(0)
            // On a slow disk what is answered too early is lost: a commit takes longer than the way to the client.
            let isSlow = round.isMultiple(of: 2)
            if isSlow { library.begin(.slowDisk) }
            let last = Int.random(in: 1...(isSlow ? 100 : 400))
            workers = await onThreads(workers) { [server] worker in
                while worker.step(server) {
                    if count.add(1, ordering: .relaxed).newValue == last { server.shoot() }
                }
            }
            acknowledged += count.load(ordering: .relaxed)
            await server.kill()
            library.end(.slowDisk)
            server = try await CrashServer(folder, environment: library.environment)
            subscriber.move(to: server.adminAddress)
            let feed = try CrashFeed(server)
            told = feed.sessions
            workers = await onThreads(workers) { [server] worker in worker.verify(server, feed) }
            try #require(workers.flatMap(\.surprises) == [], "round \(round)")
        }
        #expect(await subscriber.wait { $0.sessions.count >= told.count })
        #expect(subscriber.seen.sessions == told)
        #expect(subscriber.seen.resets == 0)
        await server.kill()
        #expect(acknowledged > 20 * Self.rounds)
        let figure = "\(Self.rounds) kills, \(acknowledged) changes acknowledged\n"
        _ = figure.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        let (restored, reused) = try await Self.betrayals(folder)
        // An acknowledged refresh that was lost shows as a token newer than the database.
        #expect(restored == 0)
        #expect(reused == 0)
    }

    @Test(
        "a first start that is killed at any moment can begin anew",
        arguments: ["run", "db", "db.lock", "db-wal", "db.root-key", "db.sock", "ready.json"])
    func atTheFirstStart(_ sign: String) async throws {
        for _ in 0..<Lane.rounds(push: 2, full: 10) {
            let folder = StartingFolder()
            let first = try CrashServer.spawn(folder, [:])
            if sign != "run" { _ = await first.waitForFile(sign) }
            first.signal(9)
            _ = await first.result()
            let second = try await CrashServer(folder)
            #expect(second.admin(.get, "/clients/mobile")?.status == 200)
            #expect(second.admin(.post, "/users", .object(["username": .string("anna")]))?.status == 201)
            let login = second.admin(.post, "/users/username:anna/sessions")
            #expect(second.refresh(login?.json["refresh_token"]?.string ?? "")?.status == 200)
            await second.kill()
        }
    }

    /// Runs `work` for each worker on a thread of its own, and returns the workers as they then are.
    private func onThreads(
        _ workers: [CrashWorker], _ work: @escaping @Sendable (inout CrashWorker) -> Void
    ) async -> [CrashWorker] {
        await withTaskGroup(of: (Int, CrashWorker).self) { group in
            for (index, worker) in workers.enumerated() {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        DispatchQueue(label: worker.username).async {
                            var worker = worker
                            work(&worker)
                            continuation.resume(returning: (index, worker))
                        }
                    }
                }
            }
            return await group.reduce(into: workers) { $0[$1.0] = $1.1 }
        }
    }

    /// How often the audit trail tells of a token newer than the database, and of reuse.
    static func betrayals(_ folder: StartingFolder) async throws -> (restored: Int, reused: Int) {
        let store = try SQLiteStore(
            path: folder.file("db"), options: SQLiteStore.Options(clock: StartingClock().wall))
        var (restored, reused) = (0, 0)
        var cursor: Int64 = 0
        while true {
            let page = try await store.events(after: cursor, limit: 1000, userID: nil, sessionID: nil)
            guard let last = page.last else { break }
            restored += page.count { $0.event.kind == .sessionRestored }
            reused += page.count { $0.event.reason == EndReason.refreshTokenReused.rawValue }
            cursor = last.id
        }
        await store.close()
        return (restored, reused)
    }
}
