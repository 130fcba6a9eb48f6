internal import Migrations
public import Sessions

extension SQLiteStore {
    /// Copies the database, as it is at the call, to a new file at `path`, while the store goes on. When the call returns, the
    /// file is complete, checked and durable, and contains every change that was acknowledged before the call.
    ///
    /// - Parameter replacing: whether an existing backup may be replaced; no other file is ever replaced.
    public func backUp(
        to path: String, replacing: Bool = false, by origin: Origin, _ options: CopyOptions = CopyOptions()
    ) async throws(BackupError) -> Backup {
        try turn.take()
        defer { turn.give() }
        let target = try Self.target(path, replacing: replacing, database: self.path)
        let start = options.now()
        let event = AuditEvent(.backupStarted, at: self.options.clock.now, by: origin, reason: target)
        // Written before the snapshot, because the newest event of a backup tells the time of the backup.
        do throws(StoreError) { try await append([event]) } catch { throw Self.error(error, target) }
        let database = self.path
        var hurrying = options
        // The log grows until the copy ends, because the copy shows one moment. So the copy makes no pauses beside a long log.
        hurrying.rest = { [longest = self.options.logWarningBytes] duration in
            if Self.logBytes(of: database) < longest { options.rest(duration) }
        }
        let copy = DatabaseCopy(options: hurrying, isCancelled: { [turn] in turn.isCancelled })
        let result: Result<Backup, BackupError> = await withCheckedContinuation { continuation in
            let hasStarted = BackgroundThread.start {
                continuation.resume(
                    returning: Result { () throws(BackupError) in
                        let source = try BackupError.mapping(target) { () throws(DatabaseError) in
                            try Connection(path: database, access: .readOnly, cacheKibibytes: 1024)
                        }
                        return try Self.copy(source, to: target, replacing: replacing, copy, start: start)
                    })
            }
            if !hasStarted {
                continuation.resume(returning: .failure(.failed(path: target, reason: "the system gives no thread")))
            }
        }
        return try result.get()
    }

    /// Copies a database that is not open, without migrating it, as a backup before an upgrade.
    public static func backUp(
        closed database: String, to path: String, replacing: Bool = false, by origin: Origin, clock: WallClock
    ) throws(BackupError) -> Backup {
        try backUp(
            closed: database, to: path, replacing: replacing, by: origin, clock: clock, migrations: Migration.all)
    }

    static func backUp(
        closed database: String, to path: String, replacing: Bool = false, by origin: Origin, clock: WallClock,
        migrations: [Migration]
    ) throws(BackupError) -> Backup {
        let start = ContinuousClock.now
        guard DatabaseFile.exists(database) else { throw .missing(path: database) }
        let database = try BackupError.opening { () throws(OpenError) in try DatabaseFile.resolve(database) }
        let lock = try BackupError.opening { () throws(OpenError) in
            try FileLock(path: database + ".lock", database: database)
        }
        defer { lock.release() }
        let target = try target(path, replacing: replacing, database: database)
        let source = try BackupError.opening { () throws(OpenError) in
            let connection = try OpenError.mapping(database) { () throws(DatabaseError) in
                try openWriter(path: database, Options(clock: clock))
            }
            let runner = MigrationRunner(migrations: migrations, clock: clock)
            guard try !runner.examine(connection, path: database).isEmpty else { throw .notADatabase(path: database) }
            try OpenError.mapping(database) { () throws(DatabaseError) in
                let event = AuditEvent(.backupStarted, at: clock.now, by: origin, reason: target)
                try EventRow.insertInAnyVersion(event, at: nil, connection)
            }
            return connection
        }
        return try copy(source, to: target, replacing: replacing, DatabaseCopy(options: .restless), start: start)
    }

    private static func copy(
        _ source: Connection, to target: String, replacing: Bool, _ copy: DatabaseCopy,
        start: ContinuousClock.Instant
    ) throws(BackupError) -> Backup {
        let draft = try DraftFile(of: target)
        do throws(BackupError) {
            try copy.copy(from: source, to: draft, named: target)
            try draft.sync()
            try DatabaseCopy.check(draft.path, named: target)
        } catch {
            if case .damaged(path: _, let problem) = error { throw .databaseDamaged(problem: problem) }
            throw error
        }
        if copy.isCancelled() { throw .cancelled }
        try draft.publish(replacing: replacing)
        return Backup(path: target, bytes: DatabaseFile.size(target), duration: copy.options.now() - start)
    }

    /// The resolved path of the backup, where a file may be created.
    private static func target(
        _ path: String, replacing: Bool, database: String
    ) throws(BackupError) -> String {
        let target = try BackupError.opening { () throws(OpenError) in try DatabaseFile.resolve(path) }
        let companions = ["", "-wal", "-shm", "-journal", ".lock", ".sock", ".clock", ".root-key"].map { database + $0 }
        for name in [target, DraftFile.path(of: target)]
        where companions.contains(name) || DatabaseFile.isSame(name, database) {
            throw .isTheDatabase(path: path)
        }
        if DatabaseFile.exists(target) {
            if !replacing { throw .exists(path: path) }
            guard DatabaseFile.isOurs(target) else { throw .notOurs(path: path) }
            // SQLite would take the log of a database that is open, or was not closed, for the backup's own.
            if DatabaseFile.size(target + "-wal") > 0 { throw .hasLog(path: path) }
        }
        let needed = DatabaseFile.size(database) + DatabaseFile.size(database + "-wal") + reserve
        if let free = DatabaseFile.freeBytes(besides: target), free < needed {
            throw .noRoom(path: path, needed: needed, free: free)
        }
        return target
    }

    /// The free space in bytes that a copy leaves at least, because the server often writes to the same disk.
    private static let reserve: Int64 = 64 << 20

    private static func error(_ error: StoreError, _ path: String) -> BackupError {
        switch error {
        case .unavailable(let reason), .corrupted(let reason): .failed(path: path, reason: reason)
        }
    }
}
