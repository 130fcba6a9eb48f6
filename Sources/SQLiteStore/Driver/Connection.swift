internal import CSQLite
internal import StoreFoundation

/// One SQLite connection. One thread at a time uses it; a shared connection is in a `Locked`.
/// Safe to use: the pointer stays in this type, and is valid from init to deinit.
@safe final class Connection {
    private let handle: OpaquePointer
    /// The prepared statements, each at the number of its query.
    private var statements: [Statement?] = []

    /// The mode in which a file is opened.
    enum Access {
        case readWrite
        case readOnly
        /// Without locks, log and shared memory, for a file that no process writes and that has no log.
        case immutable
    }

    /// Runs once in a process.
    private static let settingUp: Void = CSQLite_stop_counting_memory()

    /// Opens the database at `path`, which must exist.
    init(path: String, access: Access, cacheKibibytes: Int) throws(DatabaseError) {
        Self.settingUp
        var opened: OpaquePointer?
        let (name, mode) =
            switch access {
            case .readWrite: (path, SQLITE_OPEN_READWRITE)
            case .readOnly: (path, SQLITE_OPEN_READONLY)
            case .immutable: (Self.immutableURI(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        // NOMUTEX, because one thread at a time uses the connection and SQLite need not lock at every call.
        let code = unsafe sqlite3_open_v2(name, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard let handle = unsafe opened else {
            throw .sqlite(code: code, message: "no memory for a connection")
        }
        unsafe self.handle = unsafe handle
        guard code == SQLITE_OK else { throw error(code) }
        unsafe sqlite3_busy_timeout(handle, 2000)
        // A prepared malicious file must not run code through triggers, views or the schema.
        for (flag, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_DQS_DML, 0),
        ] as [(Int32, Int32)] {
            try check(unsafe CSQLite_set_flag(handle, flag, value))
        }
        try run("PRAGMA temp_store = MEMORY")
        // No memory map, because an error of the disk would then be a signal instead of a result code.
        try run("PRAGMA mmap_size = 0")
        try run("PRAGMA cache_size = -\(cacheKibibytes)")
        // SQLite checks a page's cells when it reads the page, so that damage is found sooner.
        try run("PRAGMA cell_size_check = ON")
        // Only the writer makes checkpoints, between batches and not inside a commit.
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

    /// Runs SQL text without values.
    func run(_ text: String) throws(DatabaseError) {
        try check(unsafe sqlite3_exec(handle, text, nil, nil, nil))
    }

    /// Runs `query` for its effect. Returns the number of changed rows.
    @discardableResult
    func execute<each Value: Bindable>(_ query: Query, _ values: repeat each Value) throws(DatabaseError) -> Int {
        let statement = try prepared(query)
        defer { statement.reset() }
        try bind(statement, repeat each values)
        return try run(statement)
    }

    /// Runs `query` for its effect, with the parameters that `write` binds. Returns the number of changed rows.
    @discardableResult
    func execute(_ query: Query, _ write: (inout Parameters) -> Void) throws(DatabaseError) -> Int {
        let statement = try prepared(query)
        defer { statement.reset() }
        var parameters = Parameters(of: statement)
        write(&parameters)
        try check(parameters.code)
        assert(parameters.count == statement.parameterCount, "a value for every parameter")
        return try run(statement)
    }

    private func run(_ statement: Statement) throws(DatabaseError) -> Int {
        while try statement.step() {}
        return Int(unsafe sqlite3_changes64(handle))
    }

    /// The first row of the result, read by `read`; nil if there is no row.
    func first<Item, each Value: Bindable>(
        _ query: Query, _ values: repeat each Value, read: (inout Row) throws(CorruptRow) -> Item
    ) throws(DatabaseError) -> Item? {
        let statement = try prepared(query)
        defer { statement.reset() }
        try bind(statement, repeat each values)
        guard try statement.step() else { return nil }
        return try DatabaseError.reading(statement, read)
    }

    /// Every row of the result, read by `read`.
    func all<Item, each Value: Bindable>(
        _ query: Query, _ values: repeat each Value, read: (inout Row) throws(CorruptRow) -> Item
    ) throws(DatabaseError) -> [Item] {
        let statement = try prepared(query)
        defer { statement.reset() }
        try bind(statement, repeat each values)
        var items: [Item] = []
        while try statement.step() { items.append(try DatabaseError.reading(statement, read)) }
        return items
    }

    /// The integer that SQL text returns. The statement is not cached.
    func integer(_ text: String) throws(DatabaseError) -> Int64? {
        let statement = try prepare(text, flags: 0)
        guard try statement.step() else { return nil }
        return try DatabaseError.reading(statement) { row in row.integer() }
    }

    /// Whether a transaction is open. SQLite rolls back by itself after some errors.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Begins a read transaction on the present state of the database.
    func beginSnapshot() throws(DatabaseError) {
        try execute(Self.begin)
        // A deferred transaction takes its snapshot at the first read.
        _ = try first(Self.touch) { row in row.integer() }
    }

    /// Ends the transaction of `beginSnapshot`.
    func endSnapshot() throws(DatabaseError) { try execute(Self.rollback) }

    /// The number of rows that were changed since the connection was opened.
    var totalChanges: Int64 { unsafe sqlite3_total_changes64(handle) }

    /// The number of pages that were written to the write-ahead log since the last call.
    func takePagesWritten() -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        let reset: Int32 = 1
        unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, reset)
        return Int(current)
    }

    /// Disables the final checkpoint: by default, the last connection copies the log and deletes it when it closes.
    func keepLogWhenClosed() { unsafe CSQLite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

    /// The result of a checkpoint.
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

    /// Waits until everything that any connection wrote to the database's file is durable.
    func syncFile() throws(DatabaseError) {
        let code = unsafe CSQLite_sync(handle)
        // The connection does not know of this call, so its error text would be that of an earlier call.
        guard code == SQLITE_OK else {
            throw .sqlite(code: code, message: unsafe String(cString: sqlite3_errstr(code)))
        }
    }

    /// Begins to copy the database of this connection, page by page, over that of `destination`. If a transaction is open here,
    /// the copy shows its snapshot, however long it takes.
    func beginCopy(to destination: Connection) throws(DatabaseError) -> PageCopy {
        guard let copy = unsafe sqlite3_backup_init(destination.handle, "main", handle, "main") else {
            throw destination.error(unsafe sqlite3_extended_errcode(destination.handle))
        }
        return unsafe PageCopy(copy)
    }

    private func prepared(_ query: Query) throws(DatabaseError) -> Statement {
        if query.number < statements.count, let statement = statements[query.number] { return statement }
        let statement = try prepare(query.text, flags: SQLITE_PREPARE_PERSISTENT)
        let missing = query.number + 1 - statements.count
        if missing > 0 { statements.append(contentsOf: repeatElement(nil, count: missing)) }
        statements[query.number] = statement
        return statement
    }

    private func prepare(_ text: String, flags: Int32) throws(DatabaseError) -> Statement {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, text, -1, UInt32(flags), &prepared, nil)
        guard code == SQLITE_OK, let prepared = unsafe prepared else { throw error(code) }
        return unsafe Statement(prepared)
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

    private static let begin = Query("BEGIN")
    private static let touch = Query("SELECT id FROM settings")
    private static let rollback = Query("ROLLBACK")
}
