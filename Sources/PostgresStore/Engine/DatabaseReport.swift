internal import Migrations
public import Sessions
public import StoreFoundation

extension PostgresStore {
    /// The state of a database, for operators. It is read in a read-only transaction, also while nodes serve the database. It
    /// migrates no table and creates none.
    public struct DatabaseReport: Sendable {
        /// The contents of a database on which the program could serve.
        public struct Contents: Sendable {
            /// Its settings.
            public var settings: Settings
            /// Its clients.
            public var clients: [Client]
            /// Its signing keys, sealed.
            public var keys: [StoredSigningKey]
            /// The progress of each delivery, by name.
            public var deliveries: [String: DeliveryProgress]
        }

        /// The version of the server.
        public var serverVersion: String
        /// The server's name, its address, or the folder of its socket.
        public var host: String
        /// Whether the connection to the server is encrypted.
        public var isEncrypted: Bool
        /// The difference between this machine's clock and the server's.
        public var clockSkew: ClockSkew
        /// What a fail-over can lose; nil until it was read.
        public var durability: PostgresStore.DurabilityReport?
        /// The number of applied migrations; 0 for an empty database.
        public var appliedCount: Int
        /// The time of the last applied migration.
        public var lastAppliedAt: Instant?
        /// The migrations that the next start would apply.
        public var missing: [PlannedMigration]
        /// The names of the applied migrations that the program does not know; empty if there are none.
        public var newerNames: [String]
        /// The contents; nil while a migration is missing for which a start would wait.
        public var contents: Contents?
    }
}

extension PostgresStore.DatabaseReport {
    /// Reads the database that `url` names. Throws the error with which a start would refuse the database. Blocks the thread.
    public init(url: String, options: PostgresStore.Options) throws(PostgresStore.OpenError) {
        try self.init(url: url, options: options, migrations: Migration.all)
    }

    init(url: String, options: PostgresStore.Options, migrations: [Migration]) throws(PostgresStore.OpenError) {
        let connection = try PostgresStore.connect(url: url, options: options)
        let durability = try PostgresStore.OpenError.mapping(url) { () throws(DatabaseError) in
            try PostgresStore.DurabilityReport(of: connection, url: url, options, until: options.connectDeadline)
        }
        let runner = MigrationRunner(migrations: migrations, options: options)
        self = try PostgresStore.OpenError.mapping(url) { () throws(DatabaseError) in
            // The time limit is long, because counting rows takes as long as reading them.
            try Transaction.run(
                on: connection, [Statement("SET TRANSACTION READ ONLY")], timeLeft: .seconds(600),
                until: options.now() + .seconds(600)
            ) { (transaction) throws(DatabaseError) in try Self.read(transaction, runner, options.clock) }
        }.get()
        (host, isEncrypted, self.durability) = (connection.host, connection.isEncrypted, durability)
    }

    private static func read(
        _ transaction: Transaction, _ runner: MigrationRunner, _ clock: WallClock
    ) throws(DatabaseError) -> Result<Self, PostgresStore.OpenError> {
        let version = try transaction.run(Statement("SELECT current_setting('server_version')"))
            .first { row in row.text() }
        let skew = try ClockSkew(of: clock) { (statement) throws(DatabaseError) in try transaction.run(statement) }
        return try runner.examine(transaction).mapping { (findings) throws(DatabaseError) in
            let (applied, standing) = (findings.applied, findings.standing)
            let missing = try runner.plan(transaction, standing)
            let isServed = standing.missing.allSatisfy(\.postgres.isConcurrent)
            return Self(
                serverVersion: version ?? "", host: "", isEncrypted: false, clockSkew: skew,
                appliedCount: applied.count,
                lastAppliedAt: applied.last?.appliedAt, missing: missing, newerNames: standing.newerNames,
                contents: isServed ? try contents(transaction) : nil)
        }
    }

    private static func contents(_ transaction: Transaction) throws(DatabaseError) -> Contents {
        let rows = try transaction.run([
            CatalogueCache.revision, CatalogueSQL.selectSettings, CatalogueSQL.selectClients,
            KeySQL.selectSigningKeys, DeliverySQL.selectAll,
        ])
        let catalogue = try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
        return Contents(
            settings: catalogue.settings, clients: Array(catalogue.clients.values),
            keys: try rows[3].map { row in SigningKeyColumns.read(&row) },
            deliveries: try DeliverySQL.read(rows[4]))
    }
}

extension Result {
    /// Like `map`, for a throwing transformation.
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
    /// The plan of missing migrations, with the tables that they change and their row counts.
    func plan(
        _ transaction: Transaction, _ standing: Migration.Standing
    ) throws(DatabaseError) -> [PlannedMigration] {
        var plan: [PlannedMigration] = []
        var refused: Int?
        if case .waits(let early, _) = standing.next(in: .start) { refused = early.version }
        for migration in standing.missing {
            var tables: [PlannedMigration.Table] = []
            for table in migration.postgres.tables {
                tables.append(.init(name: table, rows: try Self.rowCount(of: table, transaction)))
            }
            plan.append(
                PlannedMigration(
                    version: migration.version, name: migration.name, effect: migration.postgres.sentence,
                    tables: tables,
                    growsWithRows: migration.postgres.growsWithRowsOnPostgres,
                    lock: migration.postgres.lock + (migration.version == refused ? Self.refusal : "")))
        }
        return plan
    }

    /// What is said of a step that drops what nodes may still use.
    private static let refusal =
        "; a start is refused: let all nodes run the release before first, or stop them and run 'sojourn migrate --contract'"

    /// The number of rows of a table; 0 for a table that an earlier step of the plan will create.
    private static func rowCount(of table: String, _ transaction: Transaction) throws(DatabaseError) -> Int64 {
        let found = try transaction.run(Statement("SELECT to_regclass($1::text) IS NOT NULL", "\"\(table)\""))
        guard try found.first({ row in row.bool() }) == true else { return 0 }
        return try transaction.run(Statement("SELECT count(*) FROM \"\(table)\"")).first { row in row.integer() } ?? 0
    }
}

extension Migration.Script {
    /// Whether the duration grows with the number of rows. A dropped column changes only the catalogue, and a dropped index or
    /// table only removes its file.
    fileprivate var growsWithRowsOnPostgres: Bool {
        effects.contains { $0.kind == .addsIndexes || $0.kind == .addsIndexesConcurrently }
    }

    /// The locks of the migration, and the work that waits for them.
    fileprivate var lock: String {
        if isConcurrent {
            return "locks nothing: 'migrate' builds it, or else a node after its start; nodes go on meanwhile"
        }
        let locks = effects.compactMap(\.postgresLock)
        return locks.isEmpty ? "locks nothing that is there; nodes go on meanwhile" : locks.joined(separator: "; ")
    }
}

extension Migration.Effect {
    /// Nil for new tables, because no node uses them yet.
    fileprivate var postgresLock: String? {
        let list = tables.joined(separator: ", ")
        return switch kind {
        case .addsTables, .addsIndexesConcurrently, .retires: nil
        case .addsColumns, .dropsColumns, .dropsIndexes, .dropsTables:
            "locks \(list) for milliseconds whatever it holds; nodes wait as long, and at most a second while something "
                + "else holds the lock back, after which it is tried again"
        case .addsIndexes:
            "locks \(list) against changes until every row is read; nodes wait meanwhile, and answer 503 to what waits too "
                + "long"
        }
    }
}
