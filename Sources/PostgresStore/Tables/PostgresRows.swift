internal import Sessions
internal import StoreFoundation

/// The rows of the database for a read or a transaction of the domain.
///
/// Requests and writes are queued until a procedure reads an answer that has not arrived; then all of them are sent in one
/// round trip. The rest of the queue is sent with the commit.
final class PostgresRows {
    /// Answers that arrive with one round trip.
    private final class Pending {
        let range: Range<Int>
        var rows: [Rows] = []
        var hasCome = false

        init(_ range: Range<Int>) { self.range = range }
    }

    /// Sends statements and waits for their answers.
    typealias RoundTrip = ([Statement]) throws(DatabaseError) -> [Rows]

    private let roundTrip: RoundTrip
    private let clock: WallClock
    private let cache: CatalogueCache
    /// Returns the cached catalogue for its revision. Nil if the whole catalogue is read in the transaction.
    private let cached: ((Rows) throws(DatabaseError) -> Catalogue)?
    private var waiting: [Statement] = []
    private var pending: [Pending] = []
    /// The locks of users that the transaction holds; nil: it needs none.
    var users: UserLocks?
    /// The locks that the transaction needs, and that it can take only at its beginning.
    var missing = UserLocks()
    /// Whether the transaction holds a row, after which no lock of a user is taken.
    var holdsRows = false
    /// The users of the sessions that were read.
    var owners: [Identifier<Session>: Identifier<User>] = [:]
    /// The events that are recorded so far.
    var recorded: [AuditEvent] = []

    /// Rows that `roundTrip` reads and writes.
    init(
        _ clock: WallClock, _ cache: CatalogueCache, holding users: UserLocks? = nil,
        cached: ((Rows) throws(DatabaseError) -> Catalogue)? = nil, _ roundTrip: @escaping RoundTrip
    ) {
        (self.clock, self.cache, self.users) = (clock, cache, users)
        (self.cached, self.roundTrip) = (cached, roundTrip)
    }

    /// Runs a procedure of the domain, and returns the statements that are still to be sent.
    func run<Outcome>(
        _ body: (PostgresRows) throws(TransactionError) -> Outcome
    ) throws(DatabaseError) -> (Outcome, rest: [Statement]) {
        do throws(TransactionError) {
            let outcome = try body(self)
            try throwIfUsersAreMissing()
            return (outcome, waiting)
        } catch { throw DatabaseError(error) }
    }

    private func throwIfUsersAreMissing() throws(TransactionError) {
        if !missing.isEmpty { throw TransactionError(.overtaken) }
    }

    /// Requests the statements. `read` converts their rows, one result for each statement.
    func ask<Value>(
        _ statements: [Statement], _ read: @escaping ([Rows]) throws(DatabaseError) -> Value
    ) -> Answer<Value> {
        let asked = Pending(waiting.count..<waiting.count + statements.count)
        waiting += statements
        pending.append(asked)
        return Answer { () throws(TransactionError) in
            try self.throwIfUsersAreMissing()
            let value: Value
            do throws(DatabaseError) {
                if !asked.hasCome { try self.send() }
                value = try read(asked.rows)
            } catch {
                throw TransactionError(.backend(error))
            }
            try self.throwIfUsersAreMissing()
            return value
        }
    }

    private func send() throws(DatabaseError) {
        let (statements, asked) = (waiting, pending)
        (waiting, pending) = ([], [])
        let rows = try roundTrip(statements)
        guard rows.count == statements.count else { throw .lost("an answer is missing") }
        for question in asked {
            question.rows = Array(rows[question.range])
            question.hasCome = true
        }
    }

    /// The result of `read` for each row.
    func all<Value>(
        _ statement: Statement, _ read: @escaping (inout Row) throws(CorruptRow) -> Value
    ) -> Answer<[Value]> {
        ask([statement]) { (rows) throws(DatabaseError) in try rows[0].map(read) }
    }

    /// The result of `read` for the first row; nil if there is no row.
    func first<Value>(
        _ statement: Statement, _ read: @escaping (inout Row) throws(CorruptRow) -> Value
    ) -> Answer<Value?> {
        ask([statement]) { (rows) throws(DatabaseError) in try rows[0].first(read) }
    }

    /// The result of `read` for each row that the statement locks.
    func allForUpdate<Value>(
        _ statement: Statement, _ read: @escaping (inout Row) throws(CorruptRow) -> Value
    ) -> Answer<[Value]> {
        holdsRows = true
        return all(statement, read)
    }

    /// The result of `read` for the first row that the statement locks; nil if there is no row.
    func firstForUpdate<Value>(
        _ statement: Statement, _ read: @escaping (inout Row) throws(CorruptRow) -> Value
    ) -> Answer<Value?> {
        holdsRows = true
        return first(statement, read)
    }

    /// The number of rows that a change affects.
    func count(_ statement: Statement) -> Answer<Int> {
        holdsRows = true
        return ask([statement]) { rows in rows[0].changedCount }
    }

    /// Whether a change affects a row.
    func changes(_ statement: Statement) -> Answer<Bool> {
        holdsRows = true
        return ask([statement]) { rows in rows[0].changedCount > 0 }
    }

    /// Queues a change for the next round trip.
    func perform(_ statement: Statement) {
        holdsRows = true
        waiting.append(statement)
    }

    /// Queues a lock for the next round trip.
    func lock(_ statement: Statement) { waiting.append(statement) }
}

extension PostgresRows: StoreTransaction {
    var now: Instant { clock.now }

    func catalogue() -> Answer<Catalogue> {
        if let cached {
            return ask([CatalogueCache.revision]) { (rows) throws(DatabaseError) in try cached(rows[0]) }
        }
        return ask(
            [CatalogueCache.revisionAndReadableBy, CatalogueSQL.selectSettings, CatalogueSQL.selectClients]
        ) { [cache] (rows) throws(DatabaseError) in
            try cache.check(rows[0])
            return try CatalogueCache.entry(rows[0], rows[1], rows[2]).catalogue
        }
    }

    func write(_ difference: CatalogueDifference) {
        precondition(users?.areAllAlone == true, "settings and clients are changed while nothing else is")
        for client in difference.clients { perform(CatalogueSQL.replace(client)) }
        for id in difference.deletedClients { perform(CatalogueSQL.delete(id)) }
        if let settings = difference.settings { perform(CatalogueSQL.update(settings)) }
        perform(CatalogueSQL.countUp)
    }

    func signingKeys() -> Answer<[StoredSigningKey]> {
        all(KeySQL.selectSigningKeys) { row in SigningKeyColumns.read(&row) }
    }

    func adminKeys() -> Answer<[AdminKey]> {
        all(KeySQL.selectAdminKeys) { (row) throws(CorruptRow) in try AdminKeyColumns.read(&row) }
    }

    func write(_ keys: [StoredSigningKey], deleting deleted: [String]) {
        for id in deleted { perform(KeySQL.deleteSigningKey(id)) }
        for key in keys { perform(KeySQL.replace(key)) }
        perform(CatalogueSQL.countUp)
    }

    func write(_ keys: [AdminKey], deleting deleted: [String]) {
        for id in deleted { perform(KeySQL.deleteAdminKey(id)) }
        for key in keys { perform(KeySQL.replace(key)) }
    }

    func delivery(_ name: String) -> Answer<DeliveryProgress?> {
        first(DeliverySQL.select(name)) { row in DeliveryColumns.read(&row) }
    }

    func deliveries() -> Answer<[String: DeliveryProgress]> {
        ask([DeliverySQL.selectAll]) { (rows) throws(DatabaseError) in try DeliverySQL.read(rows[0]) }
    }

    func write(_ progress: DeliveryProgress?, ofDelivery name: String) {
        perform(progress.map { DeliverySQL.replace(name, $0) } ?? DeliverySQL.delete(name))
    }

    func cleanUp() -> Answer<CleanUp?> { first(CleanUpSQL.select, CleanUpSQL.read) }

    func cleanUpForUpdate() -> Answer<CleanUp?> { first(CleanUpSQL.selectForUpdate, CleanUpSQL.read) }

    func write(_ cleanUp: CleanUp) { perform(CleanUpSQL.update(cleanUp)) }

    func walkAlongSessions() { perform(CleanUpSQL.walk) }
}

extension DatabaseError {
    /// The error that ended a procedure of the domain.
    init(_ error: TransactionError) {
        switch error.cause {
        case .backend(let error): self = error as? DatabaseError ?? .contradiction("\(error)")
        case .corrupted(let text): self = .contradiction(text)
        case .overtaken: self = .overtaken
        }
    }
}
