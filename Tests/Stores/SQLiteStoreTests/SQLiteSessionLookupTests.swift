import StoreFoundation
import Testing

@testable import SQLiteStore

extension Query {
    /// How the query finds its rows in a new database.
    func plan<each Value: Bindable>(_ values: repeat each Value) async throws -> [String] {
        var plan: [String] = []
        try await TemporaryFolder.with { folder in
            await (try folder.open()).close()
            let connection = try Connection(path: folder.database, access: .readOnly, cacheKibibytes: 100)
            plan = try connection.all(Query("EXPLAIN QUERY PLAN " + text), repeat each values) {
                (row) throws(CorruptRow) -> String in
                row.skip(3)
                return row.text()
            }
        }
        return plan
    }
}

/// How the sessions of a user are found, among however many of others and of the user.
@Suite struct SQLiteSessionLookupTests {
    /// Neither other clients' nor other devices' sessions of the user are looked at.
    @Test func thoseOnADevice_areFoundByEveryColumnOfTheIndex() async throws {
        let plan = try await SessionRow.selectOnDevice.plan(1, "phone")
        #expect(
            plan.contains { $0.contains("sessions_living (user_number=? AND client_id=? AND device_id=?)") }, "\(plan)")
        #expect(plan.contains { $0.contains("sessions_living (user_number=? AND client_id>?)") }, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN s") }, "\(plan)")
    }

    @Test func loginsWithAPhoneAreListedByAnIndex() async throws {
        for (query, index) in [
            (PhoneLoginRow.selectPage, "phone_logins_by_time"),
            (PhoneLoginRow.selectPageInState, "phone_logins_by_state"),
            (PhoneLoginRow.selectPageOfUser, "phone_logins_of_user"),
        ] {
            let plan = try await query.plan("x", "aborted", 9, "x", 1)
            #expect(plan.contains { $0.contains("SEARCH phone_logins USING INDEX \(index)") }, "\(plan)")
        }
        for query in [PhoneLoginRow.selectPage, PhoneLoginRow.selectPageInState] {
            let plan = try await query.plan("x", "aborted", 9, "x", 1)
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }

    @Test("the last changes of a client and of the settings are found by their index, the newest first")
    func lifetimeChanges() async throws {
        let plans = [
            (try await EventRow.selectChangesOfClient.plan("web", 9), "audit_events_of_clients"),
            (try await EventRow.selectChangesOfSettings.plan(9), "audit_events_of_settings"),
        ]
        for (plan, index) in plans {
            #expect(plan.contains { $0.contains("INDEX \(index)") }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }

    @Test("clean-up finds what is due by an index, and sorts nothing")
    func looks() async throws {
        let plans = [
            (try await SessionRow.selectDue.plan(1, 9), "INDEX sessions_looks (look_at<?)"),
            (try await SessionRow.selectTombstones.plan(1, 9), "INDEX sessions_tombstones (ended_at>? AND ended_at<?)"),
            (try await PhoneLoginRow.selectOld.plan(1, 9, 1), "INDEX phone_logins_old (<expr><?)"),
            (
                try await ForeignTokenRow.selectOld.plan(1, 1, 9),
                "INDEX foreign_tokens_exchanged (exchanged_at>? AND exchanged_at<?)"
            ),
            (
                try await ForeignTokenRow.selectOld.plan(1, 1, 9),
                "INDEX foreign_tokens_expiring (expires_at>? AND expires_at<?)"
            ),
            (try await ForeignTokenRow.selectOld.plan(1, 1, 9), "INDEX foreign_tokens_started (started_at<?)"),
        ]
        for (plan, index) in plans {
            #expect(plan.contains { $0.contains(index) }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.contains("SCAN s") }, "\(plan)")
        }
    }

    @Test func noOtherUsersSessionsAreLookedAt() async throws {
        let plans = [
            try await SessionRow.selectPage.plan(1, "x", 1, "x", 1),
            try await SessionRow.selectLatest.plan(1, 9, 9),
            try await SessionRow.selectEnded.plan("x", 9, "phone", 1),
        ]
        for plan in plans {
            #expect(plan.contains { $0.contains("INDEX sessions_") }, "\(plan)")
            #expect(!plan.contains { $0.contains("SCAN s") }, "\(plan)")
        }
        // The newest tombstones come first as they lie: so many can be taken without a look at the others.
        #expect(!plans[2].contains { $0.contains("TEMP B-TREE") }, "\(plans[2])")
    }
}
