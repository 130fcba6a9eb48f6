internal import CSQLite
internal import StoreFoundation

/// The present row of a statement, read column by column from the left.
/// Safe to use: the pointer stays in this file. It is valid while the statement stays at this row, which is as long as a reader
/// of `Connection` has it.
@safe struct Row: StoredRow {
    private let statement: Statement
    private var column: Int32 = 0
    /// The value of `column`. SQLite asks for a lock of the connection before such a value is read; the connection has one
    /// thread.
    private var value: OpaquePointer?

    init(_ statement: Statement) {
        self.statement = statement
        unsafe value = statement.value(in: 0)
    }

    mutating func skip(_ count: Int) {
        column += Int32(count)
        unsafe value = statement.value(in: column)
    }

    var isNull: Bool { unsafe value.map { unsafe sqlite3_value_type($0) == SQLITE_NULL } ?? true }

    var lastColumn: String { statement.name(of: column - 1).map { "column \($0)" } ?? "a column" }

    mutating func integer() -> Int64 {
        defer { skip(1) }
        return unsafe sqlite3_value_int64(value)
    }

    mutating func bool() -> Bool { integer() != 0 }

    mutating func text() -> String {
        defer { skip(1) }
        // Read as bytes, because SQLite would copy a text to append a NUL.
        let start = unsafe sqlite3_value_blob(value)
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    mutating func bytes() -> [UInt8] {
        defer { skip(1) }
        let start = unsafe sqlite3_value_blob(value)
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    }

    mutating func words() -> (high: UInt64, low: UInt64)? {
        defer { skip(1) }
        guard let start = unsafe sqlite3_value_blob(value), unsafe sqlite3_value_bytes(value) == 16 else { return nil }
        return unsafe (
            UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}
