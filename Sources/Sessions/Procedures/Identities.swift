// Identities: linking them to users and unlinking them.

extension Store {
    /// The identity of that name, and with it whose it is.
    public func identity(_ key: Identity.Key) async throws(StoreError) -> Identity? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.identity(key).value() }
    }

    /// The identities of a user, by provider and subject. They go with the user.
    public func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.identities(of: userID).value() }
    }

    /// Every identity, by provider and subject: up to `limit` of those after `cursor`. Fewer than `limit` is the end.
    public func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.identities(after: cursor, limit: limit).value()
        }
    }

    /// Adds an identity to a user who is there. All or nothing.
    public func insertIdentity(
        _ insertion: IdentityInsertion
    ) async throws(StoreError) -> IdentityInsertion.Outcome {
        try await write(.sessions) { (transaction) throws(TransactionError) in
            let identity = insertion.identity
            // A login that wants to link the user waits for the user's row.
            let (user, known) = (
                transaction.userForUpdate(.id(identity.userID)), transaction.identity(identity.key)
            )
            if let known = try known.value() { return .taken(by: known.userID) }
            guard try user.value() != nil else { return .unknownUser }
            // Another node has added it since, and has committed.
            guard try transaction.insert(identity).value() else { throw .overtaken }
            transaction.append(insertion.events)
            return .inserted
        }
    }

    /// Removes an identity of a user. False: the user has no such identity; nothing was written.
    public func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        // An import, which runs alone, does not bring it back at the same moment.
        try await write(.sessions) { (transaction) throws(TransactionError) in
            guard try transaction.deleteIdentity(key, of: userID).value() else { return false }
            transaction.append(events)
            return true
        }
    }
}
