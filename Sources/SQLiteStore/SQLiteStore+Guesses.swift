public import Sessions
internal import StoreFoundation

/// Every statement about wrong passwords that all nodes count together.
enum GuessRow {
    fileprivate static let select = Query("SELECT \(GuessColumns.all.list) FROM guesses WHERE digest = ?")
    fileprivate static let replace = Query(
        "INSERT OR REPLACE INTO guesses (digest, user_id, \(GuessColumns.all.list)) VALUES (?, ?, ?, ?)")
    fileprivate static let delete = Query("DELETE FROM guesses WHERE digest = ?")
    fileprivate static let deleteOld = Query(
        "DELETE FROM guesses WHERE digest IN (SELECT digest FROM guesses WHERE wrong_password_at < ? LIMIT ?)")
    static let deleteOfUser = Query("DELETE FROM guesses WHERE user_id = ?")
}

extension SQLiteStore {
    /// See `Store`.
    public func guesses(at target: GuessTarget) async throws(StoreError) -> Guesses? {
        try await read { (snapshot) throws(DatabaseError) -> Guesses? in
            try snapshot.connection.first(GuessRow.select, target.digest) { row in GuessColumns.read(&row) }
        }
    }

    /// See `Store`.
    public func updateGuesses<Outcome: Sendable>(
        at target: GuessTarget, _ change: @escaping @Sendable (inout GuessChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.first(GuessRow.select, target.digest) { row in GuessColumns.read(&row) }
            var edited = GuessChange(old)
            let outcome = change(&edited)
            if let guesses = edited.guesses, guesses != old {
                try connection.execute(
                    GuessRow.replace, target.digest, target.userID, guesses.count, guesses.lastAt)
            } else if old != nil, edited.guesses == nil {
                try connection.execute(GuessRow.delete, target.digest)
            }
            try EventRow.insert(edited.events, in: transaction)
            return outcome
        }
    }

    /// See `Store`.
    public func sweepGuesses(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write { (transaction) throws(DatabaseError) -> Int in
            try transaction.connection.execute(GuessRow.deleteOld, instant, limit)
        }
    }
}
