/// Checks whether a server keeps acknowledged changes, and whether a statement sees what was committed before it began. All
/// guarantees for several nodes depend on these two.
enum ServerCheck {
    /// The problem of the server that `connection` leads to; nil if there is none. The same round trip corrects `time`.
    static func problem(
        on connection: Connection, noting time: DatabaseClock? = nil, until deadline: ContinuousClock.Instant
    ) throws(DatabaseError) -> PostgresStore.OpenError? {
        let before = time?.now()
        let rows = try connection.run([asking, DatabaseClock.asking], commits: false, until: deadline)
        let after = time?.now()
        let problem = try problem(in: rows[0])
        // The time of a server that is refused is not taken.
        if problem == nil, let time, let before, let after { try time.note(rows[1], between: before, and: after) }
        return problem
    }

    private static func problem(in settings: Rows) throws(DatabaseError) -> PostgresStore.OpenError? {
        try settings.first { row in
            for setting in ["fsync", "synchronous_commit"] where row.text() == "off" {
                return .notDurable(setting: setting)
            }
            let isolation = row.text()
            return isolation == "read committed" ? nil : .notReadCommitted(isolation: isolation)
        } ?? nil
    }

    private static let asking = Statement(
        """
        SELECT current_setting('fsync'), current_setting('synchronous_commit'),
            current_setting('transaction_isolation')
        """)

    /// Checks the server when a database is opened, and throws its problem.
    static func run(
        on connection: Connection, url: String, until deadline: ContinuousClock.Instant
    ) throws(PostgresStore.OpenError) {
        let problem = try PostgresStore.OpenError.mapping(url) { () throws(DatabaseError) in
            try Self.problem(on: connection, until: deadline)
        }
        if let problem { throw problem }
    }
}
