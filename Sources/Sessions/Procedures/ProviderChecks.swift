// What identity providers are asked with, whether they still stand by their users.

extension Store {
    /// What the provider of a session is asked with. It goes with the end of the session, by whatever call that is written;
    /// where the clock, or one write for many sessions, has brought the end, it stays until it is due, or the session is forgotten.
    public func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.providerCheck(of: id).value() }
    }

    /// Takes up to `limit` checks of `provider` that are due by `now`, the longest due first: each becomes due again at `end`,
    /// is in doubt until it is settled, and counts one revision more. Returned as they were, with the new revision. No two
    /// callers get the same; that none is due is found out without a write.
    public func claimProviderChecks(
        of provider: String, dueBy now: Instant, until end: Instant, limit: Int
    ) async throws(StoreError) -> [ProviderCheck] {
        guard limit > 0 else { return [] }
        let isDue = try await read(.short) { (reader) throws(TransactionError) in
            try reader.hasDueProviderCheck(of: provider, by: now).value()
        }
        guard isDue else { return [] }
        return try await write(.nothing) { (transaction) throws(TransactionError) in
            var claimed = try transaction.dueProviderChecksForUpdate(of: provider, by: now, limit: limit).value()
            for index in claimed.indices { claimed[index].revision += 1 }
            transaction.claimProviderChecks(of: claimed.map(\.sessionID), until: end)
            return claimed
        }
    }

    /// Lets `change` edit a session's check, and with it the session's ending and confirmation. Nil: no such session.
    public func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(.sessions) { (transaction) throws(TransactionError) in
            // The session before its check, as whatever ends the session does.
            let found = (transaction.sessionForUpdate(id), transaction.providerCheckForUpdate(of: id))
            let catalogue = transaction.catalogue()
            let check = try found.1.value()
            guard let old = try found.0.value() else {
                if check != nil { transaction.deleteProviderCheck(of: id) }
                return nil
            }
            var edited = ProviderCheckChange(check: check, session: old)
            let outcome = change(&edited)
            let session = edited.session
            if session.ending != old.ending || session.confirmation != old.confirmation {
                transaction.updateConfirmation(of: session)
            }
            if session.ending != nil { edited.check = nil }
            if let kept = edited.check {
                if kept != check { transaction.replace(kept) }
            } else if check != nil {
                transaction.deleteProviderCheck(of: id)
            }
            transaction.append(edited.events, try catalogue.value())
            return outcome
        }
    }
}
