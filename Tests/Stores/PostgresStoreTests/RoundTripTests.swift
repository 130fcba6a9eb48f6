import Cryptography
import Locks
import Migrations
import PostgresFixture
import Sessions
import StoreConformance
import Testing

@testable import PostgresStore

/// What a batch costs on the wire, and what a server that is away costs: seen from between store and server.
@Suite(.timeLimit(.minutes(3))) struct RoundTripTests {
    private struct Seen {
        var batches = 0
        var changes = 0
        var largest = 0
    }

    /// Changes each session once, all at the same time. Returns when every batch of them is told of, which is after its answers.
    private func change(
        _ sessions: [Session], at store: PostgresStore, _ seen: Locked<Seen>,
        _ body: @escaping @Sendable (inout SessionChange) -> Void
    ) async throws {
        let end = seen.withLock { $0.changes } + sessions.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in sessions {
                group.addTask { _ = try await store.updateSession(session.id, body) }
            }
            try await group.waitForAll()
        }
        while seen.withLock({ $0.changes }) < end { await Task.yield() }
    }

    @Test func aBatchOfRefreshesTakesTwoRoundTrips_andOneThatWritesNothingTakesOne() async throws {
        let server = try PostgresServer.shared
        let tap = try WireTap(before: server)
        let seen = Locked(Seen())
        let store = try openStore(tap.url(try server.newDatabase())) { options in
            options.observer = PostgresStore.Observer(batchEnded: { changes, _ in
                seen.withLock { seen in
                    seen.batches += 1
                    seen.changes += changes
                    seen.largest = max(seen.largest, changes)
                }
            })
        }
        var sessions: [Session] = []
        for number in 0..<60 { sessions.append(try await givenSession(store, "user-\(number)")) }
        // The first one also reads settings and clients.
        try await change([sessions[0]], at: store, seen) { $0.session.child += 1 }
        for (writes, tripsOfEach) in [(true, 2), (false, 1)] {
            let (before, start) = (seen.withLock { $0.batches }, tap.syncCount)
            seen.withLock { $0.largest = 0 }
            // Until many have met in one.
            while seen.withLock({ $0.largest }) < 20 {
                try await change(sessions, at: store, seen) { change in
                    guard writes else { return }
                    change.session.child += 1
                    change.events = [
                        AuditEvent(.sessionEnded, at: change.session.startedAt, by: Origin(actor: "test"))
                    ]
                }
            }
            #expect(tap.syncCount - start == tripsOfEach * (seen.withLock { $0.batches } - before))
        }
        await store.close()
    }

    @Test("the observer hears each beginning and each end with its reason")
    func transitionsAreObserved() async throws {
        let heard = Locked<[SessionTransition]>([])
        let store = try openStore(try PostgresServer.shared.newDatabase()) { options in
            options.observer = PostgresStore.Observer(recorded: { events in
                heard.withLock { $0 += events.compactMap(\.transition) }
            })
        }
        try await ObservedTransitions.make(in: store)
        #expect(heard.withLock { $0 } == ObservedTransitions.all)
        await store.close()
    }

    /// Begins a session of the user, client and device of `session`.
    private static func logIn(as session: Session, in store: PostgresStore) async throws {
        let opened: Void? = try await store.openSession(
            userID: session.userID, clientID: session.clientID, deviceID: session.device.id
        ) { opening in
            opening.session = Session(
                id: Identifier(random: .system), userID: session.userID, clientID: session.clientID,
                device: session.device, startedAt: session.startedAt, epoch: 1)
            opening.events = [AuditEvent(.sessionStarted, at: session.startedAt, by: .system, userID: session.userID)]
        }
        #expect(opened != nil)
    }

    /// What a call of the store costs, with its commit.
    @Test("a login takes three round trips, four if it replaces one, a change of a user as many as it has questions")
    func procedures() async throws {
        let server = try PostgresServer.shared
        let tap = try WireTap(before: server)
        let store = try openStore(tap.url(try server.newDatabase()))
        let session = try await givenSession(store)
        let start = session.startedAt
        func expect(_ trips: Int, _ call: String, _ body: () async throws -> Void) async throws {
            let before = tap.syncCount
            try await body()
            #expect(tap.syncCount - before == trips, "\(call)")
        }
        // The connections that the lanes have not used yet are made now.
        for _ in 0..<2 { try await Self.logIn(as: session, in: store) }
        _ = try await store.use([OneTimeToken(.identityToken, of: "", id: "", goodUntil: start, at: start)])
        _ = try await store.claimProviderChecks(of: "p", dueBy: start, until: start, limit: 9)
        try await expect(4, "a login that replaces a session") { try await Self.logIn(as: session, in: store) }
        try await expect(3, "a changed address, with its source") {
            _ = try await store.updateUser(.id(session.userID)) { $0.user.profile.email = "a@b.example" }
        }
        try await expect(3, "a new username") {
            _ = try await store.updateUser(.id(session.userID)) { $0.user.username = "another" }
        }
        try await expect(3, "ended sessions") {
            _ = try await store.updateUser(.id(session.userID)) { $0.ending = .init(.revokedByAdmin, at: start) }
        }
        try await expect(1, "no provider check is due") {
            _ = try await store.claimProviderChecks(of: "p", dueBy: start, until: start, limit: 9)
        }
        let identity = Identity.Key(provider: "p", subject: "s")
        for (isNew, number) in [(true, 1), (false, 2)] {
            let key = try #require(identity)
            let token = OneTimeToken(
                .identityToken, of: "p", id: "\(number)", goodUntil: start + .seconds(9), at: start)
            let user = User(id: Identifier(random: .system), username: "new", profile: .init(), createdAt: start)
            try await expect(isNew ? 4 : 6, "a login by an identity, the second one in place of the first") {
                let arrival = try await store.openSession(
                    by: IdentityLogin(key, token: token, newUsers: [user], at: start), clientID: session.clientID,
                    deviceID: "d"
                ) { opening in
                    opening.session = Session(
                        id: Identifier(random: .system), userID: opening.user.id, clientID: session.clientID,
                        device: Device(id: "d"), startedAt: start, epoch: 1)
                    return opening.arrival
                }
                #expect(arrival == (isNew ? .new : .known))
            }
        }
        _ = try await store.read(.page) { (reader) throws(TransactionError) in try reader.catalogue().value() }
        try await expect(2, "what a page shows, with the end of its transaction") {
            _ = try await store.read(.page) { (reader) throws(TransactionError) in
                let (user, catalogue) = (reader.user(.id(session.userID)), reader.catalogue())
                let sessions = reader.sessions(of: session.userID, after: nil, limit: 9)
                return (try user.value()?.id, try sessions.value().count, try catalogue.value().clients.count)
            }
        }
        await store.close()
    }

    @Test func aServerThatIsAwayIsTriedAtOnce_andThenAfterPausesThatDoubleToTwoSeconds() throws {
        let server = try PostgresServer.shared
        let tap = try WireTap(before: server)
        let start = ContinuousClock.now
        let passed = Locked(Duration.zero)
        var options = PostgresStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 0) })
        options.now = { start + passed.withLock { $0 } }
        let lane = ReconnectingConnection(
            url: tap.url(try server.newDatabase()), options: options, names: StatementNames(),
            cache: CatalogueCache(newestKnown: Migration.all.count))

        /// Whether a caller gets a connection now; `breaks`, if so: one that is lost at once.
        func isServed(breaks: Bool = false) -> Bool {
            do throws(DatabaseError) {
                try lane.withConnection(until: options.now() + .seconds(60)) { (_) throws(DatabaseError) in
                    if breaks { throw .lost("a test") }
                }
                return true
            } catch { return false }
        }
        /// The pauses between attempts to connect, in milliseconds, while a caller comes every 10 ms.
        func pauses(_ count: Int) -> [Int] {
            var attempts: [Int] = []
            var time = 0
            while attempts.count <= count {
                let before = tap.connectionCount
                #expect(!isServed(breaks: true))
                if tap.connectionCount > before { attempts.append(time) }
                time += 10
                passed.withLock { $0 += .milliseconds(10) }
            }
            return zip(attempts.dropFirst(), attempts).map { $0 - $1 }
        }

        tap.refuses(true)
        #expect(pauses(8) == [50, 100, 200, 400, 800, 1600, 2000, 2000])
        // No caller is let in before the pause is over, though the server is there again.
        tap.refuses(false)
        #expect(!isServed())
        passed.withLock { $0 += .seconds(2) }
        #expect(isServed())
        // What was served once has a connection that breaks, and begins anew with short pauses.
        tap.refuses(true)
        #expect(pauses(3) == [50, 100, 200])
        lane.close()
    }

    @Test func aConnectionThatWasMadeTooLateForOneIsThereForTheNext() throws {
        let server = try PostgresServer.shared
        let silent = try SilentServer()
        var options = PostgresStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 0) })
        // libpq waits two seconds for an address, and no shorter.
        options.decisionDeadline = .seconds(1)
        let url = try server.newDatabase().replacing("host=", with: "host=\(silent.folder),")
        let lane = ReconnectingConnection(
            url: url, options: options, names: StatementNames(),
            cache: CatalogueCache(newestKnown: Migration.all.count))
        func ask() throws(DatabaseError) -> Int64? {
            let deadline = options.now() + options.decisionDeadline
            return try lane.withConnection(until: deadline) { (connection) throws(DatabaseError) in
                try connection.run([Statement("SELECT 7::bigint")], commits: false, until: deadline)[0]
                    .first { row in row.integer() }
            }
        }
        #expect(throws: DatabaseError.self) { try ask() }
        #expect(try ask() == 7)
        lane.close()
    }
}
