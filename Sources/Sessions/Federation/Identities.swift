// Identities: linking them to users and unlinking them.

extension Store {
    /// The identity with that key, which contains the id of its user.
    public func identity(_ key: Identity.Key) async throws(StoreError) -> Identity? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.identity(key).value() }
    }

    /// The identities of a user, by provider and subject. They are deleted with the user.
    public func identities(of userID: Identifier<User>) async throws(StoreError) -> [Identity] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.identities(of: userID).value() }
    }

    /// Up to `limit` identities after `cursor`, by provider and subject. Fewer than `limit` is the end.
    public func identities(after cursor: Identity.Key?, limit: Int) async throws(StoreError) -> [Identity] {
        guard limit > 0 else { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.identities(after: cursor, limit: limit).value()
        }
    }

    /// Adds an identity to an existing user. All or nothing.
    public func insertIdentity(
        _ insertion: IdentityInsertion
    ) async throws(StoreError) -> IdentityInsertion.Outcome {
        try await write(.sessions(of: insertion.identity.userID)) { (transaction) throws(TransactionError) in
            let identity = insertion.identity
            // A concurrent login that links the user waits for the user's row.
            let (user, known) = (
                transaction.userForUpdate(.id(identity.userID)), transaction.identity(identity.key)
            )
            if let known = try known.value() { return .taken(by: known.userID) }
            guard var user = try user.value() else { return .unknownUser }
            // Another node has added and committed the identity since the read.
            guard try transaction.insert(identity).value() else { throw .overtaken }
            if user.isAnonymous {
                // A user that a login finds again is not anonymous, and must not be deleted with the last session.
                user.isAnonymous = false
                transaction.update(user)
            }
            transaction.append(insertion.events)
            return .inserted
        }
    }

    /// Removes an identity of a user. False if the user has no such identity; nothing was written.
    public func deleteIdentity(
        _ key: Identity.Key, of userID: Identifier<User>, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        // The scope excludes an import, which runs alone, because an import could add the identity again at the same moment.
        try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            guard try transaction.deleteIdentity(key, of: userID).value() else { return false }
            transaction.append(events)
            return true
        }
    }
}
