internal import CSQLite

/// A text of SQL that a connection prepares once and keeps. Made as static constants: its identity is the cache's key.
final class Query: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

/// One SQLite connection. It belongs to one thread at a time: whoever shares it keeps it in a `Locked`.
/// Safe to use: the pointer never leaves, and is valid from init to deinit.
@safe final class Connection {
    private let handle: OpaquePointer
    private var statements: [ObjectIdentifier: Statement] = [:]

    /// How a file is opened.
    enum Access {
        case readWrite
        case readOnly
        /// Without locks, log and shared memory: for a file that nobody writes, and that has no log.
        case immutable
    }

    /// Opens the database at `path`, which must exist.
    init(path: String, access: Access, cacheKibibytes: Int) throws(DatabaseError) {
        var opened: OpaquePointer?
        let (name, mode) =
            switch access {
            case .readWrite: (path, SQLITE_OPEN_READWRITE)
            case .readOnly: (path, SQLITE_OPEN_READONLY)
            case .immutable: (Self.immutableURI(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        // NOMUTEX: one thread at a time uses the connection, so SQLite need not lock at every call.
        let code = unsafe sqlite3_open_v2(name, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard let handle = unsafe opened else {
            throw .sqlite(code: code, message: "no memory for a connection")
        }
        unsafe self.handle = unsafe handle
        guard code == SQLITE_OK else { throw error(code) }
        unsafe sqlite3_busy_timeout(handle, 2000)
        // A file that somebody else has prepared must not run code of its own through triggers, views or the schema.
        for (flag, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_DQS_DML, 0),
        ] as [(Int32, Int32)] {
            try check(unsafe CSQLite_set_flag(handle, flag, value))
        }
        try run("PRAGMA temp_store = MEMORY")
        // No memory map: an error of the disk would be a signal instead of a result code.
        try run("PRAGMA mmap_size = 0")
        try run("PRAGMA cache_size = -\(cacheKibibytes)")
        // A page's cells are checked when it comes from the disk: damage is found sooner.
        try run("PRAGMA cell_size_check = ON")
        // Checkpoints are made by the writer alone, and there between batches, not inside a commit.
        try run("PRAGMA wal_autocheckpoint = 0")
    }

    private static func immutableURI(_ path: String) -> String {
        let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("#", with: "%23")
        return "file:\(escaped)?immutable=1"
    }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    /// Runs a text of SQL without values.
    func run(_ text: String) throws(DatabaseError) {
        try check(unsafe sqlite3_exec(handle, text, nil, nil, nil))
    }

    /// Runs `query` for its effect; returns the number of rows that it changed.
    @discardableResult
    func execute<each Value: Bindable>(_ query: Query, _ values: repeat each Value) throws(DatabaseError) -> Int {
        let statement = try prepared(query)
        defer { statement.reset() }
        try bind(statement, repeat each values)
        while try statement.step() {}
        return Int(unsafe sqlite3_changes64(handle))
    }

    /// The first row of the answer, read by `read`.
    func first<Item, each Value: Bindable>(
        _ query: Query, _ values: repeat each Value, read: (inout Row) throws(DatabaseError) -> Item
    ) throws(DatabaseError) -> Item? {
        let statement = try prepared(query)
        defer { statement.reset() }
        try bind(statement, repeat each values)
        guard try statement.step() else { return nil }
        var row = Row(statement)
        return try read(&row)
    }

    /// Every row of the answer, read by `read`.
    func all<Item, each Value: Bindable>(
        _ query: Query, _ values: repeat each Value, read: (inout Row) throws(DatabaseError) -> Item
    ) throws(DatabaseError) -> [Item] {
        let statement = try prepared(query)
        defer { statement.reset() }
        try bind(statement, repeat each values)
        var items: [Item] = []
        while try statement.step() {
            var row = Row(statement)
            items.append(try read(&row))
        }
        return items
    }

    /// The integer that a text of SQL answers, which is not kept.
    func integer(_ text: String) throws(DatabaseError) -> Int64? {
        let query = Query(text)
        // Before the query goes, whose identity another one can then have.
        defer { statements[ObjectIdentifier(query)] = nil }
        return try first(query) { row in row.integer() }
    }

    /// Whether a transaction is open: SQLite rolls back by itself after some errors.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// How many rows have been changed since the connection was opened.
    var totalChanges: Int64 { unsafe sqlite3_total_changes64(handle) }

    /// How many pages have been written to the write-ahead log since the last call.
    func takePagesWritten() -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        let reset: Int32 = 1
        unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, reset)
        return Int(current)
    }

    /// How a checkpoint went.
    struct Checkpoint {
        var framesInLog: Int
        var framesCopied: Int
    }

    /// Copies the write-ahead log into the database, as far as `mode` and the readers allow.
    func checkpoint(_ mode: Int32) throws(DatabaseError) -> Checkpoint {
        var inLog: Int32 = 0
        var copied: Int32 = 0
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, &inLog, &copied))
        return Checkpoint(framesInLog: Int(inLog), framesCopied: Int(copied))
    }

    /// Begins to copy the database of this connection, page by page, over that of `destination`. With a transaction open
    /// here, what is copied is its snapshot, however long it takes.
    func beginCopy(to destination: Connection) throws(DatabaseError) -> PageCopy {
        guard let copy = unsafe sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.error(unsafe sqlite3_extended_errcode(destination.handle))
        }
        return unsafe PageCopy(copy)
    }

    private func prepared(_ query: Query) throws(DatabaseError) -> Statement {
        if let statement = statements[ObjectIdentifier(query)] { return statement }
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            handle, query.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared = unsafe prepared else { throw error(code) }
        let statement = unsafe Statement(prepared)
        statements[ObjectIdentifier(query)] = statement
        return statement
    }

    private func bind<each Value: Bindable>(
        _ statement: Statement, _ values: repeat each Value
    ) throws(DatabaseError) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try check(value.bind(to: statement, at: index))
        }
        assert(index == statement.parameterCount, "a value for every parameter")
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func error(_ code: Int32) -> DatabaseError {
        .sqlite(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)))
    }
}
