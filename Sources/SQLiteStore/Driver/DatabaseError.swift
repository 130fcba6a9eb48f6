internal import CSQLite
internal import Sessions
internal import StoreFoundation

/// An error below the store. Its cases differ in their consequence.
enum DatabaseError: Error, Hashable {
    /// SQLite's extended result code and its text.
    case sqlite(code: Int32, message: String)
    /// A row that no version of this program has written.
    case contradiction(String)

    enum Consequence: Hashable {
        /// Only the failed change is concerned; the other changes of its batch can be committed.
        case failsChange
        /// The machine refuses: full disk, no memory. No change of the batch may be acknowledged.
        case failsBatch
        /// The disk failed. No change of the batch may be acknowledged, and the state of the connection is not reliable.
        case distrustsConnection
        /// The file is damaged. No change may be acknowledged from now on.
        case stopsStore
    }

    var consequence: Consequence {
        guard case .sqlite(let code, _) = self else { return .failsChange }
        switch code & 0xFF {
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_MISUSE, SQLITE_ERROR:
            return .failsChange
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .stopsStore
        case SQLITE_IOERR, SQLITE_CANTOPEN: return .distrustsConnection
        default: return .failsBatch
        }
    }

    /// Whether this error shows that the file is damaged.
    var showsDamage: Bool {
        if case .contradiction = self { return true }
        return consequence == .stopsStore
    }

    /// The error for the caller of the store.
    var storeError: StoreError {
        switch (self, consequence) {
        case (.contradiction(let text), _): .corrupted(text)
        case (.sqlite, .failsChange), (.sqlite, .stopsStore): .corrupted(description)
        case (.sqlite, .failsBatch), (.sqlite, .distrustsConnection): .unavailable(description)
        }
    }
}

extension DatabaseError: CustomStringConvertible {
    var description: String {
        switch self {
        case .sqlite(let code, let message): "SQLite: \(message) (code \(code))"
        case .contradiction(let text): text
        }
    }
}

extension DatabaseError {
    /// The result of `read` for the present row of `statement`. Corrupt rows become errors of the database. A row with another
    /// id than the requested one means that the file is damaged.
    static func reading<Value>(
        _ statement: Statement, _ read: (inout Row) throws(CorruptRow) -> Value
    ) throws(DatabaseError) -> Value {
        var row = Row(statement)
        do throws(CorruptRow) {
            return try read(&row)
        } catch {
            throw error.isOtherRow ? .sqlite(code: SQLITE_CORRUPT, message: error.text) : .contradiction(error.text)
        }
    }
}
