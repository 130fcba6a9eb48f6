// Anonymous users: naming one by an identity, and deleting those that nothing leads back to.

/// A naming by an identity, inside a transaction: edit `change` to name the user, or leave it as it is.
public struct IdentityNaming: Sendable {
    /// The change of the user. The identity is linked and the ID token is used up if it makes the user no longer anonymous.
    public var change: UserChange
    /// The user that has the identity, or that a login by the ID token would link; nil: a login would make a new user.
    public let owner: Identifier<User>?
    /// Whether the ID token was used before, at any node.
    public let isReplay: Bool
    /// The user that a first login would make, under its first free username; nil if none of the names is free.
    public let newUser: User?
}

extension Store {
    /// Lets `decide` name a user by the identity of `login`, and links the identity. Nil if there is no such user.
    public func nameUser<Outcome: Sendable>(
        _ userID: Identifier<User>, by login: IdentityLogin, asking sessionID: Identifier<Session>,
        _ decide: @escaping @Sendable (inout IdentityNaming) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(.accounts(of: [userID])) { (transaction) throws(TransactionError) in
            guard var naming = try transaction.naming(of: userID, by: login, asking: sessionID) else { return nil }
            let old = naming.change.user
            let outcome = decide(&naming)
            guard old.isAnonymous, !naming.change.user.isAnonymous else { return outcome }
            let identity = Identity(login.key, userID: userID, linkedAt: login.at)
            let written = [transaction.insert(login.token), transaction.insert(identity)]
            transaction.update(naming.change.user)
            for answer in written {
                guard try answer.value() else { throw .overtaken }
            }
            let known = try transaction.userSources(of: [userID]).value().first
            transaction.replace(
                login.sources(ofNamed: naming.change.user, before: old, known ?? UserSources(of: old, from: .user)))
            transaction.append(naming.change.events)
            return outcome
        }
    }

    /// One step of clean-up along the anonymous users, after those that the last step of any node has read.
    public func sweepAnonymousUsers(
        limit: Int, by policy: RefreshPolicy, at now: Instant
    ) async throws(StoreError) -> UserSweepStep {
        let place = try await cleanUpState().usersReadTo
        let step = try await sweepAnonymousUsers(after: place, limit: limit, by: policy, at: now)
        if step.cursor != place { try await changeCleanUp { $0.usersReadTo = step.cursor } }
        return step
    }

    /// One step of clean-up: reads up to `limit` anonymous users after `cursor` in the order of their ids, and deletes those
    /// without an active session. Most steps delete none, and then write nothing.
    ///
    /// The transaction decides again about each user that the step has read, because a user may be named meanwhile.
    public func sweepAnonymousUsers(
        after cursor: Identifier<User>?, limit: Int, by policy: RefreshPolicy, at now: Instant
    ) async throws(StoreError) -> UserSweepStep {
        let (last, abandoned) = try await read(.long) { (reader) throws(TransactionError) in
            let (users, catalogue) = (reader.anonymousUsers(after: cursor, limit: limit), reader.catalogue())
            let (found, known) = (try users.value(), try catalogue.value())
            let traces = found.map { reader.trace(of: $0.id) }
            var abandoned: [Identifier<User>] = []
            for (user, trace) in zip(found, traces)
            where try trace.ends(of: user, known, by: policy, at: now) != nil { abandoned.append(user.id) }
            return (found.count < limit ? nil : found.last?.id, abandoned)
        }
        if abandoned.isEmpty { return UserSweepStep(cursor: last, deleted: 0) }
        let deleted = try await write(.accounts(of: abandoned)) { (transaction) throws(TransactionError) in
            try transaction.delete(abandoned, by: policy, at: now)
        }
        return UserSweepStep(cursor: last, deleted: deleted)
    }
}

/// The result of one step of the clean-up of users.
public struct UserSweepStep: Hashable, Sendable {
    /// The key after which the next step begins; nil at the end of the table.
    public var cursor: Identifier<User>?
    /// The number of deleted users.
    public var deleted: Int

    /// A step.
    public init(cursor: Identifier<User>?, deleted: Int) { (self.cursor, self.deleted) = (cursor, deleted) }
}

/// What may lead back to an anonymous user.
private struct UserTrace {
    /// The largest number of sessions without a recorded end that are examined. A user with so many is kept.
    static let sessionsMax = 16

    let open: Answer<[Session]>
    let newest: Answer<[Session]>
    let hasForeignToken: Answer<Bool>

    /// The sessions whose end by the clock is not recorded, with that end, if nothing leads back to the user; else nil. A user
    /// without any session is kept, because an import adds users before their sessions.
    func ends(
        of user: User, _ catalogue: Catalogue, by policy: RefreshPolicy, at now: Instant
    ) throws(TransactionError) -> [(session: Session, ending: Session.Ending)]? {
        let open = try open.value()
        guard open.count < Self.sessionsMax, try !newest.value().isEmpty, try !hasForeignToken.value() else {
            return nil
        }
        var ends: [(Session, Session.Ending)] = []
        for session in open {
            guard let ending = policy.ending(of: catalogue.record(of: session, user), at: now) else { return nil }
            ends.append((session, ending))
        }
        return ends
    }
}

extension StoreReader {
    fileprivate func trace(of userID: Identifier<User>) -> UserTrace {
        UserTrace(
            open: latestSessions(of: userID, limit: UserTrace.sessionsMax, lookMax: UserTrace.sessionsMax),
            newest: sessions(of: userID, after: nil, limit: 1), hasForeignToken: hasWaitingForeignToken(of: userID))
    }
}

extension StoreTransaction {
    /// Deletes those of the users that are anonymous and that nothing leads back to. Returns their number.
    fileprivate func delete(
        _ userIDs: [Identifier<User>], by policy: RefreshPolicy, at now: Instant
    ) throws(TransactionError) -> Int {
        let catalogue = catalogue()
        let found = userIDs.map { (userForUpdate(.id($0)), trace(of: $0)) }
        let known = try catalogue.value()
        var events: [AuditEvent] = []
        var deleted = 0
        for (answer, trace) in found {
            guard let user = try answer.value(), user.isAnonymous,
                let ends = try trace.ends(of: user, known, by: policy, at: now)
            else { continue }
            for (session, ending) in ends {
                // The reason of the end is kept, because the app has to learn that a new login helps.
                end(session.id, ending)
                events.append(.ended(session, ending.reason, at: now, by: .system))
            }
            deleteFailedAttempts(of: user.id)
            deleteIdentities(of: user.id)
            deletePasskeys(of: user.id)
            deleteAccountRows(of: user.id)
            deleteUserSources(of: user.id)
            try noteDeletion(of: user.id, at: now)
            deleteUser(user.id)
            events.append(AuditEvent(.userDeleted, at: now, by: .system, userID: user.id, reason: "anonymous"))
            deleted += 1
        }
        append(events.withoutDeviceNames(), known)
        return deleted
    }

    /// The naming of a user by the identity of `login`; nil if there is no such user.
    fileprivate func naming(
        of userID: Identifier<User>, by login: IdentityLogin, asking sessionID: Identifier<Session>
    ) throws(TransactionError) -> IdentityNaming? {
        let found = (userForUpdate(.id(userID)), session(sessionID), catalogue())
        let (used, identity) = (isUsed(login.token), identity(login.key))
        let candidates = login.linkingKey.map { users(named: $0, orAddress: $0, limit: IdentityLogin.namesakesMax) }
        let namesakes = login.newUsers.map { user(.username($0.username)) }
        guard let user = try found.0.value() else { return nil }
        var owner = try identity.value()?.userID
        if owner == nil, let meant = try meant(by: login, among: try candidates?.value() ?? []), meant.id != userID,
            let access = try access(to: meant.id, at: login.at).value(), login.mayLink(meant, having: access)
        {
            owner = meant.id
        }
        var newUser: User?
        for (user, namesake) in zip(login.newUsers, namesakes) where newUser == nil {
            if try namesake.value() == nil { newUser = user.leavingMailbox(to: try candidates?.value() ?? []) }
        }
        let catalogue = try found.2.value()
        let change = UserChange(
            user: user, settings: catalogue.settings, clients: Array(catalogue.clients.values),
            asking: try found.1.value())
        return IdentityNaming(change: change, owner: owner, isReplay: try used.value(), newUser: newUser)
    }
}
