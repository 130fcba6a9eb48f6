public import Sessions
internal import StoreFoundation

/// Every statement about wrong passwords that all nodes count together.
enum FailedAttemptRow {
    fileprivate static let select = Query(
        "SELECT \(FailedAttemptColumns.all.list) FROM failed_attempts WHERE digest = ?")
    fileprivate static let replace = Query(
        "INSERT OR REPLACE INTO failed_attempts (digest, user_id, \(FailedAttemptColumns.all.list)) VALUES (?, ?, ?, ?)"
    )
    fileprivate static let delete = Query("DELETE FROM failed_attempts WHERE digest = ?")
    fileprivate static let deleteOld = Query(
        "DELETE FROM failed_attempts WHERE digest IN (SELECT digest FROM failed_attempts WHERE wrong_password_at < ? LIMIT ?)"
    )
    static let deleteOfUser = Query("DELETE FROM failed_attempts WHERE user_id = ?")
}

extension SQLiteStore {
    /// See `Store`.
    public func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts? {
        try await read { (snapshot) throws(DatabaseError) -> FailedAttempts? in
            try snapshot.connection.first(FailedAttemptRow.select, target.digest) { row in
                FailedAttemptColumns.read(&row)
            }
        }
    }

    /// See `Store`.
    public func updateFailedAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.first(FailedAttemptRow.select, target.digest) { row in
                FailedAttemptColumns.read(&row)
            }
            var edited = FailedAttemptsChange(old)
            let outcome = change(&edited)
            if let failedAttempts = edited.failedAttempts, failedAttempts != old {
                try connection.execute(
                    FailedAttemptRow.replace, target.digest, target.userID, failedAttempts.count, failedAttempts.lastAt)
            } else if old != nil, edited.failedAttempts == nil {
                try connection.execute(FailedAttemptRow.delete, target.digest)
            }
            try EventRow.insert(edited.events, in: transaction)
            return outcome
        }
    }

    /// See `Store`.
    public func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write { (transaction) throws(DatabaseError) -> Int in
            try transaction.connection.execute(FailedAttemptRow.deleteOld, instant, limit)
        }
    }
}
