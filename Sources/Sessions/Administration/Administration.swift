internal import Cryptography

/// The calls of admins for users and their sessions. Settings, clients and keys are in the extensions beside this file.
public final class Administration: UseCase {
    let context: ServiceContext
    let accounts: AccountService
    let logout: LogoutService
    let passkeyService: PasskeyService

    init(
        _ context: ServiceContext, _ accounts: AccountService, _ logout: LogoutService, _ passkeys: PasskeyService
    ) {
        self.context = context
        self.accounts = accounts
        self.logout = logout
        passkeyService = passkeys
    }

    /// The administration of `context`.
    public convenience init(_ context: ServiceContext) {
        let services = Services(context)
        self.init(context, services.accounts, services.logout, services.passkeys)
    }

    /// Creates a user. A user without a password cannot log in by password. `source` is that of everything: `user` if a
    /// stranger has chosen the names.
    public func createUser(
        username: String, password: String?, profile: User.Profile, offlineSessionMax: Duration?,
        claims: UserClaims? = nil, from source: AccountSource = .admin, by origin: Origin
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        if let problem = Self.problem(withUsername: username) ?? profile.problem { throw problem }
        if let password, let problem = context.passwordRules.problem(with: password, username: username) {
            throw .invalid(member: "password", detail: problem)
        }
        let hash: String?
        if let password {
            let requester = PasswordHasher.Requester(origin, clientID: nil)
            hash = try await context.passwords.hash(password, for: requester)
        } else {
            hash = nil
        }
        // A cancelled request creates no user, because the caller was answered 503, and its next attempt would find the
        // username taken.
        if Task.isCancelled { throw .overloaded }
        var user = User(
            id: Identifier(random: context.random), username: Text.preparedUsername(username), profile: profile,
            passwordHash: hash, offlineSessionMax: offlineSessionMax, createdAt: now)
        user.claims = claims
        let isNew = try await inStore(
            await store.insertUser(
                user, from: source, events: [AuditEvent(.userCreated, at: now, by: origin, userID: user.id)]))
        guard isNew else {
            let namesake = try await inStore(await store.user(.username(username)))
            throw namesake == nil ? AccountService.emailTaken : AccountService.usernameTaken
        }
        return user
    }

    /// The user. Throws `notFound`.
    public func user(_ reference: UserReference) async throws(ServiceError) -> User {
        guard let user = try await inStore(await store.user(reference))
        else { throw .notFound("user") }
        return user
    }

    /// A page of users sorted by username. With `query`, only users with a username, e-mail address or name that contains it.
    public func users(
        matching query: String?, after cursor: String?, limit: Int
    ) async throws(ServiceError) -> Page<User> {
        try await inStore(await store.users(matching: query, after: cursor, limit: limit))
    }

    /// The sources of a user. Nil if it was deleted meanwhile.
    public func sources(of user: User) async throws(ServiceError) -> UserSources? {
        try await inStore(await store.userSources(of: user.id))
    }

    /// Changes username, profile, own maximum and claims of a user by `edit`. `source` is that of a changed name or address.
    public func changeUser(
        _ reference: UserReference, from source: AccountSource = .admin, by origin: Origin,
        _ edit: @escaping @Sendable (inout User) -> ServiceError?
    ) async throws(ServiceError) -> User {
        let (now, policy) = (context.clock.now, context.policy)
        return try await accounts.update(reference) { change in
            var user = change.user
            if let error = edit(&user) ?? Self.problem(withUsername: user.username) ?? user.profile.problem {
                return .failure(error)
            }
            user.username = Text.preparedUsername(user.username)
            change.source = source
            // The username that an admin gives is no placeholder.
            if user.username != change.user.username { user.isAnonymous = false }
            if user != change.user {
                let old = change.user
                let event = AuditEvent(
                    .userChanged, at: now, by: origin, userID: user.id,
                    reason: ValueDifference(from: old, to: user)?.reason)
                change.replaceUser(by: user, policy, event)
                change.closeFormerAddresses(of: old.profile, at: now, by: origin)
            }
            return .success(user)
        }.outcome
    }

    /// Deletes a user. The sessions end with the reason `user_deleted`. Returns their number.
    public func deleteUser(_ reference: UserReference, by origin: Origin) async throws(ServiceError) -> Int {
        let now = context.clock.now
        return try await accounts.update(reference) { change -> Result<Void, ServiceError> in
            change.delete(at: now, by: origin)
            return .success(())
        }.endedSessions
    }

    /// Disables a user's logins. Sessions end only if `revokingSessions`. Returns the user and the number of ended sessions.
    public func disable(
        _ reference: UserReference, effective: User.LoginDisabling.Effective, revokingSessions: Bool, note: String?,
        by origin: Origin
    ) async throws(ServiceError) -> (user: User, endedSessions: Int) {
        if let note, !Text.isValid(note, lengthMax: 1024) {
            throw .invalid(member: "reason", detail: "must have 1 to 1024 bytes and no control characters")
        }
        let now = context.clock.now
        let update = try await accounts.update(reference) { change -> Result<User, ServiceError> in
            change.switchLogins(.loginsDisabled, at: now, by: origin, reason: note) { user in
                user.disabledByAdmin = User.LoginDisabling(effective: effective, since: now, note: note)
            }
            if revokingSessions { change.endSessions(.revokedByAdmin, at: now, by: origin) }
            return .success(change.user)
        }
        return (update.outcome, update.endedSessions)
    }

    /// Enables logins that an admin disabled, and with `includingOwnSwitch` also those that the user disabled.
    public func enable(
        _ reference: UserReference, includingOwnSwitch: Bool, by origin: Origin
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        return try await accounts.update(reference) { change in
            change.switchLogins(.loginsEnabled, at: now, by: origin) { user in
                user.disabledByAdmin = nil
                if includingOwnSwitch { user.disabledByUser = nil }
            }
            return .success(change.user)
        }.outcome
    }

    /// Removes the lock that wrong passwords caused, and the block of wrong codes.
    public func unlock(_ reference: UserReference, by origin: Origin) async throws(ServiceError) -> User {
        let now = context.clock.now
        try await unblockSecondFactor(of: try await user(reference).id, by: origin)
        return try await accounts.update(reference) { change in
            change.unlock(at: now)
            change.events.append(
                AuditEvent(.loginsEnabled, at: now, by: origin, userID: change.user.id, reason: "unlocked"))
            return .success(change.user)
        }.outcome
    }

    /// Ends all sessions of a user. Returns their number.
    public func revokeSessions(of reference: UserReference, by origin: Origin) async throws(ServiceError) -> Int {
        let now = context.clock.now
        return try await accounts.update(reference) { change -> Result<Void, ServiceError> in
            change.endSessions(.revokedByAdmin, at: now, by: origin)
            return .success(())
        }.endedSessions
    }

    /// A page of the user's sessions and tombstones, newest first.
    public func sessions(
        of reference: UserReference, after cursor: SessionCursor?, limit: Int
    ) async throws(ServiceError) -> Page<SessionRecord> {
        let id: Identifier<User>
        if case .id(let known) = reference { id = known } else { id = try await user(reference).id }
        return try await inStore(await store.sessions(of: id, after: cursor?.description, limit: limit))
    }

    /// The session, or its tombstone. Throws `notFound`.
    public func session(_ id: Identifier<Session>) async throws(ServiceError) -> SessionRecord {
        guard let record = try await inStore(await store.wholeSession(id))
        else { throw .notFound("session") }
        return record
    }

    /// The state of the checks with the session's identity provider; nil if the provider is not asked.
    public func providerCheck(of id: Identifier<Session>) async throws(ServiceError) -> ProviderCheck? {
        try await inStore(await store.providerCheck(of: id))
    }

    /// Ends one session. Throws `notFound`.
    public func endSession(_ id: Identifier<Session>, by origin: Origin) async throws(ServiceError) {
        guard try await logout.end(id, .revokedByAdmin, from: origin) else { throw .notFound("session") }
    }

    /// Sets a user's password, and ends all sessions.
    public func setPassword(
        of reference: UserReference, to new: String, by origin: Origin
    ) async throws(ServiceError) {
        let requester = PasswordHasher.Requester(origin, clientID: nil)
        try await accounts.setPassword(of: reference, to: new, from: .admin, sentBy: requester, by: origin)
    }

    /// The problem of a username that a user chooses. An admin may give any name; one that looks like an address of another user
    /// would deceive its readers.
    static func problem(withChosenUsername username: String) -> ServiceError? {
        if let problem = problem(withUsername: username) { return problem }
        // A wide @ becomes an @; a combining mark after it makes another character of it.
        return Text.preparedUsername(username).unicodeScalars.contains("@")
            ? .invalid(member: "username", detail: "must have no @") : nil
    }

    static func problem(withUsername username: String) -> ServiceError? {
        Text.problem(withUsername: username).map { .invalid(member: "username", detail: $0) }
    }
}

extension UserChange {
    /// Ends all sessions of the user, and records the event.
    mutating func endSessions(_ reason: EndReason, at now: Instant, by origin: Origin) {
        ending = EndingSessions(reason, at: now)
        events.append(AuditEvent(.sessionsEnded, at: now, by: origin, userID: user.id, reason: reason.rawValue))
    }
}
