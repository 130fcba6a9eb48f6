internal import Sessions
internal import StoreFoundation

/// The rows of the database for a read or a transaction of the domain. Every request is answered at once.
///
/// After the first error no further request or write is run, and `run` throws that error.
final class SQLiteRows {
    let connection: Connection
    private let clock: WallClock
    /// Settings and clients, with the changes of this transaction.
    private(set) var current: Catalogue
    /// Whether `current` was changed.
    private(set) var changesCatalogue = false
    /// The beginnings and the ends of sessions that are recorded so far.
    var transitions: [SessionTransition] = []
    private var failure: DatabaseError?

    /// The rows that the open transaction of `connection` sees.
    init(_ connection: Connection, _ catalogue: Catalogue, _ clock: WallClock) {
        (self.connection, current, self.clock) = (connection, catalogue, clock)
    }

    /// Runs a procedure of the domain.
    func run<Outcome>(
        _ body: (SQLiteRows) throws(TransactionError) -> Outcome
    ) throws(DatabaseError) -> Outcome {
        do throws(TransactionError) {
            let outcome = try body(self)
            if let failure { throw TransactionError(.backend(failure)) }
            return outcome
        } catch {
            throw failure ?? DatabaseError(error)
        }
    }

    /// The answer that `read` reads at once.
    func answer<Value>(_ read: (Connection) throws(DatabaseError) -> Value) -> Answer<Value> {
        if let failure { return answer(.failure(failure)) }
        do throws(DatabaseError) { return answer(.success(try read(connection))) } catch {
            return answer(failing: error)
        }
    }

    /// The rows of a query.
    func all<Item, each Value: Bindable>(
        _ query: Query, _ values: repeat each Value, read: (inout Row) throws(CorruptRow) -> Item
    ) -> Answer<[Item]> {
        if let failure { return answer(.failure(failure)) }
        do throws(DatabaseError) {
            return answer(.success(try connection.all(query, repeat each values, read: read)))
        } catch { return answer(failing: error) }
    }

    /// The first row of a query; nil if there is none.
    func first<Item, each Value: Bindable>(
        _ query: Query, _ values: repeat each Value, read: (inout Row) throws(CorruptRow) -> Item
    ) -> Answer<Item?> {
        if let failure { return answer(.failure(failure)) }
        do throws(DatabaseError) {
            return answer(.success(try connection.first(query, repeat each values, read: read)))
        } catch { return answer(failing: error) }
    }

    private func answer<Value>(failing error: DatabaseError) -> Answer<Value> {
        failure = error
        return answer(.failure(error))
    }

    private func answer<Value>(_ result: Result<Value, DatabaseError>) -> Answer<Value> {
        Answer { () throws(TransactionError) in
            switch result {
            case .success(let value): return value
            case .failure(let error): throw TransactionError(.backend(error))
            }
        }
    }

    /// The number of rows that a change affects.
    func count<each Value: Bindable>(_ query: Query, _ values: repeat each Value) -> Answer<Int> {
        if let failure { return answer(.failure(failure)) }
        do throws(DatabaseError) { return answer(.success(try connection.execute(query, repeat each values))) } catch {
            return answer(failing: error)
        }
    }

    /// Whether a change affects one row.
    func changes<each Value: Bindable>(_ query: Query, _ values: repeat each Value) -> Answer<Bool> {
        let count = count(query, repeat each values)
        return Answer { () throws(TransactionError) in try count.value() == 1 }
    }

    /// Whether a change with the values of a row affects one row.
    func changes(_ query: Query, _ write: (inout Parameters) -> Void) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in try connection.execute(query, write) == 1 }
    }

    /// Runs a change.
    func perform<each Value: Bindable>(_ query: Query, _ values: repeat each Value) {
        perform { (connection) throws(DatabaseError) in try connection.execute(query, repeat each values) }
    }

    /// Runs a change with the values of a row.
    func perform(_ query: Query, _ write: (inout Parameters) -> Void) {
        perform { (connection) throws(DatabaseError) in try connection.execute(query, write) }
    }

    /// Runs a write.
    func perform(_ change: (Connection) throws(DatabaseError) -> Void) {
        guard failure == nil else { return }
        do throws(DatabaseError) { try change(connection) } catch { failure = error }
    }
}

extension SQLiteRows: StoreTransaction {
    var now: Instant { clock.now }

    func catalogue() -> Answer<Catalogue> {
        let current = current
        return answer { _ in current }
    }

    func write(_ difference: CatalogueDifference) {
        perform { (connection) throws(DatabaseError) in
            var next = current
            for client in difference.clients {
                try CatalogueRow.write(client, connection)
                next.clients[client.id] = client
            }
            for id in difference.deletedClients {
                try connection.execute(CatalogueRow.deleteClient, id)
                next.clients[id] = nil
            }
            if let settings = difference.settings {
                try CatalogueRow.write(settings, connection)
                next.settings = settings
            }
            (current, changesCatalogue) = (next, true)
        }
    }
}

extension DatabaseError {
    /// The error that ended a procedure of the domain.
    init(_ error: TransactionError) {
        switch error.cause {
        case .backend(let error): self = error as? DatabaseError ?? .contradiction("\(error)")
        case .corrupted(let text): self = .contradiction(text)
        // Cannot happen, because the writer runs one transaction after the other.
        case .overtaken: self = .contradiction("a row was written by another transaction, and there is none")
        }
    }
}
