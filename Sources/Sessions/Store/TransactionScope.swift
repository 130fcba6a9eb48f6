/// What a transaction keeps other transactions from doing until it has committed.
///
/// SQLite runs one transaction after the other and ignores the scope. PostgreSQL takes a lock of the server for it
/// (`TransactionLock` of that module documents the order).
public struct TransactionScope: Hashable, Sendable {
    /// Which transactions wait for each other.
    public enum Exclusion: Hashable, Sendable {
        /// None: the rows that the transaction writes are enough.
        case nothing
        /// Changes of sessions run beside each other, and wait for changes of accounts.
        case sessions
        /// A change of users, settings or clients, on which sessions depend, runs alone: no session changes between its reads and
        /// its commit.
        case accounts
        /// Changes of keys, and of what only one node does at a time, run one after the other.
        case keys
    }

    /// Which transactions wait for each other.
    public let exclusion: Exclusion
    /// Transactions of one queue wait for each other before they use a connection, so that those which want the same rows
    /// do not occupy several connections.
    public let queue: UInt8

    /// A scope.
    public init(_ exclusion: Exclusion, queue: UInt8 = 0) {
        self.exclusion = exclusion
        self.queue = queue
    }

    /// See `Exclusion.nothing`.
    public static let nothing = Self(.nothing)
    /// See `Exclusion.sessions`.
    public static let sessions = Self(.sessions)
    /// See `Exclusion.accounts`.
    public static let accounts = Self(.accounts)
    /// See `Exclusion.keys`.
    public static let keys = Self(.keys)
}

/// How long a read may take.
public enum ReadLength: Sendable {
    /// It looks at a few rows.
    case short
    /// It may look at many rows. Short reads do not wait for it.
    case long
}
