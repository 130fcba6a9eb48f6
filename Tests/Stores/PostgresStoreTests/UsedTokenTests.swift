import Dispatch
import Locks
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// What is forgotten of used tokens while they are used.
@Suite("PostgreSQL: used tokens", .timeLimit(.minutes(1)))
struct UsedTokenTests {
    private static func token(at seconds: Int, until end: Int) -> OneTimeToken {
        let start = Instant(secondsSinceEpoch: 1_800_000_000)
        return OneTimeToken(
            .clientAssertion, of: "backend", id: "1", goodUntil: start + .seconds(end), at: start + .seconds(seconds))
    }

    /// In a transaction of its own, uses the token, tells so, and commits when it is let.
    private static func useSlowly(
        _ url: String, _ token: OneTimeToken, _ used: DispatchSemaphore, _ commit: DispatchSemaphore
    ) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        let connection = try Connection(
            url: url, patience: .seconds(10), names: StatementNames(areUsed: false), now: { .now })
        try Transaction.run(on: connection, [], timeLeft: .seconds(60), until: deadline) {
            (transaction) throws(DatabaseError) in
            defer { used.signal() }
            _ = try transaction.run([UsedTokenSQL.insert(token)])
            used.signal()
            _ = commit.wait(timeout: .now() + 50)
        }
    }

    @Test("a token is not forgotten if its name is used anew while clean-up looks at it")
    func usedMeanwhile() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let isFirst = try await store.use(Self.token(at: 0, until: 300))
        #expect(isFirst)
        let again = Self.token(at: 900, until: 1200)
        let (used, commit, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Locked(false))
        async let slow: Void = onThread { try Self.useSlowly(url, again, used, commit) }
        try await onThread { used.wait() }
        async let deleted: Int = {
            defer { isDone.withLock { $0 = true } }
            return try await store.sweepUsedTokens(before: Self.token(at: 600, until: 0).at, limit: 9)
        }()
        let waiting = """
            SELECT count(*) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND query LIKE '%FROM used_tokens%LIMIT%' AND pid <> pg_backend_pid()
            """
        while !isDone.withLock({ $0 }), try PostgresServer.shared.run(waiting) == "0\n" { await Task.yield() }
        commit.signal()
        _ = try await slow
        #expect(try await deleted == 0)
        let isReplayed = try await store.use(again)
        #expect(!isReplayed)
        await store.close()
    }
}
