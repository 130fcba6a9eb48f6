/// The set of transactions that wait until a transaction has committed.
///
/// SQLite runs transactions one after the other and ignores the scope. PostgreSQL takes advisory locks for it (the types
/// `TransactionLock` and `UserLocks` of that module document the order): one that all changes of sessions and users share, and
/// one for each user.
public struct TransactionScope: Hashable, Sendable {
    /// The kind of exclusion between transactions.
    public enum Exclusion: Hashable, Sendable {
        /// No exclusion: the locks on the written rows are sufficient.
        case nothing
        /// A change of sessions. Such changes run concurrently, and wait for changes of the users of these sessions.
        case sessions
        /// A change of users, on which their sessions depend. No session of these users changes between the reads of the
        /// transaction and its commit. Sessions of other users do.
        case accounts
        /// A change of settings or clients, on which all sessions depend, or of more users than have locks of their own. No
        /// session and no user changes between the reads of the transaction and its commit.
        case everything
        /// A change of keys, or work that only one node does at a time. Such changes run one after the other.
        case keys
    }

    /// The kind of exclusion between this and other transactions.
    public let exclusion: Exclusion
    /// The users that are known before the transaction begins. A user that the transaction meets later is added by the store,
    /// which runs the transaction again if it has to.
    public let users: [Identifier<User>]
    /// The queue of the transaction. Transactions of one queue wait for each other before they take a connection, so that
    /// transactions on the same rows do not occupy several connections.
    public let queue: UInt8

    /// A scope.
    public init(_ exclusion: Exclusion, of users: [Identifier<User>] = [], queue: UInt8 = 0) {
        self.exclusion = exclusion
        self.users = users
        self.queue = queue
    }

    /// See `Exclusion.nothing`.
    public static let nothing = Self(.nothing)
    /// See `Exclusion.sessions`. The users follow from the rows.
    public static let sessions = Self(.sessions)
    /// See `Exclusion.everything`.
    public static let everything = Self(.everything)
    /// See `Exclusion.keys`.
    public static let keys = Self(.keys)

    /// A change of sessions of that user, in one queue with all others.
    public static func sessions(of userID: Identifier<User>) -> Self {
        Self(.sessions, of: [userID], queue: userID.bytes.last ?? 0)
    }

    /// A change of those users, in the queue of the first one. See `Exclusion.accounts`.
    public static func accounts(of users: [Identifier<User>]) -> Self {
        Self(.accounts, of: users, queue: users.first?.bytes.last ?? 0)
    }
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
