internal import Migrations
public import Sessions
public import StoreFoundation

/// A database that no server has open, looked at under its lock without changing it: nothing is migrated, nothing made.
public final class ClosedDatabase {
    private let connection: Connection
    private let path: String
    private let journalMode: String
    private let migrations: [Migration]
    private let lock: FileLock

    /// Opens the database at `path` to be read.
    public convenience init(path: String) throws(OpenError) { try self.init(path: path, migrations: Migration.all) }

    init(path givenPath: String, migrations: [Migration]) throws(OpenError) {
        let path = try DatabaseFile.resolve(givenPath)
        lock = try FileLock(path: path + ".lock", database: path)
        self.path = path
        self.migrations = migrations
        journalMode = DatabaseFile.isWriteAheadLogged(path) ? "wal" : "delete"
        // With a log, what is in it belongs to the database; without one, not even shared memory has to be made.
        let hasLog = DatabaseFile.size(path + "-wal") > 0
        connection = try OpenError.mapping(path) { () throws(DatabaseError) in
            try Connection(path: path, access: hasLog ? .readOnly : .immutable, cacheKibibytes: 2048)
        }
    }

    /// Lets the next process have the database.
    public func close() { lock.release() }

    /// Examines it; takes as long as reading the whole file.
    public func diagnostics() throws(OpenError) -> Diagnostics {
        try OpenError.mapping(path) { () throws(DatabaseError) in
            try Diagnostics(of: connection, path: path, journalMode: journalMode)
        }
    }

    /// The migrations that it has not had. Refuses a database that is not ours, is newer, or was built otherwise. Takes as long
    /// as reading what they touch.
    public func plan() throws(OpenError) -> [PlannedMigration] { try runner.plan(on: connection, path: path) }

    /// How many migrations the next start would bring it; 0 for an empty one, which has nothing to be brought up to date. Refuses
    /// as `plan` does.
    public func missingCount() throws(OpenError) -> Int {
        let applied = try runner.examine(connection, path: path)
        return applied.isEmpty ? 0 : migrations.count - applied.count
    }

    private var runner: MigrationRunner {
        MigrationRunner(migrations: migrations, clock: WallClock { Instant(secondsSinceEpoch: 0) })
    }

    /// What only an up-to-date database can be asked for: settings, clients and the sealed signing keys.
    public func contents() throws(OpenError) -> (settings: Settings, clients: [Client], keys: [StoredSigningKey]) {
        try OpenError.mapping(path) { () throws(DatabaseError) in
            let catalogue = try CatalogueRow.read(connection)
            let keys = try connection.all(KeyRow.selectSigningKeys) { row in SigningKeyColumns.read(&row) }
            return (catalogue.settings, Array(catalogue.clients.values), keys)
        }
    }

    /// How far each webhook of an up-to-date database has come, by their names.
    public func webhooks() throws(OpenError) -> [String: WebhookProgress] {
        try OpenError.mapping(path) { () throws(DatabaseError) in
            try WebhookRow.readAll(connection)
        }
    }
}
