/// Why the store could not answer. None of these means that anybody is logged out.
public enum StoreError: Error, Hashable, Sendable {
    /// Too busy, too slow, or the disk refuses: nothing was acknowledged, try again. The text is for the log.
    case unavailable(String)
    /// The database contradicts itself; the text says where. For the log.
    case corrupted(String)
}

/// A session with what it hangs on, read together.
public struct SessionRecord: Hashable, Sendable {
    /// The session.
    public var session: Session
    /// Nil when the user was deleted.
    public var user: User?
    /// Nil when the client was deleted.
    public var client: Client?
    /// The settings of that moment.
    public var settings: Settings

    /// What was read together.
    public init(session: Session, user: User?, client: Client?, settings: Settings) {
        self.session = session
        self.user = user
        self.client = client
        self.settings = settings
    }
}

/// A change of one session, inside a transaction: edit `session`, record `events`.
public struct SessionChange: Sendable {
    /// The session, to be edited; what differs at the end is written.
    public var session: Session
    /// Nil when the user was deleted.
    public let user: User?
    /// Nil when the client was deleted.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// What was read, with the edits so far.
    public var record: SessionRecord {
        SessionRecord(session: session, user: user, client: client, settings: settings)
    }

    /// The change of what `record` holds.
    public init(_ record: SessionRecord) {
        self.init(session: record.session, user: record.user, client: record.client, settings: record.settings)
    }

    /// The change of what was read together.
    public init(session: Session, user: User?, client: Client?, settings: Settings) {
        self.session = session
        self.user = user
        self.client = client
        self.settings = settings
    }
}

/// What the domain needs of a database: reads, transactions over rows, and three calls that have a shape of their own, because
/// they are made very often or for very many rows. The procedures over them are extensions, in `Procedures` and `Import`.
///
/// Each write is one transaction: it has happened and is durable when it returns, or it throws and nothing has happened that was
/// acknowledged. The closures are pure, run inside the transaction on a thread of the store, and may run more than once, because a
/// backend may have to try again; a refusal is a value that they return, so that what it must record commits with it.
///
/// A call that could not be decided within the store's deadline (10 s) throws `unavailable` and is not decided later.
public protocol Store: RevocationSource {
    /// Runs `body` on the rows of one moment, with every acknowledged change. PostgreSQL shows each round trip of a body the moment
    /// at which it arrives.
    func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Runs `body` in a transaction. `scope` says what other transactions wait meanwhile.
    func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Reads a session, lets `change` edit it, writes what differs. False: no such session.
    ///
    /// This is the hot path: every refresh passes here. So it is not generic, `change` keeps its outcome itself, and after `change` was
    /// run for the last time, `prepare` runs once, before the commit is durable, so that signing overlaps the disk. What `prepare`
    /// makes is thrown away if the commit fails: it must not let anything out.
    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool

    /// The session as it stands, with every acknowledged change.
    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord?

    /// One small step of clean-up: looks at up to `limit` sessions after `cursor` in the order of their ids and deletes
    /// those for which `isForgotten` answers true. Returns the cursor of the next step; nil at the end of the table.
    func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int,
        _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep

    /// Settings and clients, as they stand. Every backend keeps them in memory.
    func catalogue() async throws(StoreError) -> Catalogue

    /// Changes whenever signing keys are changed, by whatever node, as far as any call that has returned can have seen it.
    var keyRevision: Int64 { get }

    /// A name for the time since the database was started or made: with another one, it may have gone back to an older state.
    func databaseLife() async throws(StoreError) -> String

    /// Writes something, and waits until it is durable: whether the store can commit at present.
    func ping() async throws(StoreError)
}
