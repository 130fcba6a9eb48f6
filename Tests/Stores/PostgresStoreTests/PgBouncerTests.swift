import Cryptography
import PostgresFixture
import PostgresStore
import Repository
import Sessions
import StoreConformance
import Testing

/// The rules of a store behind PgBouncer in transaction mode, where each transaction may meet another connection of the server,
/// and where there are fewer of them than the nodes have. The push lane runs those of contention and of paging.
@Suite(.timeLimit(.minutes(10))) struct PgBouncerTests {
    @Test(arguments: Lane.cases(push: contentionRules + pagingRules, full: storeRules)) func twoNodesKeepBehindIt(
        _ rule: StoreRule
    ) async throws {
        let url = try PgBouncer.shared.newDatabase()
        let stores = [try openStore(url), try openStore(url)]
        try await rule.check(ManyStores(stores))
        for store in stores { await store.close() }
    }

    @Test(arguments: Lane.cases(push: [21], full: [21, 22]) as [UInt64])
    func randomHistory_showsNoDifferenceFromTheModel(seed: UInt64) async throws {
        let url = try PgBouncer.shared.newDatabase()
        let clock = MovableClock(RandomHistory.start)
        let stores = try (0..<2).map { _ in try openStore(url) { $0.clock = clock.wallClock } }
        var history = try await RandomHistory(seed: seed, store: ManyStores(stores), clock: clock)
        try await history.play(1_000)
        for store in stores { await store.close() }
    }

    @Test func whileItIsRestartedEverythingIsAnsweredOrRefused_andNothingAcknowledgedIsLost() async throws {
        let bouncer = try PgBouncer(before: PostgresServer())
        let store = try openStore(try bouncer.newDatabase()) { $0.decisionDeadline = .seconds(10) }
        let start = Instant(secondsSinceEpoch: 1_800_000_000)
        var sessions: [Session] = []
        for name in (0..<16).map({ "user-\($0)" }) {
            let user = User(id: Identifier(random: .system), username: name, createdAt: start)
            try #require(try await store.insertUser(user, from: .admin, events: []))
            let session = Session(
                id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID, device: Device(id: "d"),
                startedAt: start, epoch: 1)
            let opened: Void? = try await store.openSession(
                userID: user.id, clientID: Client.mobileID, deviceID: "d"
            ) { $0.session = session }
            try #require(opened != nil)
            sessions.append(session)
        }
        let load = RefreshLoad(sessions, at: store)
        async let end: Void = load.run()
        for _ in 0..<3 {
            await load.awaitRefreshes(100)
            try await onThread { try bouncer.restart() }
        }
        await load.awaitRefreshes(100)
        load.end()
        try await end
        #expect(load.refusedCount > 0)
        await store.close()
    }

    @Test("a server that is down behind it may come back, while an unknown database is refused")
    func serverIsDown() async throws {
        let server = try PostgresServer()
        let bouncer = try PgBouncer(before: server)
        let url = try bouncer.newDatabase()
        await (try openStore(url)).close()
        let unknown = #expect(throws: PostgresStore.OpenError.self) {
            try openStore(url.replacing("/b1?", with: "/unknown?"))
        }
        guard case .refused? = unknown else { return #expect(Bool(false), "\(String(describing: unknown))") }
        try server.control("stop", "-m", "immediate")

        for _ in 0..<2 {
            let error = #expect(throws: PostgresStore.OpenError.self) { try openStore(url) }
            guard case .unreachable? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        }
    }
}
