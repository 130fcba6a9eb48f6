internal import Sessions
internal import StoreFoundation

/// What went wrong below the store, sorted by what has to follow from it.
enum DatabaseError: Error, Hashable {
    /// The connection broke, or the server did not answer in time: whether a change was committed is unknown.
    case lost(String)
    /// The server refused, with a code of SQLSTATE. Nothing of the transaction has happened.
    case refused(state: String, message: String)
    /// The server does not keep statements under names. Nothing of the transaction has happened, and none is used any more.
    case forgotten(String)
    /// A row that no version of this program has written.
    case contradiction(String)
    /// Another transaction wrote first what this one was about to write. Nothing of the transaction has happened.
    case overtaken

    /// What has to follow from an error.
    enum Consequence: Hashable {
        /// Other transactions were in the way: the same change can be tried again.
        case mayRepeat
        /// The change cannot be written, whoever tries.
        case failsChange
        /// The server cannot write at present, or the connection leads to the wrong one: it is made anew.
        case distrustsConnection
    }

    /// What has to follow.
    var consequence: Consequence {
        switch self {
        case .lost: return .distrustsConnection
        case .contradiction: return .failsChange
        case .forgotten, .overtaken: return .mayRepeat
        case .refused(let state, _):
            switch state {
            // Serialization failure, deadlock, a lock that could not be had in the time that an operator gives for one.
            case "40001", "40P01", "55P03": return .mayRepeat
            // A standby, or a primary that became one.
            case "25006": return .distrustsConnection
            // The time of the transaction was over: while nobody went on with it, or when its limit was to be set again.
            case "25P03", "22023": return .distrustsConnection
            default: break
            }
            switch state.prefix(2) {
            // Connection, resources, an operator's intervention, the system, configuration.
            case "08", "53", "57", "58", "F0": return .distrustsConnection
            default: return .failsChange
            }
        }
    }

    /// Whether another row has the same key.
    var isUniqueViolation: Bool {
        if case .refused("23505", _) = self { return true }
        return false
    }

    /// Whether a lock could not be had in the time given for it.
    var isLockTimeout: Bool {
        if case .refused("55P03", _) = self { return true }
        return false
    }

    /// What the caller of the store is told.
    var storeError: StoreError {
        switch self {
        case .contradiction(let text): .corrupted(text)
        case .lost, .forgotten, .overtaken: .unavailable(description)
        case .refused(let state, _):
            // Data or an index is damaged; else the statement or a value is one that cannot be, but for a right that the user of
            // the database had when the schema was made, and an operator has to give back.
            state.hasPrefix("XX00") || consequence == .failsChange && state != "42501"
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
        }
    }
}

extension DatabaseError {
    /// Runs `read`, whose contradictions are errors of the database.
    static func reading<Value>(_ read: () throws(CorruptRow) -> Value) throws(DatabaseError) -> Value {
        do throws(CorruptRow) { return try read() } catch { throw .contradiction(error.text) }
    }
}
