import Cryptography
import Migrations
import PostgresFixture
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

    /// Fills the tables of `target` with the rows of `source`, as far as `known` has columns for them, one of the two, or an earlier one.
    private func copyRows(from source: String, to target: String, inColumnsOf known: String) throws {
        try PostgresServer.shared.run(
            """
            DO $$ DECLARE t record; BEGIN
            FOR t IN SELECT table_name AS name, string_agg(column_name, ',') AS columns
                FROM information_schema.columns
                WHERE table_schema = '\(known)' AND is_identity = 'NO' AND table_name <> 'schema_migrations'
                GROUP BY table_name
            LOOP
                EXECUTE format('DELETE FROM \(target).%I', t.name);
                EXECUTE format(
                    'INSERT INTO \(target).%I (%s) SELECT %s FROM \(source).%I', t.name, t.columns, t.columns, t.name);
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
        try copyRows(from: schema(new), to: schema(old), inColumnsOf: schema(old))

        let plan = try PostgresStore.DatabaseReport(url: old, options: .init(clock: WallClock { Self.start })).missing
        #expect(plan.map(\.version) == Array(2...Migration.all.count))
        #expect(plan.flatMap(\.tables).contains { $0.name == "sessions" && $0.rows == 4 })

        let store = try open(old)
        try await expectNobodyIsLoggedOut(of: store, with: expected)
        await store.close()
    }

    /// They know the schema of then, and so write the columns that it has; the tables are those of today, and a node of today serves.
    @Test(arguments: 15..<Migration.all.count)
    func whatNodesOfAnEarlierVersionWriteInTheTablesOfToday_isReadHere(_ version: Int) async throws {
        let (known, written) = (try PostgresServer.shared.newDatabase(), try PostgresServer.shared.newDatabase())
        await (try open(known, Array(Migration.all.prefix(version)))).close()
        let source = try open(written)
        try await fill(source)
        let expected = try await Contents(source)
        await source.close()

        let url = try PostgresServer.shared.newDatabase()
        let store = try open(url)
        try copyRows(from: schema(written), to: schema(url), inColumnsOf: schema(known))
        try await expectNobodyIsLoggedOut(of: store, with: expected)
        await store.close()
    }

    /// A node of the version before 18 writes an event of today's tables, one of before 19 settings.
    @Test func whatANodeOfAnEarlierVersionDoesNotKnow_staysAsItIs() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try open(url)
        try await store.updateSettings { $0.settings.servedMaximum = .seconds(7_000_000) }
        try PostgresServer.shared.run(
            """
            UPDATE settings SET refresh_after_seconds = 99, epoch = epoch + 1;
            UPDATE catalogue_revision SET revision = revision + 1;
            INSERT INTO audit_events (\(EventColumns.first.list))
                VALUES ('all_sessions_revoked', 1800000000, 'admin:k1', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            INSERT INTO revocations (\(RevocationColumns.all.list))
                VALUES ('all_sessions_ended', 1800000000, 1800000100, NULL, NULL, NULL, 'revoked_by_admin')
            """, schema: schema(url))
        let settings = try await store.settings()
        #expect(settings.sessions.refreshAfter == .seconds(99))
        #expect(settings.servedMaximum == .seconds(7_000_000))
        let event = try #require(try await store.events(after: 0, limit: 9, userID: nil, sessionID: nil).last)
        #expect(event.event == AuditEvent(.allSessionsRevoked, at: Self.start, by: Origin(actor: "admin:k1")))
        #expect(event.revocation == nil)
        #expect(try await store.revocations(after: 0, at: Self.start, limit: 9).map(\.kind) == [.allSessionsEnded])
        await store.close()
    }

    /// Has `store` go on with sessions that began elsewhere.
    private func expectNobodyIsLoggedOut(of store: PostgresStore, with expected: Contents) async throws {
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
