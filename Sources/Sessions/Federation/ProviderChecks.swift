// Provider checks: whether an identity provider still accepts the user of a session.

extension Store {
    /// The provider check of a session. A call that writes the end of the session deletes it. An end by the clock, or by one
    /// write for many sessions, leaves the check until it is due or the session is forgotten.
    public func providerCheck(of id: Identifier<Session>) async throws(StoreError) -> ProviderCheck? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.providerCheck(of: id).value() }
    }

    /// Claims up to `limit` checks of `provider` that are due by `now`, the longest due first. Each becomes due again at `end`,
    /// is in doubt until it is settled, and increments its revision. Returns the checks as they were, with the new revision.
    /// Two callers never claim the same check. A read finds out that no check is due, without a write.
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

    /// Lets `change` edit a session's check, and the session's ending and confirmation. Nil if there is no such session.
    public func updateProviderCheck<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout ProviderCheckChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(.sessions) { (transaction) throws(TransactionError) in
            // Locks the session before its check, in the order of every call that ends a session.
            var locked = try transaction.lock([id])
            let (found, catalogue) = (transaction.providerCheckForUpdate(of: id), transaction.catalogue())
            let check = try found.value()
            guard let old = locked[id] else {
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
            var events = edited.events
            if old.ending == nil, let ending = session.ending {
                let origin = events.first.map(Origin.init) ?? .system
                events += try transaction.endDependents(
                    of: id, ofClient: old.clientID, ending, in: &locked, by: origin)
            }
            transaction.append(events, try catalogue.value())
            return outcome
        }
    }
}
