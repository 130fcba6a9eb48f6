// Single-use tokens and failed attempts, which all nodes share.

extension Store {
    /// Uses a token. False if it was used before.
    public func use(_ token: OneTimeToken) async throws(StoreError) -> Bool { try await use([token]) == [true] }

    /// Uses each token, all in one transaction. False for a token that was used before; nothing was written for it.
    public func use(_ tokens: [OneTimeToken]) async throws(StoreError) -> [Bool] {
        guard let first = tokens.first else { return [] }
        let scope = TransactionScope(.nothing, queue: first.digest.first ?? 0)
        return try await write(scope) { (transaction) throws(TransactionError) in
            let answers = tokens.map { transaction.insert($0) }
            return try answers.map { (answer) throws(TransactionError) in try answer.value() }
        }
    }

    /// Records that a client has revoked a token that it got for itself in `epoch`, with `event`. False if the token had ended;
    /// nothing was written then.
    func revoke(
        _ token: OneTimeToken, of clientID: String, epoch: Int64, _ event: AuditEvent
    ) async throws(StoreError) -> Bool {
        let scope = TransactionScope(.nothing, queue: token.digest.first ?? 0)
        return try await write(scope) { (transaction) throws(TransactionError) in
            let catalogue = try transaction.catalogue().value()
            guard let client = catalogue.clients[clientID], epoch >= catalogue.settings.tokenEpoch(of: client),
                try transaction.insert(token).value()
            else { return false }
            transaction.append([event], catalogue)
            return true
        }
    }

    /// Up to `limit` used tokens after `cursor` that are not yet too old to be accepted at `now`, in the order of their
    /// digests. Fewer than `limit` is the end.
    public func usedTokens(
        after cursor: [UInt8]?, at now: Instant, limit: Int
    ) async throws(StoreError) -> [OneTimeToken] {
        try await read(.long) { (reader) throws(TransactionError) in
            try reader.usedTokens(after: cursor, at: now, limit: limit).value()
        }
    }

    /// Deletes up to `limit` used tokens that became too old at `instant` or before. Returns the number of deleted rows.
    public func sweepUsedTokens(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteUsedTokens(before: instant, limit: limit).value()
        }
    }

    /// The failed attempts that all nodes have counted for `target`; nil if there are none.
    public func failedAttempts(at target: LockoutTarget) async throws(StoreError) -> FailedAttempts? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.failedAttempts(at: target).value() }
    }

    /// Lets `change` edit the failed attempts at `target`. Changes of all nodes run one after the other.
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

    /// Deletes the failed attempts of up to `limit` targets with the last attempt before `instant`. Returns the number of
    /// deleted rows.
    public func sweepFailedAttempts(before instant: Instant, limit: Int) async throws(StoreError) -> Int {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.deleteFailedAttempts(before: instant, limit: limit).value()
        }
    }
}
