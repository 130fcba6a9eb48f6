import Migrations
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// A node of a program that is too old for what a newer one has made of the schema.
@Suite(.timeLimit(.minutes(5))) struct OutgrownNodeTests {
    private static let newer = "UPDATE schema_migrations SET readable_by = 99"

    /// What every call answers after `change` was made to the database: nil where it succeeds.
    private func refusals(after change: String) async throws -> [StoreError?] {
        let url = try PostgresServer.shared.newDatabase()
        let store = try openStore(url)
        let session = try await givenSession(store)
        _ = try await store.catalogue()
        try PostgresServer.shared.run(
            change, schema: try #require(url.split(separator: "%3D").last.map(String.init)))
        func refusal(_ call: () async throws(StoreError) -> Void) async -> StoreError? {
            do throws(StoreError) {
                try await call()
                return nil
            } catch { return error }
        }
        let refusals = [
            await refusal { () throws(StoreError) in
                _ = try await store.updateSession(session.id) { $0.session.child += 1 }
            },
            await refusal { () throws(StoreError) in _ = try await store.session(session.id) },
            await refusal { () throws(StoreError) in
                try await store.write(.everything) { (transaction) throws(TransactionError) in
                    _ = try transaction.catalogue().value()
                }
            },
            await refusal { () throws(StoreError) in try await store.ping() },
        ]
        await store.close()
        return refusals
    }

    private static let outgrown = StoreError.unavailable(
        DatabaseError.outgrown(readableBy: 99, newestKnown: Migration.all.count).description)

    @Test(
        "a node that misses a dropped column is unavailable, and tells of no corruption",
        arguments: [
            "ALTER TABLE sessions RENAME COLUMN scope TO dropped; \(newer)",
            "ALTER TABLE clients RENAME COLUMN epoch TO dropped; UPDATE catalogue_revision SET revision = revision + 1; \(newer)",
            "ALTER TABLE settings RENAME COLUMN restores TO dropped; UPDATE catalogue_revision SET revision = revision + 1; \(newer)",
            "UPDATE clients SET authentication_method = 'word'; UPDATE catalogue_revision SET revision = revision + 1; \(newer)",
        ]) func dropped(change: String) async throws
    {
        let refusals = try await refusals(after: change)
        #expect(refusals.allSatisfy { $0 == nil || $0 == Self.outgrown }, "\(refusals)")
        #expect(refusals[0] == Self.outgrown && refusals[2] == Self.outgrown && refusals[3] == Self.outgrown)
    }

    @Test("a transaction of a node that is too old for the schema changes nothing, even if it misses no column")
    func transaction() async throws {
        #expect(try await refusals(after: Self.newer)[2] == Self.outgrown)
    }

    @Test("a column that no step has dropped is corruption, as before")
    func corruption() async throws {
        let refusals = try await refusals(after: "ALTER TABLE sessions RENAME COLUMN scope TO dropped")
        guard case .corrupted = refusals[0] else {
            Issue.record("\(refusals)")
            return
        }
    }
}
