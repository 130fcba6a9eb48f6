public import Sessions
internal import StoreFoundation

/// Every statement about wrong passwords that all nodes count together.
enum GuessSQL {
    static func select(_ target: GuessTarget) -> Statement { Statement(selecting, target.digest) }

    private static let selecting = Template("SELECT \(GuessColumns.all.list) FROM guesses WHERE digest = $1::bytea")

    /// The row, locked; one that holds nothing if there was none, so that of two who are first one waits.
    static func take(_ target: GuessTarget) -> Statement {
        Statement(
            """
            INSERT INTO guesses (digest, user_id, \(GuessColumns.all.list)) VALUES ($1::bytea, $2::uuid, 0, 0)
            ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id RETURNING \(GuessColumns.all.list)
            """, target.digest, target.userID)
    }

    static func update(_ guesses: Guesses, of target: GuessTarget) -> Statement {
        Statement(
            "UPDATE guesses SET wrong_passwords = $2::bigint, wrong_password_at = $3::bigint WHERE digest = $1::bytea",
            target.digest, guesses.count, guesses.lastAt)
    }

    static func delete(_ target: GuessTarget) -> Statement {
        Statement("DELETE FROM guesses WHERE digest = $1::bytea", target.digest)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM guesses WHERE user_id = $1::uuid", userID)
    }

    /// Looks at each row again that it had to wait for: what is counted meanwhile stays.
    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM guesses
            WHERE wrong_password_at < $1::bigint AND digest IN (
                SELECT digest FROM guesses WHERE wrong_password_at < $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}

extension PostgresStore {
    /// See `Store`.
    public func guesses(at target: GuessTarget) async throws(StoreError) -> Guesses? {
        try await read([GuessSQL.select(target)]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in GuessColumns.read(&row) }
        }
    }

    /// See `Store`. One after the other, whatever nodes they come from.
    public func updateGuesses<Outcome: Sendable>(
        at target: GuessTarget, _ change: @escaping @Sendable (inout GuessChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await self.change(nil, by: Int(target.digest[0])) { (transaction) throws(DatabaseError) in
            let taken = try transaction.run(GuessSQL.take(target)).first { row in GuessColumns.read(&row) }
            var edited = GuessChange(taken.flatMap { $0.count == 0 ? nil : $0 })
            let outcome = change(&edited)
            transaction.add(edited.guesses.map { GuessSQL.update($0, of: target) } ?? GuessSQL.delete(target))
            for statement in EventSQL.insert(edited.events) { transaction.add(statement) }
            return outcome
        }
    }

    /// See `Store`.
    public func sweepGuesses(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await change(nil) { (transaction) throws(DatabaseError) in
            try transaction.run(GuessSQL.deleteOld(before: instant, limit: limit)).changedCount
        }
    }
}
