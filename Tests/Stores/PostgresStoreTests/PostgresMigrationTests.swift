import Cryptography
import Migrations
import PostgresFixture
import Sessions
import StoreConformance
import StoreFoundation
import Testing

@testable import PostgresStore

/// Migrations of a database that nodes are serving.
@Suite(.timeLimit(.minutes(5))) struct PostgresMigrationTests {
    static let newest = NextVersion.known
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    /// What today's program says of a schema that a later one has contracted.
    static let refusal = PostgresStore.OpenError.newerDatabase(
        version: NextVersion.newest, readableBy: NextVersion.newest - 1, newestKnown: newest)

    private func open(_ url: String, _ migrations: [Migration]) throws -> PostgresStore {
        try PostgresStore(url: url, options: .init(clock: WallClock { Self.start }), migrations: migrations)
    }

    private func survey(_ url: String, _ migrations: [Migration] = Migration.all) throws -> PostgresStore.DatabaseReport
    {
        try PostgresStore.DatabaseReport(
            url: url, options: .init(clock: WallClock { Self.start }), migrations: migrations)
    }

    private func schema(_ url: String) throws -> String {
        try #require(url.split(separator: "%3D").last.map(String.init))
    }

    /// Everything that a change of the schema would show in.
    private func contents(_ url: String) throws -> String {
        try PostgresServer.shared.run(
            """
            SELECT string_agg(attrelid::regclass || '.' || attname, ',' ORDER BY attrelid::regclass::text, attnum)
            FROM pg_attribute WHERE attrelid IN (
                SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
            """, schema: schema(url))
    }

    private func session(_ store: PostgresStore, _ name: String = "anna") async throws -> Session {
        let user = User(id: Identifier(random: .system), username: name, createdAt: Self.start)
        try #require(try await store.insertUser(user, from: .admin, events: []))
        return try await logIn(user.id, at: store)
    }

    private func logIn(
        _ user: Identifier<User>, at store: PostgresStore, device: String = "phone"
    ) async throws -> Session {
        let session = Session(
            id: Identifier(random: .system), userID: user, clientID: Client.mobileID, device: Device(id: device),
            startedAt: Self.start, epoch: 1)
        let opened: Void? = try await store.openSession(
            userID: user, clientID: Client.mobileID, deviceID: device
        ) { $0.session = session }
        try #require(opened != nil)
        return session
    }

    // MARK: Plans

    @Test func aPlanCountsTheRowsOfEachStepAndChangesNothing_whileANodeServes() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try open(url, Migration.all)
        for name in ["a", "b", "c"] { _ = try await session(store, name) }
        let before = try contents(url)
        let plan = try survey(url, NextVersion.all).missing
        #expect(plan.map(\.name) == NextVersion.migrations.map(\.name))
        #expect(
            plan.map { $0.tables.map(\.name) }
                == [["users"], [], ["sessions", "settings", "notes"], ["sessions"], [], ["notes", "users", "lines"]])
        #expect(plan.map { $0.tables.map(\.rows) } == [[3], [], [3, 1, 0], [3], [], [0, 3, 0]])
        #expect(plan.map(\.growsWithRows) == [true, false, false, true, false, false])
        #expect(plan[0].lock.contains("against changes until every row is read"))
        #expect(plan[1].lock.contains("locks nothing"))
        #expect(plan[2].lock.hasPrefix("locks sessions, settings, notes for milliseconds"))
        #expect(
            plan[2].effect.hasPrefix(
                "makes lines (no row that exists is touched), adds columns to sessions, settings, notes"))
        #expect(plan[3].lock.hasPrefix("locks nothing: 'migrate' builds it"))
        #expect(plan[4].effect.hasPrefix("changes nothing"))
        #expect(plan[5].lock.hasPrefix("locks notes for milliseconds"))
        #expect(try contents(url) == before)
        #expect(try survey(url).missing.isEmpty)
        #expect(try survey(url).contents?.settings == Settings())
        await store.close()
    }

    @Test func aPlanForAnEmptySchemaHasEveryMigrationAndMakesNothing() throws {
        let url = try PostgresServer.shared.newDatabase()
        let survey = try survey(url)
        #expect(survey.missing.map(\.version) == Array(1...Self.newest))
        #expect(survey.appliedCount == 0)
        #expect(survey.contents == nil)
        #expect(try contents(url) == "\n")
    }

    @Test func whatAStartRefusesAPlanRefuses() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try open(url, NextVersion.all)).close()
        #expect(throws: Self.refusal) {
            try survey(url)
        }
        let other = try PostgresServer.shared.newDatabase()
        try PostgresServer.shared.run("CREATE TABLE cats (name text)", schema: schema(other))
        #expect(throws: PostgresStore.OpenError.notADatabase) { try survey(other) }
    }

    /// What a migration says of itself is what it does: no table, column or index more or less, and no row.
    @Test func everyMigrationDoesWhatItSays() async throws {
        let url = try PostgresServer.shared.newDatabase()
        var before = SchemaShape(columns: [], indexes: [])
        for migration in NextVersion.all {
            await (try open(url, NextVersion.all(upTo: migration.version))).close()
            let after = try shape(url)
            #expect(after.effects(since: before) == migration.postgres.effectsByTable, "\(migration.name)")
            #expect(!migration.postgres.text.contains("UPDATE "), "\(migration.name) fills rows at a start")
            before = after
        }
    }

    /// A later one that drops an index has to say so.
    @Test func anIndexThatIsDroppedIsSeen() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try open(url, Migration.all)).close()
        let dropping = Migration(
            Self.newest + 1, "drop_index", "-- effects: drops indexes of users\nDROP INDEX users_mailbox;")
        let plan = try survey(url, Migration.all + [dropping]).missing
        #expect(plan.map(\.effect) == ["drops indexes of users (frees their pages)"])
        #expect(plan.map(\.growsWithRows) == [false])
        #expect(plan.first?.lock.hasPrefix("locks users for milliseconds") == true)
        let before = try shape(url)
        await (try open(url, Migration.all + [dropping])).close()
        #expect(try shape(url).effects(since: before) == dropping.postgres.effectsByTable)
    }

    private func shape(_ url: String) throws -> SchemaShape {
        func pairs(_ statement: String) throws -> [(String, String)] {
            try PostgresServer.shared.run(statement, schema: schema(url)).split(separator: "\n").map { line in
                let parts = line.split(separator: "|", maxSplits: 1).map(String.init)
                return (parts[0], parts[1])
            }
        }
        return SchemaShape(
            columns: try pairs(
                """
                SELECT table_name, concat_ws(' ', column_name, data_type, is_nullable, column_default)
                FROM information_schema.columns WHERE table_schema = current_schema()
                """),
            indexes: try pairs("SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema()"))
    }

    // MARK: Nodes of two versions

    /// A node of today's version, which another one is the next of.
    private func openOld(_ url: String) throws -> PostgresStore { try open(url, Migration.all) }

    @Test func aNodeOfTodaysVersionGoesOn_whileAndAfterTheNextVersionMigrates() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let old = try openOld(url)
        var sessions: [Session] = []
        for name in ["a", "b", "c", "d"] { sessions.append(try await session(old, name)) }
        let load = RefreshLoad(sessions, at: old)
        async let end: Void = load.run()
        await load.awaitRefreshes(100)
        let next = NextVersion.expanded
        #expect(try survey(url, next).missing.map(\.version) == NextVersion.migrations.dropLast().map(\.version))
        let new = try open(url, next)
        await load.awaitRefreshes(200)
        // Each obeys what the other acknowledged.
        for (index, (one, other)) in [(old, new), (new, old)].enumerated() {
            let here = try await session(one, "e\(index)")
            _ = try await other.updateSession(here.id) { $0.session.child += 1 }
            #expect(try await one.session(here.id)?.session.child == here.child + 1)
            let again = try await logIn(here.userID, at: other)
            #expect(try await one.session(here.id)?.session.ending?.reason == .replaced)
            _ = try await one.updateUser(.id(here.userID)) { change in
                change.ending = UserChange.EndingSessions(.revokedByAdmin, at: Self.start)
            }
            let ending = try await other.updateSession(again.id) { $0.session.ending }
            #expect(ending??.reason == .revokedByAdmin)
        }
        await load.awaitRefreshes(100)
        load.end()
        try await end
        #expect(load.refusedCount == 0)
        // An earlier program can start, because no step drops anything that it needs.
        let again = try openOld(url)
        _ = try await session(again, "again")
        await again.close()
        await old.close()
        await new.close()
    }

    /// `ALTER TABLE` waits for every user of the table, and every later one waits behind it.
    @Test func aMigrationThatCannotHaveItsLockLetsOthersPass_andIsTriedAgain() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let schema = try schema(url)
        let old = try open(url, Migration.all)
        let load = RefreshLoad([try await session(old)], at: old)
        async let end: Void = load.run()
        let holder = try await TableHolder("ACCESS SHARE", schema: schema)
        async let new = onThread { try open(url, NextVersion.expanded) }
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'sessions'::regclass
                AND mode = 'AccessExclusiveLock'
            """
        while try PostgresServer.shared.run(waiting, schema: schema) != "1\n" { await Task.yield() }
        await load.awaitRefreshes(50)
        #expect(load.refusedCount == 0)
        #expect(try survey(url, NextVersion.expanded).missing.map(\.name).first == "add_columns")
        try await holder.end()
        await (try await new).close()
        #expect(try survey(url, NextVersion.expanded).missing.isEmpty)
        await load.awaitRefreshes(50)
        load.end()
        try await end
        await old.close()
    }
}
