internal import Dispatch
internal import Migrations
internal import StoreFoundation

/// Builds the indexes of a migration while nodes write their tables.
///
/// One process builds at a time: it holds an advisory lock in a transaction that does nothing else. Such a transaction has no
/// snapshot, for which the build would wait, and it keeps its server connection behind a pooler too. If the process ends, its
/// build goes on at the server. The next one waits for it, and builds an index again that was left invalid.
struct IndexBuild {
    let url: String
    let runner: MigrationRunner
    private var options: PostgresStore.Options { runner.options }

    /// Builds the missing indexes of `migration` and records it. False if another process builds one of them, or if an index
    /// cannot be used yet; then it has to be tried again.
    func attempt(_ migration: Migration) throws(DatabaseError) -> Bool {
        let holder = try connect()
        guard try hold(holder) else {
            runner.note(state: "another node builds the indexes of migration \(migration.version) \(migration.name)")
            return false
        }
        // The end of the connection is the end of the lock.
        defer { withExtendedLifetime(holder) {} }
        let builder = try connect()
        let indexes = migration.postgres.indexes ?? []
        for index in indexes {
            switch try state(of: index, builder) {
            case .usable: continue
            case .underConstruction:
                runner.note(state: "a build of \(index.name) that was begun before goes on")
                return false
            case .broken: guard try drop(index, on: builder) else { return false }
            case .missing: break
            }
            options.observer.noted("builds the index \(index.name) on \(index.table), and nodes go on meanwhile")
            try build(index, on: builder)
            options.observer.noted("has built the index \(index.name)")
        }
        return try record(migration, indexes, on: builder)
    }

    private func connect() throws(DatabaseError) -> Connection { try Connection(url: url, options) }

    /// The deadline of a statement that reads the catalogue of the server, or locks.
    private var soon: ContinuousClock.Instant { options.now() + .seconds(30) }

    /// Takes the lock until the end of the connection. False if another process has it.
    private func hold(_ holder: Connection) throws(DatabaseError) -> Bool {
        // The last statement takes no snapshot, and replaces the portal that keeps the one of the statement before it.
        let rows = try holder.run(
            [
                Statement("BEGIN"),
                Statement("SELECT pg_try_advisory_xact_lock($1::bigint)", TransactionLock.indexes.rawValue),
                Statement("SET LOCAL idle_in_transaction_session_timeout = 0"),
            ], commits: false, until: soon)
        return try rows[1].first { row in row.bool() } == true
    }

    private enum State {
        case missing
        case usable
        case broken
        case underConstruction
    }

    private func state(of index: Migration.Index, _ connection: Connection) throws(DatabaseError) -> State {
        let rows = try connection.read(
            [Self.validity(of: index), Self.progress(on: index.table)], until: soon)
        if try rows[1].first({ _ in true }) != nil { return .underConstruction }
        guard let isUsable = try rows[0].first({ row in row.bool() }) else { return .missing }
        return isUsable ? .usable : .broken
    }

    private static func validity(of index: Migration.Index) -> Statement {
        Statement("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1::text)", "\"\(index.name)\"")
    }

    /// The builds on a table: their phase and their share of all blocks in percent.
    static func progress(on table: String) -> Statement {
        Statement(
            """
            SELECT phase, coalesce(100 * blocks_done / nullif(blocks_total, 0), 0) FROM pg_stat_progress_create_index
            WHERE datname = current_database() AND relid = to_regclass($1::text)
            """, "\"\(table)\"")
    }

    /// Drops an index that an interrupted build has left. False if the lock cannot be had now. No build can go on after this
    /// transaction has its lock on the table, and the index is looked at again under it.
    private func drop(_ index: Migration.Index, on connection: Connection) throws(DatabaseError) -> Bool {
        options.observer.noted("drops the index \(index.name), which an interrupted build has left")
        func drop(_ transaction: Transaction) throws(DatabaseError) -> Bool {
            transaction.add(MigrationRunner.lockPatience)
            transaction.add(Statement("LOCK TABLE \"\(index.table)\" IN SHARE UPDATE EXCLUSIVE MODE"))
            let isUsable = try transaction.run(Self.validity(of: index)).first { row in row.bool() }
            if isUsable == false { transaction.add(Statement("DROP INDEX \"\(index.name)\"")) }
            return isUsable != true
        }
        do throws(DatabaseError) {
            return try alone(connection, drop)
        } catch {
            if error.isLockTimeout { return false }
            throw error
        }
    }

    /// Runs `body` in a transaction beside which no migration is applied.
    private func alone(
        _ connection: Connection, _ body: (Transaction) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Bool {
        try Transaction.run(
            on: connection, [TransactionLock.migrations.alone], timeLeft: .seconds(30), until: soon, body)
    }

    /// Builds the index, however long it takes. A second thread tells of the progress.
    private func build(_ index: Migration.Index, on connection: Connection) throws(DatabaseError) {
        let (hasEnded, isQuiet) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reporter = try connect()
        DispatchQueue(label: "database index progress").async {
            while hasEnded.wait(timeout: .now() + 5) == .timedOut { tell(index, reporter) }
            isQuiet.signal()
        }
        defer {
            hasEnded.signal()
            isQuiet.wait()
        }
        _ = try connection.run([Statement(index.statement)], commits: true, until: options.now() + .seconds(31_536_000))
    }

    private func tell(_ index: Migration.Index, _ reporter: Connection) {
        let rows = try? reporter.read([Self.progress(on: index.table)], until: soon)
        let sentence = try? rows?.first?.first { row in "\(row.text()), \(row.integer()) %" }
        if let sentence { options.observer.noted("the index \(index.name): \(sentence)") }
    }

    /// Records the migration if all its indexes can be used.
    private func record(
        _ migration: Migration, _ indexes: [Migration.Index], on connection: Connection
    ) throws(DatabaseError) -> Bool {
        func record(_ transaction: Transaction) throws(DatabaseError) -> Bool {
            for index in indexes {
                let isUsable = try transaction.run(Self.validity(of: index)).first { row in row.bool() }
                guard isUsable == true else { return false }
            }
            guard case .success(let findings) = try runner.examine(transaction) else { return false }
            if findings.standing.missing.contains(where: { $0.version == migration.version }) {
                transaction.add(runner.record(of: migration, findings.standing))
            }
            return true
        }
        return try alone(connection, record)
    }
}

/// Builds missing indexes beside a node that serves, on a thread of its own. A failure is told and tried again.
final class IndexBuilds: Sendable {
    private let url: String
    private let runner: MigrationRunner
    private let isStopped = DispatchSemaphore(value: 0)

    init(url: String, runner: MigrationRunner) {
        self.url = url
        self.runner = runner
    }

    /// Begins. Does nothing if no index is missing.
    func begin() {
        DispatchQueue(label: "database index builds").async { [self] in
            var failures = 0
            var pause = Self.pause(after: 0)
            repeat {
                do throws(DatabaseError) {
                    guard let migration = try next() else { return }
                    let isBuilt = try IndexBuild(url: url, runner: runner).attempt(migration)
                    failures = 0
                    pause = isBuilt ? 0 : Self.pause(after: 0)
                } catch {
                    pause = Self.pause(after: failures)
                    failures += 1
                    runner.options.observer.failed(Self.sentence(error, triedAgainIn: pause))
                }
            } while isStopped.wait(timeout: .now() + .seconds(pause)) == .timedOut
        }
    }

    /// The pause after so many failures in a row and one attempt more, in seconds. It doubles, because an attempt reads the whole
    /// table, and a cause such as a full disk may need an operator.
    static func pause(after failures: Int) -> Int { min(3600, 5 << min(failures, 10)) }

    /// The sentence for the log about a build that failed.
    static func sentence(_ error: DatabaseError, triedAgainIn pause: Int) -> String {
        var remedy = ""
        if case .refused("57014", _) = error {
            remedy =
                "; if the database's user has a statement_timeout, set none (ALTER ROLE ... SET statement_timeout = 0)"
        }
        return "an index cannot be built, and is tried again in \(pause) s: \(error.description)\(remedy)"
    }

    /// Ends before the next attempt. A build that is under way at the server goes on.
    func stop() { isStopped.signal() }

    /// The first migration with missing indexes.
    private func next() throws(DatabaseError) -> Migration? {
        let options = runner.options
        let connection = try Connection(url: url, options)
        let findings = try Transaction.read(
            on: connection, timeLeft: .seconds(30), until: options.now() + .seconds(30), runner.examine)
        guard case .success(let found) = findings else { return nil }
        return found.standing.missing.first { $0.postgres.isConcurrent }
    }
}
