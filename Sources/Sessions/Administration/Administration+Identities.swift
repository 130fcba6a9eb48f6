extension Administration {
    /// The identities of a user.
    public func identities(of reference: UserReference) async throws(ServiceError) -> [Identity] {
        let user = try await user(reference)
        return try await inStore(await store.identities(of: user.id))
    }

    /// Links an identity to a user. Returns true if it is new, false if the user already had it.
    public func link(
        _ key: Identity.Key, to reference: UserReference, by origin: Origin
    ) async throws(ServiceError) -> Bool {
        let user = try await user(reference)
        let now = context.clock.now
        let insertion = IdentityInsertion(
            Identity(key, userID: user.id, linkedAt: now),
            events: [AuditEvent(.identityLinked, at: now, by: origin, userID: user.id, reason: key.provider)])
        switch try await inStore(await store.insertIdentity(insertion)) {
        case .inserted: return true
        case .taken(user.id): return false
        case .taken:
            throw .conflict(code: "identity_taken", detail: "the identity belongs to another user")
        case .unknownUser: throw .notFound("user")
        }
    }

    /// Removes an identity from a user. The user's sessions continue.
    public func unlink(
        _ key: Identity.Key, from reference: UserReference, by origin: Origin
    ) async throws(ServiceError) {
        let user = try await user(reference)
        let event = AuditEvent(
            .identityUnlinked, at: context.clock.now, by: origin, userID: user.id, reason: key.provider)
        let isDone = try await inStore(await store.deleteIdentity(key, of: user.id, events: [event]))
        guard isDone else { throw .notFound("identity") }
    }
}
