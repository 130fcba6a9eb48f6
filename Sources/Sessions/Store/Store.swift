/// The reason for which the store could not answer. Neither case means that a session has ended.
public enum StoreError: Error, Hashable, Sendable {
    /// The database is too busy or too slow, or the disk refuses. Nothing was acknowledged, so the caller may try again. The
    /// text is for the log.
    case unavailable(String)
    /// The database contradicts itself. The text says where; it is for the log.
    case corrupted(String)
}

/// A session with its user, client and settings, read together.
public struct SessionRecord: Hashable, Sendable {
    /// The session.
    public var session: Session
    /// Nil when the user was deleted.
    public var user: User?
    /// Nil when the client was deleted.
    public var client: Client?
    /// The settings at the moment of the read.
    public var settings: Settings
    /// The phone on which the session depends; nil: it depends on none, or the phone was not read.
    public var phone: BondedPhone?

    /// A record of values that were read together.
    public init(session: Session, user: User?, client: Client?, settings: Settings) {
        self.session = session
        self.user = user
        self.client = client
        self.settings = settings
    }
}

/// The database as the domain uses it: reads, transactions over rows, and a few calls of their own shape, because they are very
/// frequent or walk over very many rows. Procedures over these calls are extensions in the folder of their feature.
///
/// Each write is one transaction. It is durable when the call returns; when the call throws, no change was acknowledged. The
/// closures are pure and run inside the transaction on a thread of the store. A closure may run more than once, because a
/// backend may have to try again. A closure returns a refusal as a value, so that the events of the refusal commit with it.
///
/// A call that could not be decided within the store's deadline (10 s) throws `unavailable` and is not decided later.
public protocol Store: RevocationSource {
    /// Runs `body` on the rows of one moment, which include every acknowledged change. In PostgreSQL each round trip of a body
    /// sees the moment at which it arrives, unless the length is `page`.
    func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Runs `body` in a transaction. `scope` determines which other transactions wait for it.
    func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome

    /// Reads a session, lets `change` edit it, and writes the differences. False if there is no such session.
    ///
    /// This is the hot path of every refresh, so it is not generic and `change` keeps its outcome itself. `prepare` runs once,
    /// after the last run of `change` and before the commit is durable, so that signing overlaps the disk. The result of
    /// `prepare` is discarded if the commit fails; `prepare` must not publish it.
    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool

    /// The current session, which includes every acknowledged change.
    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord?

    /// The current settings and clients. Every backend keeps them in memory.
    func catalogue() async throws(StoreError) -> Catalogue

    /// A number that changes with every change of the signing keys by any node, as far as a call that has returned may have
    /// seen that change.
    var keyRevision: Int64 { get }

    /// A name of the time since the database was started or created. When the name changes, the database may have returned to
    /// an older state.
    func databaseLife() async throws(StoreError) -> String

    /// Writes a row and waits until it is durable, which proves that the store can commit at present.
    func ping() async throws(StoreError)
}
