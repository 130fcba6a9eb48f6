import StoreFoundation
import Testing

@testable import SQLiteStore

/// How users are found, among however many.
@Suite struct UserLookupTests {
    /// Whom an address means is looked up by two indexes, and no row is read but theirs.
    @Test func whomAnAddressMeans_isFoundByIndexes() async throws {
        try await TemporaryFolder.with { folder in
            await (try folder.open()).close()
            let connection = try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 100)
            let plan = try connection.all(Query("EXPLAIN QUERY PLAN " + UserRow.selectMeant.text), "x", "x", 8) {
                (row) throws(CorruptRow) -> String in
                row.skip(3)
                return row.text()
            }
            #expect(plan.contains { $0.contains("users_verified_email (verified_email_key=?)") }, "\(plan)")
            #expect(plan.contains { $0.contains("(username_key=?)") }, "\(plan)")
            #expect(!plan.contains { $0.contains("SCAN") }, "\(plan)")
        }
    }

    /// Clean-up reads no user but the anonymous ones, and sorts none.
    @Test func anonymousUsers_areFoundByTheirIndex() async throws {
        try await TemporaryFolder.with { folder in
            await (try folder.open()).close()
            let connection = try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 100)
            let plan = try connection.all(
                Query("EXPLAIN QUERY PLAN " + UserRow.selectAnonymous.text), [UInt8](), 8
            ) { (row) throws(CorruptRow) -> String in
                row.skip(3)
                return row.text()
            }
            #expect(plan.count == 1 && plan[0].contains("users_anonymous (id>?)"), "\(plan)")
        }
    }
}
