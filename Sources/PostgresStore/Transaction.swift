/// What parts changes of several nodes that must not pass each other: locks of the server that live as long as their transaction.
/// Taken in this order, so that nobody waits in a circle; rows are locked between the first and the second.
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

/// A transaction of several round trips on one connection.
final class Transaction {
    private let connection: Connection
    private let deadline: ContinuousClock.Instant
    /// What goes out with the next round trip.
    private var waiting: [Statement]
    private var isOpen = false

    private init(_ connection: Connection, _ beginning: [Statement], until deadline: ContinuousClock.Instant) {
        self.connection = connection
        self.deadline = deadline
        waiting = [Statement("BEGIN")] + beginning
    }

    /// Runs `body` in a transaction, which is committed when it returns and rolled back when it throws. The server gives up on
    /// its own when `deadline` has come.
    static func run<Value>(
        on connection: Connection, _ locks: [Statement], timeLeft: Duration, until deadline: ContinuousClock.Instant,
        _ body: (Transaction) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let transaction = Transaction(connection, [timeLimit(timeLeft)] + locks, until: deadline)
        do throws(DatabaseError) {
            let value = try body(transaction)
            try transaction.commit()
            return value
        } catch {
            try transaction.rollBack(after: error)
            throw error
        }
    }

    /// No statement after this one takes longer, until the end of the transaction.
    static func timeLimit(_ duration: Duration) -> Statement {
        let (seconds, attoseconds) = duration.components
        let milliseconds = max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        return Statement(limiting, String(milliseconds))
    }

    private static let limiting = Template("SELECT set_config('statement_timeout', $1::text, true)")

    /// Runs statements, after those that wait, in one round trip.
    func run(_ statements: [Statement]) throws(DatabaseError) -> [Rows] { try run(statements, commits: false) }

    private func run(_ statements: [Statement], commits: Bool) throws(DatabaseError) -> [Rows] {
        let prefix = waiting
        waiting = []
        isOpen = true
        let rows = try connection.run(prefix + statements, commits: commits, until: deadline)
        return Array(rows.dropFirst(prefix.count))
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
        guard isOpen || waiting.count > 1 else { return }
        _ = try run([Statement("COMMIT")], commits: true)
        isOpen = false
    }

    private func rollBack(after error: DatabaseError) throws(DatabaseError) {
        guard isOpen, error.consequence != .distrustsConnection else { return }
        _ = try connection.run([Statement("ROLLBACK")], commits: false, until: deadline)
    }
}
