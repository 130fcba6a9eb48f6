// The sources of users' names, addresses and passwords.

extension Store {
    /// The sources of a user; nil if there is no such user.
    public func userSources(of userID: Identifier<User>) async throws(StoreError) -> UserSources? {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.userSources(of: [userID]).value().first
        }
    }

    /// The sources of those users, in no order.
    public func userSources(of userIDs: [Identifier<User>]) async throws(StoreError) -> [UserSources] {
        if userIDs.isEmpty { return [] }
        return try await read(.long) { (reader) throws(TransactionError) in
            try reader.userSources(of: userIDs).value()
        }
    }
}

/// The access to a user, as its rows are requested.
struct RequestedAccess {
    fileprivate let userID: Identifier<User>
    fileprivate let identities: Answer<[Identity]>
    fileprivate let passkeys: Answer<[Passkey]>
    fileprivate let sessions: Answer<[Session]>
    fileprivate let verifications: Answer<[Verification]>
    fileprivate let now: Instant
    fileprivate let sources: Answer<[UserSources]>

    /// The access; nil if the user has no sources, so that nothing leads to it.
    func value() throws(TransactionError) -> UserAccess? {
        let (identities, passkeys) = (try identities.value(), try passkeys.value())
        let hasSession = try !sessions.value().isEmpty
        let hasReset = try verifications.value().contains { $0.purpose == .reset && now < $0.usableUntil }
        guard let sources = try sources.value().first else { return nil }
        return UserAccess(
            identities: identities, hasPasskey: !passkeys.isEmpty, hasSession: hasSession, hasReset: hasReset,
            sources: sources)
    }
}

extension StoreReader {
    /// Requests the access to a user as it is at `now`.
    func access(to userID: Identifier<User>, at now: Instant) -> RequestedAccess {
        RequestedAccess(
            userID: userID, identities: identities(of: userID), passkeys: passkeys(of: userID),
            sessions: latestSessions(of: userID, limit: 1, lookMax: 1),
            verifications: openVerifications(of: userID), now: now, sources: userSources(of: [userID]))
    }

    /// The user to which the address of the login leads, among those that have it; nil if there is none.
    func meant(by login: IdentityLogin, among found: [User]) throws(TransactionError) -> User? {
        if found.isEmpty { return nil }
        return login.meant(of: found, try userSources(of: found.map(\.id)).value())
    }
}

extension StoreTransaction {
    /// Writes the sources of a user after a change, if it changes any, and since when the user's devices are unknown, if the
    /// change makes them so.
    func note(
        _ sources: Answer<[UserSources]>, from old: User, to new: User, by source: AccountSource,
        devicesUnknownAt: Instant?
    ) throws(TransactionError) {
        let known = try sources.value().first ?? UserSources(of: old, from: .user)
        var changed = known.after(old, new, by: source)
        changed.devicesUnknownAt = devicesUnknownAt ?? known.devicesUnknownAt
        if changed != known { replace(changed) }
    }

    /// Writes that an untrusted source has got into an account. Nothing makes it trusted again but a proof.
    func noteAccess(to user: User, from source: AccountSource) throws(TransactionError) {
        guard var sources = try userSources(of: [user.id]).value().first, sources.access.isTrusted else { return }
        sources.access = source
        replace(sources)
    }
}
