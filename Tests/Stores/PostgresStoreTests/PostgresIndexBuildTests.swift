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
        version: NextVersion.newest, readableBy: NextVersion.newest - 1, isRetired: false)
    private let notes = Locked<[String]>([])
    private let failures = Locked<[String]>([])

    private var options: PostgresStore.Options {
        var options = PostgresStore.Options(clock: WallClock { Self.start })
        options.observer.noted = { [notes] note in notes.withLock { $0.append(note) } }
        options.observer.failed = { [failures] failure in failures.withLock { $0.append(failure) } }
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

    /// Runs `body` beside a node that refreshes, and a transaction that holds back every build of an index on sessions. Afterwards
    /// no refresh was refused.
    private func withRefreshes(
        _ url: String, _ body: (PostgresStore, RefreshLoad, TableHolder) async throws -> Void
    ) async throws {
        let store = try open(url, NextVersion.expanded)
        let load = RefreshLoad([try await givenSession(store, "a")], at: store)
        async let end: Void = load.run()
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        try await body(store, load, try await TableHolder("ROW EXCLUSIVE", schema: schema))
        load.end()
        try await end
        #expect(load.refusedCount == 0)
        await store.close()
    }

    /// A build waits for every transaction that writes the table, and so holds no lock that a refresh waits for.
    @Test func whileOneProcessBuilds_anotherWaits_andRefreshesGoOn() async throws {
        let url = try PostgresServer.shared.newDatabase()
        try await withRefreshes(url) { _, load, writer in
            async let first = onThread { try open(url, NextVersion.expanded, .command) }
            while try run(Self.building, url) != "1\n" { await Task.yield() }
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
        }
    }

    private static let building =
        "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = 'sessions'::regclass"

    /// `ALTER TABLE` would wait for the build, and every refresh would wait behind it.
    @Test func aStepThatLocksATableWaitsForTheBuildOfItsIndex_andRefreshesGoOn() async throws {
        let url = try PostgresServer.shared.newDatabase()
        try await withRefreshes(url) { store, load, writer in
            store.beginBuildingIndexes()
            while try run(Self.building, url) != "1\n" { await Task.yield() }
            let later = Migration(
                NextVersion.newest, "later",
                "-- effects: adds columns to sessions\nALTER TABLE sessions ADD COLUMN later TEXT;")
            async let next = onThread { try open(url, NextVersion.expanded + [later]) }
            let told = "step \(later.version) later waits until the index on sessions is built"
            while !notes.withLock({ $0.contains(told) }) { await Task.yield() }
            await load.awaitRefreshes(100)
            let queued =
                "SELECT count(*) FROM pg_locks WHERE relation = 'sessions'::regclass AND mode = 'AccessExclusiveLock'"
            #expect(try run(queued, url) == "0\n")
            try await writer.end()
            await (try await next).close()
            #expect(try missing(url, NextVersion.expanded + [later]) == [])
            #expect(notes.withLock { $0.count { $0 == told } } == 1)
        }
    }

    @Test func aBuildThatTheServerCancels_isTriedAgainAfterAPause_andTheLogNamesTheRemedy() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try open(url, NextVersion.expanded)
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let writer = try await TableHolder("ROW EXCLUSIVE", schema: schema)
        store.beginBuildingIndexes()
        while try run(Self.building, url) != "1\n" { await Task.yield() }
        _ = try run(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index WHERE relid = 'sessions'::regclass",
            url)
        while failures.withLock(\.isEmpty) { await Task.yield() }
        let told = failures.withLock { $0[0] }
        #expect(told.hasPrefix("an index cannot be built, and is tried again in 5 s: ") && told.contains("57014"))
        #expect(told.contains("SET statement_timeout = 0"))
        await store.close()
        try await writer.end()
    }

    @Test func thePausesBetweenBuildsThatFail_double_upToAnHour() {
        #expect((0..<5).map(IndexBuilds.pause) == [5, 10, 20, 40, 80])
        #expect([9, 10, 1000].map(IndexBuilds.pause) == [2560, 3600, 3600])
        #expect(!IndexBuilds.sentence(.refused(state: "53100", message: "full"), triedAgainIn: 5).contains("timeout"))
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
        let remedy = Self.contract.description
        #expect(
            remedy.contains("sojourn migrate --contract") && remedy.contains("Let all nodes run that release first"))
        let plan = try PostgresStore.DatabaseReport(url: url, options: options, migrations: NextVersion.all).missing
        #expect(plan.map { $0.lock.contains("a start is refused") } == plan.map { $0.version == NextVersion.newest })
        await (try open(url, NextVersion.all, .contraction)).close()
        #expect(try missing(url, NextVersion.all) == [])
    }

    /// As a contraction leaves it that ended before its last step.
    @Test func ifThePartsAreRetired_theReleaseBetweenIsNoRemedy() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try open(url, Migration.all)).close()
        await (try open(url, NextVersion.expanded, .command)).close()
        _ = try run("UPDATE schema_migrations SET newest_known = \(NextVersion.newest) WHERE version > 1", url)
        let error = PostgresStore.OpenError.contractsEarly(
            version: NextVersion.newest, readableBy: NextVersion.newest - 1, isRetired: true)
        #expect(throws: error) { try open(url, NextVersion.all) }
        #expect(error.description.contains("Stop all nodes and run 'sojourn migrate --contract'"))
        #expect(!error.description.contains("release first"))
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
