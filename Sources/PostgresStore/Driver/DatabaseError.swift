internal import Sessions
internal import StoreFoundation

/// An error below the store. Its cases differ in their consequence.
enum DatabaseError: Error, Hashable {
    /// The connection broke, or the server did not answer in time. The outcome of a commit is unknown.
    case lost(String)
    /// The server refused, with a SQLSTATE code. The transaction was rolled back.
    case refused(state: String, message: String)
    /// The server does not keep prepared statements. The transaction was rolled back, and the store no longer uses statement
    /// names.
    case forgotten(String)
    /// A row that no version of this program has written.
    case contradiction(String)
    /// Another transaction wrote the row first. This transaction was rolled back.
    case overtaken
    /// A newer program has dropped what this one needs.
    case outgrown(readableBy: Int, newestKnown: Int)

    enum Consequence: Hashable {
        /// Other transactions were in conflict; the same change can be tried again.
        case mayRepeat
        /// The change cannot be written; a further attempt would fail too.
        case failsChange
        /// The server cannot write at present, or the connection leads to the wrong server. A new connection is made.
        case distrustsConnection
    }

    var consequence: Consequence {
        switch self {
        case .lost: return .distrustsConnection
        case .contradiction, .outgrown: return .failsChange
        case .forgotten, .overtaken: return .mayRepeat
        case .refused(let state, _):
            switch state {
            // Serialization failure, deadlock, or a lock that was not available within an operator's `lock_timeout`. Or a unique
            // value that another transaction has committed since this one looked for it, and that the next attempt finds.
            case "40001", "40P01", "55P03", "23505": return .mayRepeat
            // The server is a standby, or a primary that became one.
            case "25006": return .distrustsConnection
            // No memory, or no place in the table of locks, for this transaction.
            case "53200": return .failsChange
            // The time limit of the transaction was over: while the transaction was idle, or when its limit was to be set
            // again.
            case "25P03", "22023": return .distrustsConnection
            default: break
            }
            switch state.prefix(2) {
            // Connection, resources, operator intervention, system error, configuration.
            case "08", "53", "57", "58", "F0": return .distrustsConnection
            default: return .failsChange
            }
        }
    }

    /// Whether a program that is too old for the schema can meet the error: a table or column is not there any more, a kept plan
    /// does not fit, or a row has a value that only newer programs know.
    var canComeFromNewerSchema: Bool {
        switch self {
        case .refused(let state, _): state.hasPrefix("42") || state == "0A000"
        case .lost, .forgotten, .overtaken, .outgrown: false
        default: true
        }
    }

    /// Whether a lock was not available within its timeout.
    var isLockTimeout: Bool {
        if case .refused("55P03", _) = self { return true }
        return false
    }

    /// Whether a unique value is taken.
    var isUniqueViolation: Bool {
        if case .refused("23505", _) = self { return true }
        return false
    }

    /// Whether the server had no memory for the transaction, or no place in its table of locks.
    var isOutOfMemory: Bool {
        if case .refused("53200", _) = self { return true }
        return false
    }

    /// The error for the caller of the store.
    var storeError: StoreError {
        switch self {
        case .contradiction(let text): .corrupted(text)
        case .lost, .forgotten, .overtaken, .outgrown: .unavailable(description)
        case .refused(let state, _):
            // Damaged data, a damaged index, or an impossible statement or value is corruption. A missing privilege (42501) is
            // not, because the database user had it when the schema was made and an operator can grant it again. Nor is a lack of
            // memory.
            state.hasPrefix("XX00") || consequence == .failsChange && !["42501", "53200"].contains(state)
                ? .corrupted(description) : .unavailable(description)
        }
    }
}

extension DatabaseError: CustomStringConvertible {
    var description: String {
        switch self {
        case .lost(let message): "PostgreSQL: \(message)"
        case .refused(let state, let message): "PostgreSQL: \(message) (SQLSTATE \(state))"
        case .forgotten(let message): "PostgreSQL keeps no statements under names here: \(message)"
        case .contradiction(let text): text
        case .overtaken: "another transaction was faster"
        case .outgrown(let readableBy, let newestKnown):
            "a newer program has changed the schema: programs from version \(readableBy) on can work on it, and this one knows "
                + "only up to \(newestKnown); stop this node"
        }
    }
}

extension DatabaseError {
    /// Runs `read` and converts its corrupt rows to errors of the database.
    static func reading<Value>(_ read: () throws(CorruptRow) -> Value) throws(DatabaseError) -> Value {
        do throws(CorruptRow) { return try read() } catch { throw .contradiction(error.text) }
    }
}
