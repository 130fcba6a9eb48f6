internal import CSQLite

/// A prepared statement: bind every parameter, step through the rows, reset.
@safe final class Statement {
    private let handle: OpaquePointer
    private let columnCount: Int32

    /// Takes ownership of a statement that was just prepared.
    init(_ handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
        columnCount = unsafe sqlite3_column_count(handle)
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// The number of parameters.
    var parameterCount: Int32 { unsafe sqlite3_bind_parameter_count(handle) }

    /// Moves to the next row. False when there is none.
    func step() throws(DatabaseError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            throw .sqlite(code: code, message: unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
        }
    }

    /// Prepares the statement for its next use. Does not throw the error of `step` again.
    func reset() { unsafe sqlite3_reset(handle) }

    /// The value in a column of the present row, until the next step or reset; nil after the last column.
    func value(in column: Int32) -> OpaquePointer? {
        column < columnCount ? unsafe sqlite3_column_value(handle, column) : nil
    }

    /// The name of a column in the result.
    func name(of column: Int32) -> String? {
        unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) }
    }

    // Each of these binds a value, which SQLite copies, to the parameter number `index`, from 1, and returns SQLite's result
    // code.

    func bindNull(at index: Int32) -> Int32 { unsafe sqlite3_bind_null(handle, index) }

    func bind(_ number: Int64, at index: Int32) -> Int32 { unsafe sqlite3_bind_int64(handle, index, number) }

    func bind(text: UnsafeBufferPointer<UInt8>, at index: Int32) -> Int32 {
        // An empty text has no address, and a null pointer would mean NULL.
        guard let start = text.baseAddress else { return unsafe CSQLite_bind_text(handle, index, "", 0) }
        return unsafe start.withMemoryRebound(to: CChar.self, capacity: text.count) { start in
            unsafe CSQLite_bind_text(handle, index, start, UInt64(text.count))
        }
    }

    func bind(bytes: UnsafeRawBufferPointer, at index: Int32) -> Int32 {
        guard let start = bytes.baseAddress else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
        return unsafe CSQLite_bind_blob(handle, index, start, UInt64(bytes.count))
    }
}
