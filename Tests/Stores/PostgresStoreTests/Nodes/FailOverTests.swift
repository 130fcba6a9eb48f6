import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// What a fail-over can lose: it is told, and a fail-over is told from a restore.
@Suite("PostgreSQL: what a fail-over can lose", .timeLimit(.minutes(2)))
struct FailOverTests {
    private typealias Life = PostgresStore.DatabaseLife
    private typealias Report = PostgresStore.DurabilityReport

    private static func report(_ url: String) throws -> Report {
        let options = PostgresStore.Options(clock: .init { .init(secondsSinceEpoch: 0) })
        return try Report(of: Connection(url: url, options), url: url, options, until: options.connectDeadline)
    }

    @Test("an asynchronous standby is a warning, and so is a commit that waits for no standby")
    func asynchronous() async throws {
        let server = try PostgresServer()
        let url = try server.newDatabase()
        #expect(try Self.report(url).warnings == [])
        let standby = try PostgresServer(following: server)
        let count = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        while try server.run(count).first != "1" { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try Self.report(url).warnings.count == 1)
        #expect(try Self.report(url).warnings.first?.contains("synchronous_standby_names") == true)
        // A role without rights sees that there is a standby, and not what it does.
        try server.run("CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA public TO plain")
        #expect(try Self.report(url.replacing("sojourn@", with: "plain@")).standbyCount == 1)
        try server.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try server.run("SELECT pg_reload_conf()")
        while try server.run("SHOW synchronous_standby_names").first != "*" {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try Self.report(url).warnings == [])
        let local = url.replacing("options=", with: "options=-csynchronous_commit%3Dlocal%20")
        #expect(try Self.report(local).warnings.first?.contains("synchronous_commit is local") == true)
        let store = try openStore(url)
        #expect(try await store.durability().warnings == [])
        await store.close()
        withExtendedLifetime(standby) {}
    }

    @Test("locks that keep nothing out are a warning: two connections prove it")
    func locks() throws {
        let server = PostgresServer.self
        let url = try server.shared.newDatabase()
        #expect(try Self.report(url).locksWork == true)
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        try server.shared.run(
            """
            CREATE FUNCTION pg_advisory_xact_lock(bigint) RETURNS void LANGUAGE sql AS 'SELECT';
            CREATE FUNCTION pg_try_advisory_xact_lock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'
            """, schema: schema)
        let report = try Self.report(url + "%2Cpg_catalog")
        #expect(report.locksWork == false)
        #expect(report.warnings.first?.contains("advisory lock") == true)
        // Behind a pooler as well, which has few connections.
        #expect(try Self.report(PgBouncer.shared.newDatabase()).locksWork == true)
    }

    @Test("a fail-over is a new timeline of the same files on a server that already ran; a restore is not")
    func followers() {
        let old = Life(system: 7, timeline: 3, tables: 16_384, startedAt: 100, upFor: .seconds(9))
        func next(
            system: Int64? = 7, timeline: Int64? = 4, tables: Int64 = 16_384, upFor: Duration = .seconds(600)
        ) -> Life { Life(system: system, timeline: timeline, tables: tables, startedAt: 200, upFor: upFor) }
        let ago = Duration.seconds(20)
        #expect(old.isFollowed(by: next(), seen: ago))
        // Started for it, as a restored copy is.
        #expect(!old.isFollowed(by: next(upFor: .seconds(20)), seen: ago))
        // A restart.
        #expect(!old.isFollowed(by: next(timeline: 3), seen: ago))
        // A restored dump, here and in another cluster.
        #expect(!old.isFollowed(by: next(tables: 16_500), seen: ago))
        #expect(!old.isFollowed(by: next(system: 8), seen: ago))
        // Back to the old primary, which is read only or lost the race.
        #expect(!old.isFollowed(by: next(timeline: 2), seen: ago))
        // Without rights nothing is known.
        for unknown in [next(system: nil), next(timeline: nil)] {
            #expect(!old.isFollowed(by: unknown, seen: ago) && !unknown.isFollowed(by: next(timeline: 9), seen: ago))
        }
    }

    @Test("the life of a server changes with a restart and a promotion, and a role without rights sees no files")
    func lives() async throws {
        let primary = try PostgresServer()
        try primary.run("CREATE SCHEMA app")
        let store = try openStore(primary.url(schema: "app"))
        let first = try await store.life()
        #expect(first.system != nil && first.timeline == 1)
        #expect(try await store.life().isSame(as: first))
        let standby = try PostgresServer(following: primary)
        await store.close()
        try primary.control("stop")
        try standby.control("promote")
        let promoted = try openStore(standby.url(schema: "app"))
        let second = try await promoted.life()
        #expect((second.system, second.tables, second.timeline) == (first.system, first.tables, 2))
        #expect(!second.isSame(as: first) && first.isFollowed(by: second, seen: .zero))
        try standby.run("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public; CREATE ROLE plain LOGIN")
        try standby.run("GRANT ALL ON SCHEMA app TO plain; GRANT ALL ON ALL TABLES IN SCHEMA app TO plain")
        let plain = try openStore(standby.url(schema: "app").replacing("sojourn@", with: "plain@"))
        let blind = try await plain.life()
        #expect(blind.system == nil && blind.tables == first.tables)
        for store in [promoted, plain] { await store.close() }
    }
}
