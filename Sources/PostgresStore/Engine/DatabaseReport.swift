internal import Migrations
public import Sessions
public import StoreFoundation

extension PostgresStore {
    /// What there is to know of a database, for who looks after it: read in a transaction that cannot write, whether nodes serve
    /// the database or not. Nothing is migrated, nothing made.
    public struct DatabaseReport: Sendable {
        /// What only an up-to-date database can be asked for.
        public struct Contents: Sendable {
            /// Its settings.
            public var settings: Settings
            /// Its clients.
            public var clients: [Client]
            /// Its signing keys, sealed.
            public var keys: [StoredSigningKey]
            /// How far each of its webhooks has come, by their names.
            public var webhooks: [String: WebhookProgress]
        }

        /// The version of the server.
        public var serverVersion: String
        /// The server's name, address, or folder of its socket.
        public var host: String
        /// Whether the connection to it is encrypted.
        public var isEncrypted: Bool
        /// How far this machine's clock is from the server's.
        public var clockSkew: ClockSkew
        /// How many migrations it has had; 0 for an empty one.
        public var appliedCount: Int
        /// When it had the last one.
        public var lastAppliedAt: Instant?
        /// The migrations that the next start would run.
        public var missing: [PlannedMigration]
        /// What it holds; nil as long as a migration is missing.
        public var contents: Contents?
    }
}

extension PostgresStore.DatabaseReport {
    /// Reads the database that `url` names. Refuses one that a start would refuse. Blocks while it does.
    public init(url: String, options: PostgresStore.Options) throws(PostgresStore.OpenError) {
        try self.init(url: url, options: options, migrations: Migration.all)
    }

    init(url: String, options: PostgresStore.Options, migrations: [Migration]) throws(PostgresStore.OpenError) {
        let connection = try PostgresStore.OpenError.mapping(url) { () throws(DatabaseError) in
            try Connection(
                url: url, patience: options.connectPatience, names: StatementNames(areUsed: false), now: options.now)
        }
        try ServerCheck.run(on: connection, url: url, until: options.now() + options.connectPatience)
        let runner = MigrationRunner(migrations: migrations, clock: options.clock, now: options.now)
        self = try PostgresStore.OpenError.mapping(url) { () throws(DatabaseError) in
            // Rows are counted, which takes as long as reading them.
            try Transaction.run(
                on: connection, [Statement("SET TRANSACTION READ ONLY")], timeLeft: .seconds(600),
                until: options.now() + .seconds(600)
            ) { (transaction) throws(DatabaseError) in try Self.read(transaction, runner, options.clock) }
        }.get()
        (host, isEncrypted) = (connection.host, connection.isEncrypted)
    }

    private static func read(
        _ transaction: Transaction, _ runner: MigrationRunner, _ clock: WallClock
    ) throws(DatabaseError) -> Result<Self, PostgresStore.OpenError> {
        let version = try transaction.run(Statement("SELECT current_setting('server_version')"))
            .first { row in row.text() }
        let skew = try ClockSkew(of: clock) { (statement) throws(DatabaseError) in try transaction.run(statement) }
        return try runner.examine(transaction).mapping { (applied) throws(DatabaseError) in
            let missing = try runner.plan(transaction, after: applied)
            return Self(
                serverVersion: version ?? "", host: "", isEncrypted: false, clockSkew: skew,
                appliedCount: applied.count,
                lastAppliedAt: applied.last?.appliedAt, missing: missing,
                contents: missing.isEmpty ? try contents(transaction) : nil)
        }
    }

    private static func contents(_ transaction: Transaction) throws(DatabaseError) -> Contents {
        let rows = try transaction.run([
            CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            KeySQL.selectSigningKeys, WebhookSQL.selectAll,
        ])
        let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
        return Contents(
            settings: catalogue.settings, clients: Array(catalogue.clients.values),
            keys: try rows[3].map { row in SigningKeyColumns.read(&row) },
            webhooks: try WebhookSQL.read(rows[4]))
    }
}

extension Result {
    /// `map`, of what may throw.
    fileprivate func mapping<NewSuccess, Problem>(
        _ transform: (Success) throws(Problem) -> NewSuccess
    ) throws(Problem) -> Result<NewSuccess, Failure> {
        switch self {
        case .success(let value): .success(try transform(value))
        case .failure(let failure): .failure(failure)
        }
    }
}

extension MigrationRunner {
    /// What `run` would apply to a database that has had `applied`, and what it would meet.
    func plan(_ transaction: Transaction, after applied: [Applied]) throws(DatabaseError) -> [PlannedMigration] {
        var plan: [PlannedMigration] = []
        for migration in migrations.dropFirst(applied.count) {
            var tables: [PlannedMigration.Table] = []
            for table in migration.postgres.tables {
                tables.append(.init(name: table, rows: try Self.rowCount(of: table, transaction)))
            }
            plan.append(
                PlannedMigration(
                    version: migration.version, name: migration.name, effect: migration.postgres.sentence,
                    tables: tables,
                    growsWithRows: migration.postgres.growsWithRowsOnPostgres, lock: migration.postgres.lock))
        }
        return plan
    }

    /// The rows of a table; 0 for one that an earlier step of the plan is going to make.
    private static func rowCount(of table: String, _ transaction: Transaction) throws(DatabaseError) -> Int64 {
        let found = try transaction.run(Statement("SELECT to_regclass($1::text) IS NOT NULL", "\"\(table)\""))
        guard try found.first({ row in row.bool() }) == true else { return 0 }
        return try transaction.run(Statement("SELECT count(*) FROM \"\(table)\"")).first { row in row.integer() } ?? 0
    }
}

extension Migration.Script {
    /// Whether it takes the longer, the more rows there are: a column is dropped from the catalogue alone, and an index or
    /// a table with its file.
    fileprivate var growsWithRowsOnPostgres: Bool {
        effects.contains { $0.kind == .addsIndexes }
    }

    /// What it locks, and who waits for it.
    fileprivate var lock: String {
        let locks = effects.compactMap(\.postgresLock)
        return locks.isEmpty ? "locks nothing that is there; nodes go on meanwhile" : locks.joined(separator: "; ")
    }
}

extension Migration.Effect {
    /// Nil for new tables, which nobody uses.
    fileprivate var postgresLock: String? {
        let list = tables.joined(separator: ", ")
        return switch kind {
        case .addsTables: nil
        case .addsColumns, .dropsColumns, .dropsIndexes, .dropsTables:
            "locks \(list) for milliseconds whatever it holds; nodes wait as long, and at most a second while something "
                + "else holds the lock back, after which it is tried again"
        case .addsIndexes:
            "locks \(list) against changes until every row is read; nodes wait meanwhile, and answer 503 to what waits too "
                + "long"
        }
    }
}
