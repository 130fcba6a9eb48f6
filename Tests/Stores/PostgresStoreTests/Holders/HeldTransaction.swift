import PostgresFixture
import Sessions

@testable import PostgresStore

/// A transaction of a node that stands open until it is told to end.
final class HeldTransaction {
    private let connection: Connection
    private let deadline = ContinuousClock.now + .seconds(60)

    init(_ url: String) throws {
        connection = try connect(url)
        try run([Statement("BEGIN")])
    }

    private func run(_ statements: [Statement]) throws {
        _ = try connection.run(statements, commits: false, until: deadline)
    }

    /// Adds events, as every writer does.
    func add(_ events: [RevokingEvent]) throws { try run(EventSQL.insert(events)) }

    /// Announces numbers after that one, as a writer does that was stopped after it had read the number.
    func announce(after number: Int64, of table: FollowedTable) throws {
        try run([
            Statement(
                Template(
                    "SELECT pg_advisory_xact_lock_shared('\(table.rawValue)_number_seq'::regclass::int4, $1::bigint::int4)"
                ),
                number)
        ])
    }

    func commit() throws { try run([Statement("COMMIT")]) }

    func rollBack() throws { try run([Statement("ROLLBACK")]) }
}
