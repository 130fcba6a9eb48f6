import PostgresFixture
import Sessions
import StoreFoundation
import Testing

@testable import PostgresStore

/// Statements have names on the server, until a pooler between shows that they cannot.
@Suite struct StatementNameTests {
    private func withConnection(
        _ body: (Connection, StatementNames, ContinuousClock.Instant) throws -> Void
    ) throws {
        let names = StatementNames()
        let connection = try Connection(
            url: try PostgresServer.shared.newDatabase(), patience: .seconds(30), names: names
        ) { .now }
        try body(connection, names, .now + .seconds(60))
    }

    private static let adding = Template("SELECT $1::bigint + $2::bigint")

    private func sum(_ one: Int, _ other: Int) -> Statement { Statement(Self.adding, one, other) }

    private func values(_ rows: [Rows]) throws -> [Int64?] {
        try rows.map { rows in try rows.first { row in row.integer() } }
    }

    @Test func aStatementIsParsedOnce_andAFailureBeforeItDoesNotTakeItForKnown() throws {
        try withConnection { connection, names, deadline in
            let failing = Statement("SELECT 1 / $1::bigint", 0)
            #expect(throws: DatabaseError.self) {
                try connection.run([failing, sum(1, 2)], commits: false, until: deadline)
            }
            for _ in 0..<2 {
                let rows = try connection.run([sum(1, 2), sum(3, 4)], commits: false, until: deadline)
                #expect(try values(rows) == [3, 7])
            }
            let known = try connection.run(
                [Statement("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''")], commits: false,
                until: deadline)
            #expect(try values(known) == [1])
            #expect(names.areUsed)
        }
    }

    @Test(arguments: [false, true])
    func aServerThatDoesNotKnowTheName_orKnowsItAlready_isGivenTheText(isTaken: Bool) throws {
        try withConnection { connection, names, deadline in
            if isTaken {
                let other = Statement("PREPARE \(Self.adding.name) AS SELECT 'of somebody else'")
                _ = try connection.run([other], commits: true, until: deadline)
            } else {
                _ = try connection.run([sum(1, 2)], commits: false, until: deadline)
                _ = try connection.run([Statement("DEALLOCATE ALL")], commits: true, until: deadline)
            }
            let error = #expect(throws: DatabaseError.self) {
                try connection.run([sum(1, 2)], commits: false, until: deadline)
            }
            #expect(error?.consequence == .mayRepeat)
            #expect(!names.areUsed)
            #expect(try values(connection.run([sum(1, 2)], commits: false, until: deadline)) == [3])
        }
    }

    @Test func aChangeMeetsThatWithoutBeingRefused() async throws {
        try await withStore { store in
            try await store.ping()
            for _ in 0..<4 {
                try await store.change { (transaction) throws(DatabaseError) -> Void in
                    transaction.add(Statement("DEALLOCATE ALL"))
                }
                try await store.ping()
            }
        }
    }

    @Test func arraysArriveAsTheyWereSent() throws {
        try withConnection { connection, _, deadline in
            var (texts, numbers) = (ArrayParameter(of: .text), ArrayParameter(of: .bigint))
            for text in ["", "a,b", "\"{}\\", "é", nil] as [String?] { texts.append(text) }
            for number in [0, -1, .max, .min, nil] as [Int64?] { numbers.append(number) }
            let empty = ArrayParameter(of: .uuid)
            let rows = try connection.run(
                [
                    Statement(
                        "SELECT t, n FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS v (t, n, place) ORDER BY place",
                        texts, numbers), Statement("SELECT count(*) FROM unnest($1::uuid[])", empty),
                ], commits: false, until: deadline)
            let pairs = try rows[0].map { row in
                let text = row.optionalText()
                return (text, row.optional { row in row.integer() })
            }
            #expect(pairs.map(\.0) == ["", "a,b", "\"{}\\", "é", nil])
            #expect(pairs.map(\.1) == [0, -1, .max, .min, nil])
            #expect(try values([rows[1]]) == [0])
        }
    }
}
