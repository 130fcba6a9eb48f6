internal import CSQLite
internal import Sessions

/// A prepared statement: bind every parameter, step through the rows, reset.
/// Safe to use: the pointer stays in this file, and is valid from init to deinit.
@safe final class Statement {
    fileprivate let handle: OpaquePointer

    /// Takes over a statement that was just prepared.
    init(_ handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    deinit { unsafe sqlite3_finalize(handle) }

    /// How many values the statement wants.
    var parameterCount: Int32 { unsafe sqlite3_bind_parameter_count(handle) }

    /// Moves to the next row; false when there is none.
    func step() throws(DatabaseError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            throw .sqlite(code: code, message: unsafe String(cString: sqlite3_errmsg(sqlite3_db_handle(handle))))
        }
    }

    /// Makes the statement ready for the next use. What `step` threw is not told again.
    func reset() { unsafe sqlite3_reset(handle) }
}

/// A value that a statement's parameter can have.
protocol Bindable {
    /// Gives the parameter number `index`, from 1, this value; returns SQLite's result code.
    func bind(to statement: Statement, at index: Int32) -> Int32
}

extension Int64: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        unsafe sqlite3_bind_int64(statement.handle, index, self)
    }
}

extension Int: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { Int64(self).bind(to: statement, at: index) }
}

extension UInt64: Bindable {
    /// The same 64 bits: serials stay below 2^63, and of hashes only equality is asked.
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        Int64(bitPattern: self).bind(to: statement, at: index)
    }
}

extension Bool: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        Int64(self ? 1 : 0).bind(to: statement, at: index)
    }
}

extension String: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        // An empty text has no address, and no address would mean null.
        if isEmpty { return unsafe CSQLite_bind_text(statement.handle, index, "", 0) }
        var text = self
        return text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
                unsafe CSQLite_bind_text(statement.handle, index, characters.baseAddress, UInt64(characters.count))
            }
        }
    }
}

extension [UInt8]: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        if isEmpty { return unsafe sqlite3_bind_zeroblob(statement.handle, index, 0) }
        return unsafe withUnsafeBytes { bytes in
            unsafe CSQLite_bind_blob(statement.handle, index, bytes.baseAddress, UInt64(bytes.count))
        }
    }
}

extension Identifier: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { bytes.bind(to: statement, at: index) }
}

extension Instant: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        secondsSinceEpoch.bind(to: statement, at: index)
    }
}

extension Duration: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 { wholeSeconds.bind(to: statement, at: index) }
}

extension Optional: Bindable where Wrapped: Bindable {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        guard let self else { return unsafe sqlite3_bind_null(statement.handle, index) }
        return self.bind(to: statement, at: index)
    }
}

/// The present row of a statement, read column by column from the left.
struct Row {
    private let statement: Statement
    private var column: Int32 = 0

    init(_ statement: Statement) { self.statement = statement }

    private mutating func nextColumn() -> Int32 {
        defer { column += 1 }
        return column
    }

    /// Goes past `count` columns.
    mutating func skip(_ count: Int32) { column += count }

    /// Whether the next column is null; does not go past it.
    var isNull: Bool { unsafe sqlite3_column_type(statement.handle, column) == SQLITE_NULL }

    mutating func integer() -> Int64 { unsafe sqlite3_column_int64(statement.handle, nextColumn()) }

    mutating func bool() -> Bool { integer() != 0 }

    /// The 64 bits as `UInt64` was bound.
    mutating func unsigned() -> UInt64 { UInt64(bitPattern: integer()) }

    mutating func instant() -> Instant { Instant(secondsSinceEpoch: integer()) }

    mutating func duration() -> Duration { .seconds(integer()) }

    mutating func text() -> String {
        let column = nextColumn()
        guard let start = unsafe sqlite3_column_text(statement.handle, column) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(statement.handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    mutating func bytes() -> [UInt8] {
        let column = nextColumn()
        let start = unsafe sqlite3_column_blob(statement.handle, column)
        let count = Int(unsafe sqlite3_column_bytes(statement.handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The identifier in the next column. One that is `known`, because the statement asked for it, is compared: an index
    /// that is damaged can lead to somebody else's row.
    mutating func identifier<Subject>(_ known: Identifier<Subject>?) throws(DatabaseError) -> Identifier<Subject> {
        if let known {
            let column = nextColumn()
            guard unsafe sqlite3_column_bytes(statement.handle, column) == 16,
                let start = unsafe sqlite3_column_blob(statement.handle, column),
                unsafe known.words.high
                    == UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
                unsafe known.words.low
                    == UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            else {
                throw .sqlite(code: SQLITE_CORRUPT, message: "an index leads to another row in \(place(of: column))")
            }
            return known
        }
        guard let identifier = Identifier<Subject>(bytes: bytes()) else {
            throw .contradiction("an identifier in \(place(of: column - 1)) is not 16 bytes long")
        }
        return identifier
    }

    /// One of the words of an enumeration.
    mutating func word<Word: RawRepresentable<String>>(as: Word.Type) throws(DatabaseError) -> Word {
        let text = text()
        guard let word = Word(rawValue: text) else {
            throw .contradiction("'\(text)' in \(place(of: column - 1)) is none of its words")
        }
        return word
    }

    /// Nil for null, else what `read` reads.
    mutating func optional<Value>(
        _ read: (inout Row) throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value? {
        if isNull {
            skip(1)
            return nil
        }
        return try read(&self)
    }

    mutating func optionalText() -> String? {
        if isNull {
            skip(1)
            return nil
        }
        return text()
    }

    private func place(of column: Int32) -> String {
        unsafe sqlite3_column_name(statement.handle, column).map { unsafe "column \(String(cString: $0))" }
            ?? "a column"
    }
}
