// Tokens that are used once, and wrong passwords: what all nodes remember together.

extension Store {
    /// Uses a token. False: it was used before.
    public func use(_ token: OneTimeToken) async throws(StoreError) -> Bool { try await use([token]) == [true] }

    /// Uses each token, all in one transaction. False for one that was used before: nothing was written of it.
    public func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool] {
        guard let first = tokens.first else { return [] }
        let scope = TransactionScope(.nothing, queue: first.digest.first ?? 0)
        return try await write(scope) { (transaction) throws(TransactionError) in
            let answers = tokens.map { transaction.insert($0) }
            return try answers.map { (answer) throws(TransactionError) in try answer.value() }
        }
    }

    /// The used tokens that are not refused for their age at `now`, in the order of their digests: up to `limit` of those after
    /// `cursor`. Fewer than `limit` is the end.
    public func usedTokens(
        after cursor: [UInt8]?, at now: Instant, limit: Int
    ) async throws(StoreError) -> [OneTimeToken] {
        try await read(.long) { (reader) throws(TransactionError) in
            try reader.usedTokens(after: cursor, at: now, limit: limit).value()
        }
    }

    /// Forgets up to `limit` used tokens that have been too old since `instant` or longer. Returns how many.
    public func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteUsedTokens(before: instant, limit: limit).value()
        }
    }

    /// The wrong passwords that all nodes have counted for `target`; nil: none.
    public func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.failedAttempts(at: target).value() }
    }

    /// Lets `change` edit them, one change after the other, whatever nodes they come from.
    public func updateFailedAttempts<Outcome: Sendable>(
        at target: LockoutTarget, _ change: @escaping @Sendable (inout FailedAttemptsChange) -> Outcome
    ) async throws(StoreError) -> Outcome {
        let scope = TransactionScope(.nothing, queue: target.digest.first ?? 0)
        return try await write(scope) { (transaction) throws(TransactionError) in
            let old = try transaction.failedAttemptsForUpdate(at: target).value()
            var edited = FailedAttemptsChange(old)
            let outcome = change(&edited)
            if let attempts = edited.failedAttempts {
                if attempts != old { transaction.replace(attempts, at: target) }
            } else {
                transaction.deleteFailedAttempts(at: target)
            }
            transaction.append(edited.events)
            return outcome
        }
    }

    /// Forgets those of up to `limit` targets of which the last one came before `instant`. Returns how many.
    public func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteFailedAttempts(before: instant, limit: limit).value()
        }
    }
}
