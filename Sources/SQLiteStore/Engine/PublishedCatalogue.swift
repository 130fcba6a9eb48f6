internal import Locks
internal import Sessions

/// The settings and clients of the last commit, for readers. They can be cached, because only this process writes the file.
final class PublishedCatalogue: Sendable {
    private let value: Locked<Catalogue>
    private let gate = Locked(())

    init(_ catalogue: Catalogue) { value = Locked(catalogue) }

    /// The catalogue of the last acknowledged commit.
    var current: Catalogue { value.withLock { $0 } }

    /// Commits a change of the catalogue and publishes it. Both are one step for users of `beginningSnapshot`.
    func committing(_ catalogue: Catalogue, commit: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        let result = gate.withLock { _ -> Result<Void, DatabaseError> in
            Result { () throws(DatabaseError) in
                try commit()
                value.withLock { $0 = catalogue }
            }
        }
        try result.get()
    }

    /// Begins a snapshot of the database with `begin`, and returns the matching catalogue.
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
