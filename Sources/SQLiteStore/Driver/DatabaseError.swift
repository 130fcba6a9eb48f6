internal import CSQLite
internal import Sessions
internal import StoreFoundation

/// What went wrong below the store, sorted by what has to follow from it.
enum DatabaseError: Error, Hashable {
    /// SQLite's extended result code and its text.
    case sqlite(code: Int32, message: String)
    /// A row that no version of this program has written.
    case contradiction(String)

    /// What has to follow from an error.
    enum Consequence: Hashable {
        /// Only the change that met it is concerned: others in its batch can be committed.
        case failsChange
        /// The machine refuses: full disk, no memory. Nothing of the batch may be acknowledged.
        case failsBatch
        /// The disk failed. Nothing of the batch may be acknowledged, and what it left behind cannot be trusted.
        case distrustsConnection
        /// The file is damaged. Nothing may be acknowledged any more.
        case stopsStore
    }

    /// What has to follow.
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

    /// Whether the file is damaged, as far as this error can tell.
    var showsDamage: Bool {
        if case .contradiction = self { return true }
        return consequence == .stopsStore
    }

    /// What the caller of the store is told.
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
    /// What `read` makes of the present row of `statement`; its contradictions are errors of the database. A row that nobody asked
    /// for means that the file is damaged.
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
