import Cryptography
import PostgresFixture
import Sessions
import Testing

@testable import PostgresStore

/// How the sessions of a user are found, among however many of others.
@Suite("PostgreSQL: sessions of a user", .timeLimit(.minutes(1)))
struct PostgresSessionLookupTests {
    @Test("no statement reads the whole table, and the sessions on a device are found by every column of the index")
    func plans() async throws {
        let url = try PostgresServer.shared.newDatabase()
        await (try openStore(url)).close()
        let options = PostgresStore.Options(clock: WallClock { Instant(secondsSinceEpoch: 1_800_000_000) })
        let connection = try Connection(
            url: url, patience: .seconds(5), names: StatementNames(areUsed: false), now: options.now)
        let deadline = options.now() + .seconds(30)
        _ = try connection.run([Statement("SET enable_seqscan = off")], commits: false, until: deadline)
        func plan(_ statement: Statement) throws -> String {
            let explained = Statement("EXPLAIN \(statement.text)", parameters: statement.parameters)
            let rows = try connection.run([explained], commits: false, until: deadline)
            return try rows[0].map { row in row.text() }.joined(separator: "\n")
        }
        let user = Identifier<User>(random: .system)
        let onDevice = try plan(SessionSQL.selectOnDevice("phone", of: user))
        let start = Instant(secondsSinceEpoch: 1_800_000_000)
        let plans = [
            onDevice, try plan(SessionSQL.selectPage(of: user, before: .max, nil, limit: 9)),
            try plan(SessionSQL.selectLatest(of: user, limit: 9, lookMax: 9)),
            try plan(SessionSQL.selectEnded(onDevice: "phone", of: user, before: start, lookMax: 9)),
        ]
        for plan in plans { #expect(!plan.contains("Seq Scan"), "\(plan)") }
        // A table without rows is cheaper to sort; one with many is read in the order of the index, if there is one.
        for setting in ["enable_bitmapscan", "enable_sort"] {
            _ = try connection.run([Statement("SET \(setting) = off")], commits: false, until: deadline)
        }
        let looks: [(SessionSelection, String)] = [
            (.due(by: start), "Index Scan using sessions_looks"),
            (.ended(by: start), "Index Scan using sessions_tombstones"),
            (.after(Identifier(random: .system)), "Index Scan using sessions_pkey"),
        ]
        for (selection, scan) in looks {
            let plan = try plan(SessionSQL.selectLooks(selection, limit: 9))
            #expect(plan.contains(scan) && plan.contains("Index Cond") && !plan.contains("Sort"), "\(plan)")
        }
        for (logins, index) in [
            (PageLoginSQL.sweep(before: start, limit: 9), "page_logins_old"),
            (PhoneLoginSQL.sweep(before: start, limit: 9), "phone_logins_old"),
        ] {
            let plan = try plan(logins)
            #expect(plan.contains("Index Scan using \(index)"), "\(plan)")
        }
        let tokens = try plan(ForeignTokenSQL.selectOld(endedBy: start, startedBy: start, limit: 9))
        // Which of the partial indexes is taken depends on the rows.
        #expect(tokens.contains("using foreign_tokens_") && !tokens.contains("Seq Scan"), "\(tokens)")
        for (phase, index) in [(nil, "phone_logins_by_time"), (PhoneLogin.Phase.aborted, "phone_logins_by_state")] {
            let list = try plan(PhoneLoginSQL.selectPage(ofUser: nil, in: phase, before: .max, nil, limit: 9))
            #expect(list.contains("Index Scan Backward using \(index)") && !list.contains("Sort"), "\(list)")
        }
        #expect(onDevice.contains("(client_id = apps.id) AND (device_id = 'phone'::text)"), "\(onDevice)")
    }
}
