internal import Locks
internal import Sessions

/// Settings and clients as they were last committed, for readers. Kept in memory, which only works because one process alone
/// writes the file.
final class PublishedCatalogue: Sendable {
    private let value: Locked<Catalogue>
    private let gate = Locked(())

    init(_ catalogue: Catalogue) { value = Locked(catalogue) }

    /// The catalogue of the last commit that was acknowledged.
    var current: Catalogue { value.withLock { $0 } }

    /// Commits a change of the catalogue and publishes it, as one step for those who use `beginningSnapshot`.
    func committing(_ catalogue: Catalogue, commit: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        let result = gate.withLock { _ -> Result<Void, DatabaseError> in
            Result { () throws(DatabaseError) in
                try commit()
                value.withLock { $0 = catalogue }
            }
        }
        try result.get()
    }

    /// Begins a snapshot of the database with `begin` and gives the catalogue that belongs to it.
    func beginningSnapshot(_ begin: () throws(DatabaseError) -> Void) throws(DatabaseError) -> Catalogue {
        let result = gate.withLock { _ -> Result<Catalogue, DatabaseError> in
            Result { () throws(DatabaseError) in
                try begin()
                return current
            }
        }
        return try result.get()
    }
}
