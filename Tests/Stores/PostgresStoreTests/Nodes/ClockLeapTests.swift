import Locks
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// What a store does when the database has another time at once, as after a fail-over. The monotonic clock of the tests is set
/// instead, which looks the same to a node.
@Suite("PostgreSQL: a database that has another time at once", .timeLimit(.minutes(1)))
struct ClockLeapTests {
    private let ahead = Locked(Duration.zero)

    /// A store that goes by the database's time.
    private func open() throws -> PostgresStore {
        try openStore(try PostgresServer.shared.newDatabase()) { options in
            let ahead = ahead
            options.clock = ClockSkewTests.clock()
            options.followsDatabaseClock = true
            options.now = { ContinuousClock.now + ahead.withLock { $0 } }
        }
    }

    private func leap(by duration: Duration) { ahead.withLock { $0 += duration } }

    /// How far the store's time is from the database's, which is that of this machine here.
    private func error(of store: PostgresStore) -> Duration {
        let error = store.clock.sinceEpoch - ClockSkewTests.clock().sinceEpoch
        return error < .zero ? .zero - error : error
    }

    @Test("a connection that is made corrects the time before it is used")
    func connecting() async throws {
        let store = try open()
        leap(by: .seconds(600))
        #expect(error(of: store) > .seconds(500))
        // The first call of this kind makes its connection. A read itself brings no time.
        _ = try await store.catalogue()
        #expect(error(of: store) < .seconds(60))
        await store.close()
    }

    @Test("a change corrects the time, too, because a pooler may lead a kept connection to another server")
    func kept() async throws {
        let store = try open()
        for _ in 0..<2 { try await store.ping() }
        leap(by: .seconds(600))
        try await store.ping()
        #expect(error(of: store) < .seconds(60))
        await store.close()
    }

    @Test("a decision for which the earlier time was read is refused, and nothing of it is written")
    func decision() async throws {
        let store = try open()
        let (first, second) = (try await givenSession(store), try await givenSession(store, "bert"))
        let (refusals, refusal) = AsyncStream<StoreError?>.makeStream()
        let ahead = ahead
        // The second change waits while the time is another one.
        _ = try await store.updateSession(first.id) { _ in
            store.updateBatched(
                PendingSessionChange(
                    id: second.id, waitingSince: store.options.now(),
                    run: { edit in
                        edit.session.child += 1
                        return { refusal.yield(nil) }
                    },
                    notFound: { refusal.yield(nil) }, refuse: { refusal.yield($0) }))
            ahead.withLock { $0 += .seconds(20) }
        }
        var answers = refusals.makeAsyncIterator()
        let answer = await answers.next()
        #expect(answer == .unavailable("the database's clock was set, or another server answers"))
        // What is asked for afterwards is decided.
        leap(by: .milliseconds(200))
        #expect(try await store.session(second.id)?.session == second)
        #expect(try await store.updateSession(second.id) { $0.session.child += 1 } != nil)
        await store.close()
    }

    @Test("a report counts for 25 seconds, whether the time is ahead or behind since then, until its node stops")
    func reports() async throws {
        let database = try PostgresServer.shared.newDatabase()
        let time = Locked<Int64>(1_800_000_000)
        let store = try openStore(database) { options in
            options.clock = WallClock { Instant(secondsSinceEpoch: time.withLock { $0 }) }
        }
        _ = try await store.exchangeLeads(of: "a", .seconds(3))
        let begin = time.withLock { $0 }
        for (seconds, isThere) in [(0, true), (25, true), (26, false), (-25, true), (-26, false), (0, true)]
            as [(Int64, _)]
        {
            time.withLock { $0 = begin + seconds }
            let reports = try await store.exchangeLeads(of: "b", .zero)
            #expect(reports.map(\.node) == (isThere ? ["a"] : []), "\(seconds)")
            #expect(reports.allSatisfy { $0.lead == .seconds(3) && $0.number == 1 })
        }
        _ = try await store.exchangeLeads(of: "a", .seconds(4))
        #expect(try await store.exchangeLeads(of: "b", .zero).map(\.number) == [2])
        try await store.forgetLead(of: "a")
        #expect(try await store.exchangeLeads(of: "b", .zero).isEmpty)
        await store.close()
    }
}
