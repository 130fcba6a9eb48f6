// Refresh tokens of another system, which become sessions.

extension Store {
    /// Every foreign token, in the order of their digests: up to `limit` of those after `cursor`. Fewer than `limit` is
    /// the end.
    public func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.foreignTokens(after: cursor, limit: limit).value()
        }
    }

    /// Lets `change` exchange or delete the foreign token with that digest. Nil: no such token, which is found out
    /// without a write, so that junk takes no lock.
    ///
    /// `updateUser` with `ending` also deletes the foreign tokens of the user that were not exchanged, as far as
    /// client and device agree: they are sessions in waiting. So does it for all of them when it deletes the user.
    public func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let found = try await read(.short) { (reader) throws(TransactionError) in
            try reader.foreignToken(digest).value()
        }
        // Where its session may live never changes.
        guard let found else { return nil }
        let place = SessionPlace(userID: found.userID, clientID: found.clientID, deviceID: found.device.id)
        return try await write(.sessions) { (transaction) throws(TransactionError) in
            let user = transaction.userForUpdate(.id(place.userID))
            let token = transaction.foreignTokenForUpdate(digest)
            let living = transaction.livingSessionForUpdate(at: place)
            let catalogue = transaction.catalogue()
            guard let token = try token.value() else { return nil }
            let known = try catalogue.value()
            var edited = ForeignTokenChange(
                token: token, user: try user.value(), client: known.clients[token.clientID],
                settings: known.settings, living: try living.value())
            let outcome = change(&edited)
            if let session = edited.session {
                guard edited.user != nil, edited.living == nil else {
                    throw .corrupted("a foreign token was exchanged for a session that cannot be")
                }
                transaction.insert(session)
            }
            if let kept = edited.token {
                if kept.exchange != token.exchange { transaction.updateForeignToken(digest, kept.exchange) }
            } else {
                transaction.deleteForeignToken(digest)
            }
            transaction.append(edited.events)
            return outcome
        }
    }
}
