import Locks
import Migrations
import PostgresFixture
import Sessions
import StoreConformance
import StoreFoundation
import Testing

@testable import PostgresStore

/// Indexes that are built while nodes serve, and steps that drop something.
@Suite(.timeLimit(.minutes(5))) struct PostgresIndexBuildTests {
    private static let start = Instant(secondsSinceEpoch: 1_800_000_000)
    private static let contract = PostgresStore.OpenError.contractsEarly(
        version: NextVersion.newest, readableBy: NextVersion.newest - 1)
    private let notes = Locked<[String]>([])

    private var options: PostgresStore.Options {
        var options = PostgresStore.Options(clock: WallClock { Self.start })
        options.observer.noted = { [notes] note in notes.withLock { $0.append(note) } }
        return options
    }

    private func open(
        _ url: String, _ migrations: [Migration], _ run: Migration.Run = .start
    ) throws -> PostgresStore {
        try PostgresStore(url: url, options: options, migrations: migrations, run: run)
    }

    private func missing(_ url: String, _ migrations: [Migration] = NextVersion.expanded) throws -> [String] {
        try PostgresStore.DatabaseReport(url: url, options: options, migrations: migrations).missing.map(\.name)
    }

    private func run(_ statement: String, _ url: String) throws -> String {
        try PostgresServer.shared.run(
            statement, schema: try #require(url.split(separator: "%3D").last.map(String.init)))
    }

    /// Whether the index can be used; empty: there is none.
    private func validity(_ url: String) throws -> String {
        try run("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('sessions_colour')", url)
    }

    // MARK: Indexes

    @Test func aStartLeavesTheIndex_andTheNodeThatServesBuildsIt() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try open(url, NextVersion.expanded)
        #expect(try missing(url) == ["index_colours"])
        #expect(try validity(url) == "")
        let report = try PostgresStore.DatabaseReport(url: url, options: options, migrations: NextVersion.expanded)
        #expect(report.contents != nil && report.appliedCount == NextVersion.expanded.count - 1)
        _ = try await givenSession(store, "a")
        store.beginBuildingIndexes()
        while try !missing(url).isEmpty { await Task.yield() }
        #expect(try validity(url) == "t\n")
        #expect(notes.withLock { $0.contains("has built the index sessions_colour") })
        await store.close()
        // An earlier program starts beside it, and the same one finds nothing to do.
        await (try open(url, Migration.all)).close()
        await (try open(url, NextVersion.expanded, .command)).close()
    }

    @Test func whatAnInterruptedBuildHasLeft_isBuiltAgain() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try open(url, NextVersion.expanded)).close()
        let invalid = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sessions_colour'::regclass"
        _ = try run("CREATE INDEX sessions_colour ON sessions (colour); \(invalid)", url)
        #expect(try validity(url) == "f\n")
        await (try open(url, NextVersion.expanded, .command)).close()
        #expect(try validity(url) == "t\n")
        #expect(try missing(url) == [])
    }

    /// A build waits for every transaction that writes the table, and so holds no lock that a refresh waits for.
    @Test func whileOneProcessBuilds_anotherWaits_andRefreshesGoOn() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try open(url, NextVersion.expanded)
        let load = RefreshLoad([try await givenSession(store, "a")], at: store)
        async let end: Void = load.run()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let writer = try await TableHolder("ROW EXCLUSIVE", schema: schema)
        async let first = onThread { try open(url, NextVersion.expanded, .command) }
        let building = "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = 'sessions'::regclass"
        while try run(building, url) != "1\n" { await Task.yield() }
        async let second = onThread { try open(url, NextVersion.expanded, .command) }
        let told = "another node builds the indexes of migration \(NextVersion.known + 4) index_colours"
        while !notes.withLock({ $0.contains(told) }) { await Task.yield() }
        await load.awaitRefreshes(100)
        #expect(try missing(url) == ["index_colours"])
        // A start does not wait for it.
        await (try open(url, NextVersion.expanded)).close()
        try await writer.end()
        await (try await first).close()
        await (try await second).close()
        #expect(try missing(url) == [] && validity(url) == "t\n")
        #expect(notes.withLock { $0.count { $0.hasPrefix("builds the index") } } == 1)
        load.end()
        try await end
        #expect(load.refusedCount == 0)
        await store.close()
    }

    @Test func indexesAreBuiltBehindPgBouncer() async throws {
        let url = try PgBouncer.shared.newDatabase()
        await (try open(url, NextVersion.expanded, .command)).close()
        #expect(try missing(url) == [])
    }

    // MARK: Steps that drop something

    @Test func whatAnEarlierProgramMayStillUse_isDroppedOnlyByACommandThatSaysSo() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try open(url, Migration.all)).close()
        for run in [Migration.Run.start, .command, .start] {
            #expect(throws: Self.contract) { try open(url, NextVersion.all, run) }
            #expect(try missing(url).count == NextVersion.expanded.count - NextVersion.known, "nothing was applied")
        }
        #expect(Self.contract.description.contains("sojourn migrate --contract"))
        await (try open(url, NextVersion.all, .contraction)).close()
        #expect(try missing(url, NextVersion.all) == [])
    }

    @Test func aReleaseBetween_isEnoughToDropIt() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try open(url, Migration.all)).close()
        await (try open(url, NextVersion.expanded)).close()
        await (try open(url, NextVersion.all)).close()
        #expect(try missing(url, NextVersion.all) == [])
        // A new database has never had an earlier program.
        await (try open(PostgresServer.shared.newDatabase(), NextVersion.all)).close()
    }

    @Test func aNodeThatNeedsWhatWasDropped_isNoLongerReadyAndRefuses_andOneThatDoesNotGoesOn() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let old = try open(url, Migration.all)
        let session = try await givenSession(old, "a")
        let between = try open(url, NextVersion.expanded)
        try await old.ping()
        let new = try open(url, NextVersion.all)
        for store in [between, new] {
            try await store.ping()
            #expect(try await store.updateSession(session.id) { $0.session.child += 1 } != nil)
        }
        let sentence = StoreError.unavailable(
            DatabaseError.outgrown(readableBy: NextVersion.newest - 1, newestKnown: NextVersion.known).description)
        await #expect(throws: sentence) { try await old.ping() }
        await #expect(throws: sentence) { try await old.updateSession(session.id) { $0.session.child += 1 } }
        await #expect(throws: sentence) { try await old.catalogue() }
        #expect(try await between.session(session.id)?.session.child == session.child + 2)
        for store in [old, between, new] { await store.close() }
    }
}
