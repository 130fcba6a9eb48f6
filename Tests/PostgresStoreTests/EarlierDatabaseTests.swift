import Cryptography
import Migrations
import PostgresStage
import Sessions
import StoreFoundation
import Testing

@testable import PostgresStore

/// A database that the first version made and filled, and every migration since, the real ones, on its rows.
@Suite(.timeLimit(.minutes(3))) struct EarlierDatabaseTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let origin = Origin(actor: "admin:k1", remoteAddress: "192.0.2.7", requestID: "r-1")

    private func open(_ url: String, _ migrations: [Migration] = Migration.all) throws -> PostgresStore {
        try PostgresStore(url: url, options: .init(clock: WallClock { Self.start }), migrations: migrations)
    }

    private func schema(_ url: String) throws -> String {
        try #require(url.split(separator: "%3D").last.map(String.init))
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

    /// What the first version knew: users, one of them disabled; sessions, refreshed, ended and of a user who is gone; the rest once.
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

    /// Fills the tables of `old` with the rows of `new`, as far as they have columns for them.
    private func copyRows(from new: String, to old: String) throws {
        try PostgresServer.shared.run(
            """
            DO $$ DECLARE t record; BEGIN
            FOR t IN SELECT table_name AS name, string_agg(column_name, ',') AS columns
                FROM information_schema.columns
                WHERE table_schema = '\(old)' AND is_identity = 'NO' AND table_name <> 'schema_migrations'
                GROUP BY table_name
            LOOP
                EXECUTE format('DELETE FROM \(old).%I', t.name);
                EXECUTE format('INSERT INTO \(old).%I (%s) SELECT %s FROM \(new).%I', t.name, t.columns, t.columns, t.name);
            END LOOP; END $$
            """)
    }

    @Test func everyRealMigrationRunsOnRowsOfTheFirstVersion_andNobodyIsLoggedOut() async throws {
        let (new, old) = (try PostgresServer.shared.newDatabase(), try PostgresServer.shared.newDatabase())
        let source = try open(new)
        try await fill(source)
        let expected = try await Contents(source)
        await source.close()
        await (try open(old, [Migration.all[0]])).close()
        try copyRows(from: schema(new), to: schema(old))

        let plan = try PostgresStore.Survey(url: old, options: .init(clock: WallClock { Self.start })).missing
        #expect(plan.map(\.version) == Array(2...Migration.all.count))
        #expect(plan.flatMap(\.tables).contains { $0.name == "sessions" && $0.rows == 4 })

        let store = try open(old)
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
        await store.close()
    }
}
