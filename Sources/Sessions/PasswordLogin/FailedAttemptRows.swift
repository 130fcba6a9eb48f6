/// The requests about failed attempts.
public protocol FailedAttemptsReader {
    /// The failed attempts that are counted for `target`.
    func failedAttempts(at target: LockoutTarget) -> Answer<FailedAttempts?>
}

/// The requests and writes about failed attempts inside a transaction.
public protocol FailedAttemptsTransaction: FailedAttemptsReader {
    /// The failed attempts that are counted for `target`, for update. The procedure then writes or deletes them.
    func failedAttemptsForUpdate(at target: LockoutTarget) -> Answer<FailedAttempts?>

    /// Writes the failed attempts that are counted for `target`.
    func replace(_ attempts: FailedAttempts, at target: LockoutTarget)

    /// Deletes the failed attempts that are counted for `target`.
    func deleteFailedAttempts(at target: LockoutTarget)

    /// Deletes the failed attempts that are counted for every target of a user.
    func deleteFailedAttempts(of userID: Identifier<User>)

    /// Deletes the failed attempts of up to `limit` targets with the last attempt before `instant`. Returns the number of
    /// deleted rows.
    func deleteFailedAttempts(before instant: Instant, limit: Int) -> Answer<Int>
}
