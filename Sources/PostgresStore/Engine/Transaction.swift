internal import Sessions

/// What parts changes of several nodes that must not pass each other: locks of the server that live as long as their transaction.
/// Taken in this order, so that nobody waits in a circle; rows are locked before the last, those of users first, and those of
/// sessions in the order of their ids.
enum TransactionLock: Int64 {
    /// Who opens and closes doors (users, settings, clients) takes it alone; who goes through one (sessions) shares it. So a
    /// refresh that has not been committed when a door closes is not committed afterwards either.
    case doors = 0x536F_6A72_0001
    /// Keys.
    case keys = 0x536F_6A72_0002
    /// Migrations.
    case migrations = 0x536F_6A72_0003
    /// Who adds to the audit trail, last of all: numbers are given in the order of commits, so that a reader who has seen one
    /// never misses a smaller one.
    case trail = 0x536F_6A72_0004

    /// Takes it alone until the end of the transaction.
    var alone: Statement { Statement(Self.takingAlone, rawValue) }

    /// Shares it until the end of the transaction.
    var shared: Statement { Statement(Self.sharing, rawValue) }

    private static let takingAlone = Template("SELECT pg_advisory_xact_lock($1::bigint)")
    private static let sharing = Template("SELECT pg_advisory_xact_lock_shared($1::bigint)")
}

extension TransactionScope {
    /// What a transaction of this scope takes at its begin.
    var lock: Statement? {
        switch exclusion {
        case .nothing: nil
        case .sessions: TransactionLock.doors.shared
        case .accounts: TransactionLock.doors.alone
        case .keys: TransactionLock.keys.alone
        }
    }
}

/// A transaction of several round trips on one connection.
final class Transaction {
    private let connection: Connection
    private let deadline: ContinuousClock.Instant
    /// See `timeLimit`.
    private let limit: Statement
    /// What goes out with the next round trip.
    private var waiting: [Statement]
    private let beginningCount: Int
    private var isOpen = false

    private init(
        _ connection: Connection, _ limit: Statement, _ locks: [Statement], until deadline: ContinuousClock.Instant
    ) {
        self.connection = connection
        self.deadline = deadline
        self.limit = limit
        waiting = [Statement("BEGIN"), limit] + locks
        beginningCount = waiting.count
    }

    /// Runs `body` in a transaction, which is committed when it returns and rolled back when it throws. The server gives up on
    /// its own when `deadline` has come, though nobody tells it: a node that has lost its power or its network meanwhile, or
    /// stands still, holds no lock any longer, and one that goes on later commits nothing.
    static func run<Value>(
        on connection: Connection, _ locks: [Statement], timeLeft: Duration, until deadline: ContinuousClock.Instant,
        _ body: (Transaction) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let transaction = Transaction(connection, timeLimit(timeLeft), locks, until: deadline)
        do throws(DatabaseError) {
            let value = try body(transaction)
            try transaction.commit()
            return value
        } catch {
            try transaction.rollBack(after: error)
            throw error
        }
    }

    /// Ends the transaction when so much time has passed since its beginning, by the server's own clock: from here on whatever
    /// runs then is given up, and whoever has nothing run then is disconnected. Later than that, it fails itself: no time is
    /// left, and 0 would mean no limit.
    static func timeLimit(_ duration: Duration) -> Statement {
        let (seconds, attoseconds) = duration.components
        return Statement(limiting, max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    private static let limiting = Template(
        """
        SELECT set_config('statement_timeout', coalesce(nullif(v.ms, 0), -1)::text, true),
            set_config('idle_in_transaction_session_timeout', coalesce(nullif(v.ms, 0), -1)::text, true)
        FROM (SELECT $1::bigint
            - (extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000)::bigint AS ms) AS v
        """)

    /// Runs statements, after those that wait, in one round trip. The server waits for the next one as long as there is time
    /// then, and not as long as there was at the beginning.
    func run(_ statements: [Statement]) throws(DatabaseError) -> [Rows] {
        try send(statements, then: [limit], commits: false)
    }

    private func send(
        _ statements: [Statement], then end: [Statement], commits: Bool
    ) throws(DatabaseError) -> [Rows] {
        let prefix = waiting
        waiting = []
        isOpen = true
        let rows = try connection.run(prefix + statements + end, commits: commits, until: deadline)
        return Array(rows.dropFirst(prefix.count).prefix(statements.count))
    }

    /// Runs one statement, after those that wait.
    func run(_ statement: Statement) throws(DatabaseError) -> Rows {
        guard let rows = try run([statement]).first else { throw .lost("an answer is missing") }
        return rows
    }

    /// Has a statement run with the next ones, at the commit at the latest. Nobody needs its answer.
    func add(_ statement: Statement) { waiting.append(statement) }

    private func commit() throws(DatabaseError) {
        // Nothing was asked: there is nothing to commit.
        guard isOpen || waiting.count > beginningCount else { return }
        // What was written last may have waited until it was too late.
        _ = try send([], then: [limit, Statement("COMMIT")], commits: true)
        isOpen = false
    }

    private func rollBack(after error: DatabaseError) throws(DatabaseError) {
        guard isOpen, error.consequence != .distrustsConnection else { return }
        _ = try connection.run([Statement("ROLLBACK")], commits: false, until: deadline)
    }
}
