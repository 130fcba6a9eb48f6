internal import Sessions

/// Advisory locks that serialise changes of several nodes. Each is held until the end of its transaction. Transactions take
/// them in this order, and those of users (`UserLocks`) after that of accounts, so that they cannot deadlock. Rows are locked
/// after them: rows of users first, then those of sessions: a phone before what it has let in, and all others in the order of
/// their ids; then those of logins. Events come last, under locks for which no transaction waits (`FollowedTable`).
enum TransactionLock: Int64 {
    /// A change of what all sessions depend on (settings, clients) takes the lock exclusively; every other change of sessions or
    /// users shares it, and takes the locks of its users as well. A refresh that is not committed before a change of settings
    /// is therefore not committed after it either.
    case accounts = 0x536F_6A72_0001
    /// Changes of keys.
    case keys = 0x536F_6A72_0002
    case migrations = 0x536F_6A72_0003
    /// Held by the process that builds indexes, in a transaction that takes no other lock.
    case indexes = 0x536F_6A72_0010

    /// Takes the lock exclusively until the end of the transaction.
    var alone: Statement { Statement(Self.takingAlone, rawValue) }

    /// Shares the lock until the end of the transaction.
    var shared: Statement { Statement(Self.sharing, rawValue) }

    private static let takingAlone = Template("SELECT pg_advisory_xact_lock($1::bigint)")
    private static let sharing = Template("SELECT pg_advisory_xact_lock_shared($1::bigint)")
}

/// A transaction of several round trips on one connection.
final class Transaction {
    private let connection: Connection
    private let deadline: ContinuousClock.Instant
    /// See `timeLimit`.
    private let limit: Statement
    /// The statements that are sent with the next round trip.
    private var waiting: [Statement]
    private let beginningCount: Int
    private let isReadOnly: Bool
    private let time: DatabaseClock?
    private var isOpen = false

    private init(
        _ connection: Connection, _ limit: Statement, _ locks: [Statement], isReadOnly: Bool,
        until deadline: ContinuousClock.Instant, noting time: DatabaseClock? = nil
    ) {
        self.connection = connection
        self.deadline = deadline
        self.limit = limit
        self.isReadOnly = isReadOnly
        self.time = time
        let beginning = isReadOnly ? Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") : Statement("BEGIN")
        waiting = [beginning, limit] + locks
        beginningCount = waiting.count
    }

    /// Runs `body` in a transaction, which commits when `body` returns and rolls back when it throws. The server itself ends
    /// the transaction at `deadline`. A node that has lost its power or network, or is suspended, therefore holds no lock after
    /// that, and a node that resumes later commits nothing.
    ///
    /// - Parameter time: the clock that the first round trip corrects. Behind PgBouncer a connection may lead to another server
    ///   than at its last use.
    static func run<Value>(
        on connection: Connection, _ locks: [Statement], timeLeft: Duration, until deadline: ContinuousClock.Instant,
        noting time: DatabaseClock? = nil, _ body: (Transaction) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try Transaction(
            connection, timeLimit(timeLeft, telling: time != nil), locks, isReadOnly: false, until: deadline,
            noting: time
        ).run(body)
    }

    /// Runs `body` on the rows of one snapshot, whatever the number of its round trips.
    static func read<Value>(
        on connection: Connection, timeLeft: Duration, until deadline: ContinuousClock.Instant,
        _ body: (Transaction) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try Transaction(connection, timeLimit(timeLeft), [], isReadOnly: true, until: deadline).run(body)
    }

    private func run<Value>(_ body: (Transaction) throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        do throws(DatabaseError) {
            let value = try body(self)
            try commit()
            return value
        } catch {
            try rollBack(after: error)
            throw error
        }
    }

    /// The statement that ends the transaction at that duration after its beginning, by the server's clock: a statement that
    /// still runs is cancelled, and an idle connection is closed. If the time is over, the statement itself fails, because 0
    /// would mean no limit. With `tellsTime` it also reads the server's clock, into its third column.
    static func timeLimit(_ duration: Duration, telling tellsTime: Bool = false) -> Statement {
        let (seconds, attoseconds) = duration.components
        return Statement(
            tellsTime ? limitingAndTelling : limiting, max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    private static let limiting = limiting("")
    private static let limitingAndTelling = limiting(", \(DatabaseClock.reading)")

    private static func limiting(_ columns: String) -> Template {
        Template(
            """
            SELECT set_config('statement_timeout', coalesce(nullif(v.ms, 0), -1)::text, true),
                set_config('idle_in_transaction_session_timeout', coalesce(nullif(v.ms, 0), -1)::text, true)\(columns)
            FROM (SELECT $1::bigint
                - (extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000)::bigint AS ms) AS v
            """)
    }

    /// Runs the queued statements and then these, in one round trip. Afterwards the server waits for the next statement for the
    /// remaining time, which is less than at the beginning.
    func run(_ statements: [Statement]) throws(DatabaseError) -> [Rows] {
        try send(statements, then: [limit], commits: false)
    }

    private func send(
        _ statements: [Statement], then end: [Statement], commits: Bool
    ) throws(DatabaseError) -> [Rows] {
        let prefix = waiting
        waiting = []
        let (isFirst, before) = (!isOpen, time?.now())
        isOpen = true
        let rows = try connection.run(prefix + statements + end, commits: commits, until: deadline)
        // The limit of the first round trip follows `BEGIN`.
        if isFirst, let time, let before { try time.note(rows[1], column: 2, between: before, and: time.now()) }
        return Array(rows.dropFirst(prefix.count).prefix(statements.count))
    }

    /// Runs the queued statements and then this one.
    func run(_ statement: Statement) throws(DatabaseError) -> Rows {
        guard let rows = try run([statement]).first else { throw .lost("an answer is missing") }
        return rows
    }

    /// Queues a statement for the next round trip, which is the commit at the latest. Its answer is discarded.
    func add(_ statement: Statement) { waiting.append(statement) }

    private func commit() throws(DatabaseError) {
        // No statement was sent or queued, so there is nothing to commit.
        guard isOpen || waiting.count > beginningCount else { return }
        // The limit is set again, because the last write may have waited until the deadline.
        _ = try send([], then: [limit, Statement("COMMIT")], commits: !isReadOnly)
        isOpen = false
    }

    private func rollBack(after error: DatabaseError) throws(DatabaseError) {
        guard isOpen, error.consequence != .distrustsConnection else { return }
        _ = try connection.run([Statement("ROLLBACK")], commits: false, until: deadline)
    }
}
