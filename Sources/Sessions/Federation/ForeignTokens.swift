// Refresh tokens of another system, which the app exchanges for sessions.

extension Store {
    /// Up to `limit` foreign tokens after `cursor`, in the order of their digests. Fewer than `limit` is the end.
    public func foreignTokens(after cursor: [UInt8]?, limit: Int) async throws(StoreError) -> [ForeignToken] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.foreignTokens(after: cursor, limit: limit).value()
        }
    }

    /// Deletes up to `limit` foreign tokens that are forgotten, and returns their number.
    public func sweepForeignTokens(
        limit: Int, by policy: RefreshPolicy, at now: Instant
    ) async throws(StoreError) -> Int {
        guard limit > 0 else { return 0 }
        let end = now + (.zero - RefreshPolicy.tombstoneLifetime)
        let found = try await read(.long) { (reader) throws(TransactionError) in
            try reader.foreignTokens(
                endedBy: end, startedBy: end + (.zero - policy.absoluteMaximum), limit: limit
            ).value()
        }
        var deleted = 0
        for token in found where policy.isForgotten(token, at: now) {
            try await updateForeignToken(token.digest) { $0.token = nil }
            deleted += 1
        }
        return deleted
    }

    /// Lets `change` exchange or delete the foreign token with that digest. Nil if there is no such token; a read finds that
    /// out, so that an unknown token takes no lock.
    ///
    /// `updateUser` with `ending` also deletes the user's foreign tokens that were not exchanged and match its client and
    /// device, because they stand for future sessions. When it deletes the user, it deletes all of them.
    public func updateForeignToken<Outcome: Sendable>(
        _ digest: [UInt8], _ change: @escaping @Sendable (inout ForeignTokenChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let found = try await read(.short) { (reader) throws(TransactionError) in
            try reader.foreignToken(digest).value()
        }
        // The installation of the token's session never changes.
        guard let found else { return nil }
        let place = Installation(userID: found.userID, clientID: found.clientID, deviceID: found.device.id)
        return try await write(.sessions(of: place.userID)) { (transaction) throws(TransactionError) in
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
                let record = SessionRecord(
                    session: session, user: edited.user, client: edited.client, settings: known.settings)
                transaction.insert(session, lookAt: record.firstLook)
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
