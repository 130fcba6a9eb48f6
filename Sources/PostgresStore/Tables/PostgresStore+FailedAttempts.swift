public import Sessions
internal import StoreFoundation

/// Every statement about wrong passwords that all nodes count together.
enum FailedAttemptSQL {
    static func select(_ target: LockoutTarget) -> Statement { Statement(selecting, target.digest) }

    private static let selecting = Template(
        "SELECT \(FailedAttemptColumns.all.list) FROM failed_attempts WHERE digest = $1::bytea")

    /// The row, locked; one that holds nothing if there was none, so that of two who are first one waits.
    static func take(_ target: LockoutTarget) -> Statement {
        Statement(
            """
            INSERT INTO failed_attempts (digest, user_id, \(FailedAttemptColumns.all.list)) VALUES ($1::bytea, $2::uuid, 0, 0)
            ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id RETURNING \(FailedAttemptColumns.all.list)
            """, target.digest, target.userID)
    }

    static func update(_ failedAttempts: FailedAttempts, of target: LockoutTarget) -> Statement {
        Statement(
            "UPDATE failed_attempts SET wrong_passwords = $2::bigint, wrong_password_at = $3::bigint WHERE digest = $1::bytea",
            target.digest, failedAttempts.count, failedAttempts.lastAt)
    }

    static func delete(_ target: LockoutTarget) -> Statement {
        Statement("DELETE FROM failed_attempts WHERE digest = $1::bytea", target.digest)
    }

    static func delete(of userID: Identifier<User>) -> Statement {
        Statement("DELETE FROM failed_attempts WHERE user_id = $1::uuid", userID)
    }

    /// Looks at each row again that it had to wait for: what is counted meanwhile stays.
    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM failed_attempts
            WHERE wrong_password_at < $1::bigint AND digest IN (
                SELECT digest FROM failed_attempts WHERE wrong_password_at < $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}

extension PostgresStore {
    /// See `Store`.
    public func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts? {
        try await read([FailedAttemptSQL.select(target)]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in FailedAttemptColumns.read(&row) }
        }
    }

    /// See `Store`. One after the other, whatever nodes they come from.
    public func updateFailedAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await self.change(nil, by: Int(target.digest[0])) { (transaction) throws(DatabaseError) in
            let taken = try transaction.run(FailedAttemptSQL.take(target)).first { row in
                FailedAttemptColumns.read(&row)
            }
            var edited = FailedAttemptsChange(taken.flatMap { $0.count == 0 ? nil : $0 })
            let outcome = change(&edited)
            transaction.add(
                edited.failedAttempts.map { FailedAttemptSQL.update($0, of: target) } ?? FailedAttemptSQL.delete(target)
            )
            for statement in EventSQL.insert(edited.events) { transaction.add(statement) }
            return outcome
        }
    }

    /// See `Store`.
    public func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await change(nil) { (transaction) throws(DatabaseError) in
            try transaction.run(FailedAttemptSQL.deleteOld(before: instant, limit: limit)).changedCount
        }
    }
}
