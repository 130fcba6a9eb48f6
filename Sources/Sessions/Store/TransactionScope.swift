/// The set of transactions that wait until a transaction has committed.
///
/// SQLite runs transactions one after the other and ignores the scope. PostgreSQL takes an advisory lock for it (the type
/// `TransactionLock` of that module documents the order).
public struct TransactionScope: Hashable, Sendable {
    /// The kind of exclusion between transactions.
    public enum Exclusion: Hashable, Sendable {
        /// No exclusion: the locks on the written rows are sufficient.
        case nothing
        /// A change of sessions. Such changes run concurrently, and wait for changes of accounts.
        case sessions
        /// A change of users, settings or clients, on which sessions depend. It runs alone, so that no session changes between
        /// its reads and its commit.
        case accounts
        /// A change of keys, or work that only one node does at a time. Such changes run one after the other.
        case keys
    }

    /// The kind of exclusion between this and other transactions.
    public let exclusion: Exclusion
    /// The queue of the transaction. Transactions of one queue wait for each other before they take a connection, so that
    /// transactions on the same rows do not occupy several connections.
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

/// The expected duration of a read.
public enum ReadLength: Sendable {
    /// A read of a few rows.
    case short
    /// A read of possibly many rows. Short reads do not wait for it.
    case long
    /// A long read of which every request sees the same moment, in PostgreSQL too: what one page shows.
    case page
}
