import Cryptography
import Migrations
import PostgresFixture
import Sessions
import StoreConformance
import StoreFoundation
import Testing

@testable import PostgresStore

/// A database that an earlier version made and filled, and every migration since on its rows. The earlier version is today's, or
/// one between today's and the next.
@Suite(.timeLimit(.minutes(3))) struct PostgresEarlierDatabaseTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let origin = Origin(actor: "admin:k1", remoteAddress: "192.0.2.7", requestID: "r-1")

    private func open(_ url: String, _ migrations: [Migration] = Migration.all) throws -> PostgresStore {
        try PostgresStore(url: url, options: .init(clock: WallClock { Self.start }), migrations: migrations)
    }

    /// What a test compares.
    private struct Contents: Equatable {
        let users: [User]
        let sessions: [Session]
        let clients: [Client]
        let settings: Settings
        let keys: [StoredSigningKey]
        let adminKeys: [AdminKey]
        let events: [AuditEvent]

        init(_ store: PostgresStore) async throws {
            users = try await store.users(matching: nil, after: nil, limit: 100).items
            sessions = try await store.exportSessions(after: nil, limit: 100)
            clients = try await store.clients()
            settings = try await store.settings()
            keys = try await store.updateSigningKeys { keys, _ in keys }
            adminKeys = try await store.adminKeys()
            events = try await store.events(after: 0, limit: 100, userID: nil, sessionID: nil).map(\.event)
        }
    }

    /// Users, one of them disabled; sessions, refreshed, ended and of a user that is gone; the rest once.
    private func fill(_ store: PostgresStore) async throws {
        for name in ["a", "b", "c", "d"] {
            let session = try await givenSession(store, name)
            _ = try await store.updateSession(session.id) { change in
                (change.session.parent, change.session.child) = (6, 7)
                change.session.childAnsweredAt = Self.start + .seconds(5)
            }
        }
        let disabled = User.LoginDisabling(effective: .onExpiry, since: Self.start, note: "lost phone")
        _ = try await store.updateUser(.username("b")) { $0.user.disabledByAdmin = disabled }
        _ = try await store.updateUser(.username("c")) { change in
            change.ending = UserChange.EndingSessions(.revokedByAdmin, at: Self.start)
            change.events = [AuditEvent(.sessionsEnded, at: Self.start, by: Self.origin, userID: change.user.id)]
        }
        _ = try await store.updateUser(.username("d")) { $0.deletes = true }
        try await store.updateClient(Client.mobileID) { change in
            change.client = Client(id: Client.mobileID, createdAt: Self.start, epoch: change.settings.epoch)
        }
        try await store.updateClient("backend") { change in
            change.client = Client(
                id: "backend", authenticationMethod: .clientSecretBasic, secretHash: [1, 2], createdAt: Self.start,
                epoch: change.settings.epoch + 1)
        }
        try await store.updateSettings { $0.settings.sessions.refreshAfter = .seconds(77) }
        try await store.updateSigningKeys { keys, _ in
            keys = [
                StoredSigningKey(
                    id: "k", algorithm: "ES256", sealedPrivateKey: [3], createdAt: Self.start, activeFrom: Self.start)
            ]
        }
        try await store.updateAdminKeys { keys, _ in
            keys = [AdminKey(id: "k1", name: "ci", hash: [4], createdAt: Self.start)]
        }
    }

    @Test(arguments: NextVersion.earlier)
    func everyMigrationRunsOnRowsOfAnEarlierVersion_andNoSessionEnds(_ version: Int) async throws {
        let url = try PostgresServer.shared.newDatabase()
        let earlier = try open(url, NextVersion.all(upTo: version))
        try await fill(earlier)
        let expected = try await Contents(earlier)
        await earlier.close()

        let options = PostgresStore.Options(clock: WallClock { Self.start })
        let plan = try PostgresStore.DatabaseReport(url: url, options: options, migrations: NextVersion.all).missing
        #expect(plan.map(\.version) == Array((version + 1)...NextVersion.newest))
        let sessions = plan.flatMap(\.tables).first { $0.name == "sessions" }
        #expect(sessions?.rows == (version < NextVersion.known + 4 ? 4 : nil))

        let store = try open(url, NextVersion.all)
        try await expectNoSessionHasEnded(of: store, with: expected)
        await store.close()
    }

    /// It started when the schema was its own, and the next version has migrated since, but for the step that contracts.
    @Test(arguments: NextVersion.earlier)
    func whatANodeOfAnEarlierVersionWritesInTheTablesOfTheNext_isReadThere(_ version: Int) async throws {
        let url = try PostgresServer.shared.newDatabase()
        let earlier = try open(url, NextVersion.all(upTo: version))
        let store = try open(url, NextVersion.expanded)
        try await fill(earlier)
        let expected = try await Contents(earlier)
        await earlier.close()
        try await expectNoSessionHasEnded(of: store, with: expected)
        await store.close()
    }

    /// A column that the next version has added, in rows that a node of today changes.
    @Test func whatANodeOfAnEarlierVersionDoesNotKnow_staysAsItIs() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let earlier = try open(url)
        let session = try await givenSession(earlier, "a")
        await (try open(url, NextVersion.expanded)).close()
        try PostgresServer.shared.run(
            "UPDATE settings SET colour = 'blue'; UPDATE sessions SET colour = 'blue'", schema: schema)
        try await earlier.updateSettings { $0.settings.sessions.refreshAfter = .seconds(99) }
        _ = try await earlier.updateSession(session.id) { $0.session.child += 1 }
        _ = try await earlier.updateSession(session.id) { $0.session.end(.revokedByAdmin, at: Self.start) }
        #expect(try await earlier.settings().sessions.refreshAfter == .seconds(99))
        let colours = try PostgresServer.shared.run(
            "SELECT colour FROM settings UNION ALL SELECT colour FROM sessions WHERE child = \(session.child + 1)",
            schema: schema)
        #expect(colours == "blue\nblue\n")
        await earlier.close()
    }

    /// Has `store` go on with sessions that began elsewhere.
    private func expectNoSessionHasEnded(of store: PostgresStore, with expected: Contents) async throws {
        let contents = try await Contents(store)
        #expect(contents == expected)
        #expect(contents.sessions.map(\.ending?.reason).count { $0 == nil } == 2)
        for session in contents.sessions where session.ending == nil {
            let record = try #require(try await store.session(session.id))
            #expect(record.user != nil && record.client?.id == Client.mobileID)
            #expect(RefreshPolicy(absoluteMaximum: .seconds(31_536_000)).ending(of: record, at: Self.start) == nil)
            let child = try await store.updateSession(session.id) { change in
                (change.session.parent, change.session.child) = (7, 8)
                return change.session.child
            }
            #expect(child == 8)
            #expect(try await store.session(session.id)?.session.child == 8)
        }
        // A login takes the place of a session that began before.
        let anna = try #require(try await store.user(.username("a")))
        let opened: Void? = try await store.openSession(
            userID: anna.id, clientID: Client.mobileID, deviceID: "phone"
        ) { opening in
            opening.session = Session(
                id: Identifier(random: .system), userID: anna.id, clientID: Client.mobileID,
                device: Device(id: "phone"),
                startedAt: Self.start, epoch: 2)
        }
        #expect(opened != nil)
        let before = try #require(contents.sessions.first { $0.userID == anna.id })
        #expect(try await store.session(before.id)?.session.ending?.reason == .replaced)
    }
}
