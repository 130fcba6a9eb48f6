internal import CSQLite

/// Copies the snapshot of a connection into a file, and checks the copy.
///
/// The copy shows one moment of the database despite concurrent writes, because one read transaction is open from the first
/// page to the last. The copy and the writer never wait for each other. The cost to the server is that the write-ahead log
/// cannot restart until the copy ends, and that both share the disk. The copy therefore works in small steps with pauses, and
/// syncs on the way. (`VACUUM INTO` would also write one snapshot, but in one statement that cannot pause, and it rebuilds
/// every index.)
struct DatabaseCopy {
    let options: CopyOptions
    var isCancelled: @Sendable () -> Bool = { false }

    /// Copies the snapshot of `source` into `draft`. The connection must have no open transaction.
    func copy(from source: Connection, to draft: DraftFile, named path: String) throws(BackupError) {
        try BackupError.mapping(path) { () throws(DatabaseError) in
            try source.run("BEGIN")
            // A deferred transaction takes its snapshot at the first read.
            _ = try source.first(Self.touch) { row in row.integer() }
        }
        defer { try? source.run("ROLLBACK") }
        let destination = try BackupError.mapping(path) { () throws(DatabaseError) in
            let connection = try Connection(path: draft.path, access: .readWrite, cacheKibibytes: 1024)
            // A failed copy deletes the draft, so the draft needs no rollback journal on disk. It is synced on the way and at
            // the end.
            try connection.run("PRAGMA journal_mode = MEMORY")
            try connection.run("PRAGMA synchronous = OFF")
            return connection
        }
        let pages = try BackupError.mapping(path) { () throws(DatabaseError) in
            try source.beginCopy(to: destination)
        }
        var steps = 0
        while true {
            if isCancelled() { throw .cancelled }
            let start = options.now()
            let isMore = try BackupError.mapping(path) { () throws(DatabaseError) in
                try pages.step(options.pagesPerStep)
            }
            options.progressed(CopyProgress(pages: pages.copied, pagesTotal: pages.pages))
            guard isMore else { return }
            steps += 1
            if steps % options.stepsPerSync == 0 { try draft.sync() }
            options.rest(options.now() - start)
        }
    }

    /// Reads the whole of a file that was just written, and throws if it is damaged.
    static func check(_ file: String, named path: String) throws(BackupError) {
        let found = try BackupError.mapping(path) { () throws(DatabaseError) in
            let connection = try Connection(path: file, access: .immutable, cacheKibibytes: 1024)
            return try connection.all(quickCheck) { row in row.text() }
        }
        if found != ["ok"] { throw .damaged(path: path, problem: found.joined(separator: "; ")) }
    }

    private static let touch = Query("SELECT count(*) FROM sqlite_schema")
    private static let quickCheck = Query("PRAGMA quick_check(3)")
}
