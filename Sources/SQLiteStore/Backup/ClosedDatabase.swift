internal import Migrations
public import Sessions
public import StoreFoundation

/// A database that no server has open, read under its lock without changes: it is neither migrated nor created.
public final class ClosedDatabase {
    private let connection: Connection
    private let path: String
    private let journalMode: String
    private let migrations: [Migration]
    private let lock: FileLock

    /// Opens the database at `path` for reading.
    public convenience init(path: String) throws(OpenError) { try self.init(path: path, migrations: Migration.all) }

    init(path givenPath: String, migrations: [Migration]) throws(OpenError) {
        let path = try DatabaseFile.resolve(givenPath)
        lock = try FileLock(path: path + ".lock", database: path)
        self.path = path
        self.migrations = migrations
        journalMode = DatabaseFile.isWriteAheadLogged(path) ? "wal" : "delete"
        // A log is part of the database. Without one the database is immutable, and SQLite need not even create shared memory.
        let hasLog = DatabaseFile.size(path + "-wal") > 0
        connection = try OpenError.mapping(path) { () throws(DatabaseError) in
            try Connection(path: path, access: hasLog ? .readOnly : .immutable, cacheKibibytes: 2048)
        }
    }

    /// Releases the lock on the database.
    public func close() { lock.release() }

    /// Examines the database. Takes as long as reading the whole file.
    public func diagnostics() throws(OpenError) -> Diagnostics {
        try OpenError.mapping(path) { () throws(DatabaseError) in
            try Diagnostics(of: connection, path: path, journalMode: journalMode)
        }
    }

    /// The migrations that the database has not applied. Refuses a foreign database, a newer one, and one with different
    /// migrations. Takes as long as reading the affected tables.
    public func plan() throws(OpenError) -> [PlannedMigration] { try runner.plan(on: connection, path: path) }

    /// The number of migrations that the next start would apply; 0 for an empty database, which needs no upgrade. Refuses as
    /// `plan` does.
    public func missingCount() throws(OpenError) -> Int {
        let missing = try runner.examine(connection, path: path).missing.count
        return missing == migrations.count ? 0 : missing
    }

    /// The names of the applied migrations that the program does not know; empty if there are none. Refuses as `plan` does.
    public func newerNames() throws(OpenError) -> [String] { try runner.examine(connection, path: path).newerNames }

    private var runner: MigrationRunner {
        MigrationRunner(migrations: migrations, clock: WallClock { Instant(secondsSinceEpoch: 0) })
    }

    /// Settings, clients and the sealed signing keys. The database must be up to date.
    public func contents() throws(OpenError) -> (settings: Settings, clients: [Client], keys: [StoredSigningKey]) {
        try OpenError.mapping(path) { () throws(DatabaseError) in
            let catalogue = try CatalogueRow.read(connection)
            let keys = try connection.all(KeyRow.selectSigningKeys) { row in SigningKeyColumns.read(&row) }
            return (catalogue.settings, Array(catalogue.clients.values), keys)
        }
    }

    /// The progress of each delivery, by name. The database must be up to date.
    public func deliveries() throws(OpenError) -> [String: DeliveryProgress] {
        try OpenError.mapping(path) { () throws(DatabaseError) in
            try DeliveryRow.readAll(connection)
        }
    }
}
