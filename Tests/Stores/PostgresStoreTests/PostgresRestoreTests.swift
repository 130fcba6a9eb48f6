import FoundationEssentials
import PostgresFixture
import Repository
import Sessions
import Testing

@testable import PostgresStore

/// What the manual has an operator do after `pg_restore`.
@Suite struct PostgresRestoreTests {
    /// The statement in the chapter.
    private static func statement() throws -> String {
        let path = Repository.path("Sources/sojourn/Sojourn.docc/Operating/BackupAndRestore.md")
        let text = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
        let begin = try #require(text.firstRange(of: "psql \"$DATABASE_URL\" -c \""))
        let end = try #require(text[begin.upperBound...].firstRange(of: "\"\n"))
        return String(text[begin.upperBound..<end.lowerBound])
    }

    @Test func itsStatementLetsIdleTimesBeginAnew_eachTime_andOnEveryNode() async throws {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let session = try await givenSession(store)
        let policy = RefreshPolicy(absoluteMaximum: .seconds(Int64.max))
        let schema = try #require(url.split(separator: "%3D").last.map(String.init))
        let used = Instant(secondsSinceEpoch: 1_600_000_000)
        try PostgresServer.shared.run(
            "UPDATE sessions SET renewed_at = \(used.secondsSinceEpoch)", schema: schema)
        let backup = used + .seconds(7)
        try await store.append([AuditEvent(.loginFailed, at: backup, by: .system)])
        #expect(try await store.settings().restores == [])
        for count in 1...2 {
            try PostgresServer.shared.run(try Self.statement(), schema: schema)
            let restores = try await store.settings().restores
            #expect(restores.map(\.from) == [Instant](repeating: backup, count: count))
            let at = try #require(restores.last?.at)
            let now = try PostgresServer.shared.run("SELECT extract(epoch FROM now())::bigint").dropLast()
            #expect((0...600).contains(try #require(Int64(now)) - at.secondsSinceEpoch))
            let record = try #require(try await store.session(session.id))
            let end = at + SessionSettings.defaults.offlineSessionIdle
            #expect(
                policy.lifetimes(settings: record.settings, client: nil, user: nil).idleEnd(of: record.session) == end)
            #expect(record.session.renewedAt == used)
        }
        // A trail may be empty.
        try PostgresServer.shared.run("DELETE FROM audit_events", schema: schema)
        try PostgresServer.shared.run(try Self.statement(), schema: schema)
        #expect(try await store.settings().restores.map(\.from.secondsSinceEpoch).last == 0)
        #expect(try await store.settings().restores.count == 3)
        // A value that no restore wrote is told, and not taken for none.
        try PostgresServer.shared.run(
            "UPDATE settings SET restores = 'yesterday'; UPDATE catalogue_revision SET revision = revision + 1",
            schema: schema)
        await #expect(throws: StoreError.self) { try await store.settings() }
        await store.close()
    }
}
