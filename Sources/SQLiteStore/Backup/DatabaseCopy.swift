internal import CSQLite

/// Copies the snapshot that a connection holds into a file, checks the copy, and gives it its name.
///
/// The copy is one moment of the database, whatever is written meanwhile: a read transaction is open from its first page
/// to its last. It never waits for the writer, nor the writer for it. What it costs the server is that the write-ahead log
/// cannot start anew until it is over, and that the disk is shared: hence the small steps with rests between them, and the
/// syncs on the way. (`VACUUM INTO` would also write one snapshot, in one statement that cannot rest, and build every
/// index anew.)
struct DatabaseCopy {
    let options: CopyOptions
    var isCancelled: @Sendable () -> Bool = { false }

    /// Copies what `source` sees into `draft`. The connection may hold no transaction.
    func copy(from source: Connection, to draft: DraftFile, named path: String) throws(BackupError) {
        try BackupError.mapping(path) { () throws(DatabaseError) in
            try source.run("BEGIN")
            // A deferred transaction takes its snapshot at the first read.
            _ = try source.first(Self.touch) { row in row.integer() }
        }
        defer { try? source.run("ROLLBACK") }
        let destination = try BackupError.mapping(path) { () throws(DatabaseError) in
            let connection = try Connection(path: draft.path, access: .readWrite, cacheKibibytes: 1024)
            // The draft goes when this fails, so nothing needs to be rolled back; it is synced on the way and at the end.
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

    /// Reads the whole of a file that was just written, or throws.
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
