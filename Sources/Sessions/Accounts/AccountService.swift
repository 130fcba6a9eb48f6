internal import Cryptography

/// Changes of a user's own account: profile, devices, the switch for logins, and the password. `update` makes the changes of
/// admins too.
public final class AccountService: UseCase {
    let context: ServiceContext
    let passwords: PasswordVerifier
    let presence: UserPresenceService
    let federation: FederationService
    let verifications: VerificationService

    init(
        _ context: ServiceContext, _ passwords: PasswordVerifier, _ presence: UserPresenceService,
        _ federation: FederationService, _ verifications: VerificationService
    ) {
        self.context = context
        self.passwords = passwords
        self.presence = presence
        self.federation = federation
        self.verifications = verifications
    }

    /// The account service of `context`.
    public convenience init(_ context: ServiceContext) {
        let services = Services(context)
        self.init(
            context, services.accounts.passwords, services.accounts.presence, services.federation,
            services.verifications)
    }

    /// Lets `edit` change the user's name and profile, as far as the operator allows it. Returns the changed user. A new username,
    /// e-mail address or telephone number requires a recent proof of the user's presence, because a stolen device or token could
    /// otherwise redirect password resets and warnings.
    public func changeProfile(
        in current: AuthenticatedSession, shownBy evidence: PresenceEvidence = PresenceEvidence(),
        username: String? = nil, from origin: Origin,
        _ edit: @escaping @Sendable (inout User.Profile) -> ServiceError?
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        var session = current.session
        let proof = try await presence.presence(
            provedBy: evidence, of: current.user, in: session, youngerThan: PresenceRequirement.ageMaxOfChanges,
            from: origin, at: now)
        if let proof { session.note(proof, at: now) }
        return try await changeProfile(
            of: current.user.id, in: session, beside: proof, username, from: origin, at: now, edit)
    }

    /// Lets `edit` change name and profile on a page of the account.
    public func changeProfile(
        of visit: AccountPageSession, username: String? = nil, from origin: Origin,
        _ edit: @escaping @Sendable (inout User.Profile) -> ServiceError?
    ) async throws(ServiceError) -> User {
        try await changeProfile(
            of: visit.user.id, in: visit.session, beside: nil, username, from: origin, at: context.clock.now, edit)
    }

    private func changeProfile(
        of userID: Identifier<User>, in session: Session, beside proof: PresenceProof?, _ username: String?,
        from origin: Origin, at now: Instant, _ edit: @escaping @Sendable (inout User.Profile) -> ServiceError?
    ) async throws(ServiceError) -> User {
        let requirement = try await guardRequirement(of: userID)
        let isPresent = requirement.isMet(by: session, at: now)
        let rules = ProfileRules(editable: context.editable, provesMailboxes: context.mails != nil)
        return try await update(.id(userID), by: .session(session.id, beside: proof), at: now) { change in
            let former = change.user
            let old = former.profile
            var profile = old
            if let error = edit(&profile) ?? profile.problem { return .failure(error) }
            let name = username.map(Text.preparedUsername) ?? former.username
            if former.isAnonymous, username != nil { return .failure(Self.userIsAnonymous) }
            if name != former.username, let problem = Administration.problem(withChosenUsername: name) {
                return .failure(problem)
            }
            if let refusal = rules.refusal(from: (former.username, old), to: (name, profile)) {
                return .failure(refusal)
            }
            if !isPresent, name != former.username || !profile.reachesSame(as: old) {
                return .failure(.insufficientUserAuthentication(requirement.asked(of: change.user, in: session)))
            }
            if profile != old || name != former.username {
                (change.user.profile, change.user.username) = (profile, name)
                change.events.append(
                    AuditEvent(
                        .userChanged, at: now, by: origin, userID: change.user.id,
                        reason: ValueDifference(from: former, to: change.user)?.reason))
                change.closeFormerAddresses(of: old, at: now, by: origin)
            }
            return .success(change.user)
        }.outcome
    }

    /// The largest number of sessions that a list of a user's sessions has.
    public static let listedSessionsMax = 1000
    /// The largest number of sessions that the store examines for the list, as a bound on its work.
    static let listLookMax = 5000

    /// The user's active sessions, last refreshed first, at most `listedSessionsMax`. A browser that was not used for half an hour
    /// is none of them, unless its user stays logged in. For a user with more than `listLookMax`
    /// sessions the list is incomplete.
    public func livingSessions(of userID: Identifier<User>) async throws(ServiceError) -> [SessionRecord] {
        let now = context.clock.now
        return try await inStore(
            await store.latestSessions(of: userID, limit: Self.listedSessionsMax, lookMax: Self.listLookMax)
        ).filter { policy.isListed($0, at: now) }
    }

    /// The sessions of the row of that one: of the same client in the same browser, or it alone. Most rows need no list.
    public func sessions(
        inRowOf id: Identifier<Session>, of userID: Identifier<User>
    ) async throws(ServiceError) -> [Identifier<Session>] {
        let found = try await inStore(await store.session(id))
        guard let session = found?.session, session.userID == userID, let group = session.device.browserGroup else {
            return [id]
        }
        let row = try await livingSessions(of: userID).map(\.session).filter { $0.device.browserGroup == group }
        return row.contains { $0.id == id } ? row.map(\.id) : [id]
    }

    /// Renames a device of the user, and returns its session. Throws `notFound` if the device has no active session.
    public func renameDevice(
        _ deviceID: String, to name: String?, by caller: Session
    ) async throws(ServiceError) -> SessionRecord {
        if let name, !Device.isValid(text: name) {
            throw .invalid(
                member: "name", detail: "must have 1 to \(Device.textLengthMax) bytes and no control characters")
        }
        let now = context.clock.now
        // The device ID was chosen by the session on probation, which may have taken that of another device.
        let only = caller.isOnProbation(at: now) ? caller.id : nil
        if only != nil, caller.device.id != deviceID { throw .login(.barred) }
        let found = try await sessions(of: caller.userID, onDevice: deviceID)
        var renamed: SessionRecord?
        for record in found
        where context.policy.ending(of: record, at: now) == nil && record.session.id == only ?? record.session.id {
            renamed = try await inStore(
                await store.updateSession(record.session.id) { change in
                    change.session.device.name = name
                    return change.record
                })
        }
        guard let renamed else { throw .notFound("device") }
        return renamed
    }

    /// The sessions of the user on one device that have no recorded end; for a browser those of the same client in it.
    private func sessions(
        of userID: Identifier<User>, onDevice deviceID: String
    ) async throws(ServiceError) -> [SessionRecord] {
        if let group = Device.browserGroup(ofID: deviceID) {
            return try await livingSessions(of: userID).filter { $0.session.device.browserGroup == group }
        }
        return try await inStore(await store.sessions(of: userID, onDevice: deviceID))
    }

    /// Ends the sessions of the user, on one device or on all, except the one that asks if it is named. Returns their number.
    public func endSessions(
        of userID: Identifier<User>, onDevice deviceID: String?, except sessionID: Identifier<Session>? = nil,
        from origin: Origin
    ) async throws(ServiceError) -> Int {
        let now = context.clock.now
        var places: [String?] = [deviceID]
        if let deviceID, Device.browserGroup(ofID: deviceID) != nil {
            places = Set(try await sessions(of: userID, onDevice: deviceID).map(\.session.device.id)).sorted()
        }
        var ended = 0
        for place in places {
            ended += try await update(.id(userID)) { change in
                change.endSessions(onDevice: place, except: sessionID, at: now, by: origin)
                return .success(())
            }.endedSessions
        }
        return ended
    }

    /// Changes the password of a user with the old one, and two factors of the last five minutes if there is an authenticator. Ends
    /// all other sessions.
    public func changePassword(
        of user: User, in session: Session, from old: String, to new: String, by origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        try await requireSecondFactor(session, of: user)
        try await passwords.verify(old, of: user, in: session, from: origin)
        let proof = AccountProof.session(session.id, beside: .password(hash: user.passwordHash))
        let requester = PasswordHasher.Requester.session(session, from: origin)
        try await setPassword(
            of: .id(user.id), to: new, sentBy: requester, by: origin, reading: UserChangeRows(asking: session.id)
        ) {
            [policy = context.policy] change in
            change.refusal(of: proof, by: policy, at: now)
        }
    }

    static let emailTaken = ServiceError.conflict(
        code: "email_taken", detail: "another user has verified the address")

    static let userIsAnonymous = ServiceError.conflict(
        code: "user_is_anonymous", detail: "the user has no name yet: POST /v1/me/name")

    static let usernameTaken = ServiceError.conflict(
        code: "username_taken", detail: "the username belongs to another user")

    /// Hashes and sets a password if `check` allows it inside the transaction, and ends all sessions except `sessionID`.
    /// `source` is `user` for a user with the old password or a reset token.
    func setPassword(
        of reference: UserReference, to new: String, from source: AccountSource = .user,
        sentBy requester: PasswordHasher.Requester,
        by origin: Origin, reading rows: UserChangeRows = UserChangeRows(),
        _ check: @escaping @Sendable (inout UserChange) -> ServiceError? = { _ in nil }
    ) async throws(ServiceError) {
        let rules = context.passwordRules
        if let problem = rules.problem(with: new, username: nil) {
            throw .invalid(member: "new_password", detail: problem)
        }
        let hash = try await context.passwords.hash(new, for: requester)
        let now = context.clock.now
        _ = try await update(reference, reading: rows) { change -> Result<Void, ServiceError> in
            change.source = source
            if let error = check(&change) { return .failure(error) }
            if let problem = rules.problem(with: new, username: change.user.username) {
                return .failure(.invalid(member: "new_password", detail: problem))
            }
            change.user.passwordHash = hash
            change.user.isAnonymous = false
            change.unlock(at: now)
            change.ending = UserChange.EndingSessions(.passwordChanged, at: now, except: rows.asking)
            change.events.append(AuditEvent(.passwordChanged, at: now, by: origin, userID: change.user.id))
            return .success(())
        }
    }

    /// Changes a user with `proof`, which was valid at `now` and is checked again inside the transaction.
    func update<Value: Sendable>(
        _ reference: UserReference, by proof: AccountProof, at now: Instant,
        reading rows: UserChangeRows = UserChangeRows(),
        _ edit: @escaping @Sendable (inout UserChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> (outcome: Value, endedSessions: Int) {
        let policy = context.policy
        return try await update(reference, reading: rows.asked(by: proof.sessionID)) { change in
            if let refusal = change.refusal(of: proof, by: policy, at: now) { return .failure(refusal) }
            return edit(&change)
        }
    }

    /// Changes a user by `edit`. Throws the error of `edit`, and writes nothing then. A request that was cancelled before the
    /// transaction writes nothing either.
    func update<Value: Sendable>(
        _ reference: UserReference, reading rows: UserChangeRows = UserChangeRows(),
        _ edit: @escaping @Sendable (inout UserChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> (outcome: Value, endedSessions: Int) {
        let update = try await RequestCancellation.watched { abandonment async throws(ServiceError) in
            try await inStore(
                await store.updateUser(reference, reading: rows) { change -> Result<Value, ServiceError> in
                    if let refusal = abandonment.refusal { return .failure(refusal) }
                    var edited = change
                    let result = edit(&edited)
                    if case .success = result { change = edited }
                    return result
                })
        }
        switch update {
        case .notFound: throw rows.asking == nil ? .notFound("user") : .invalidToken(.ended(.userDeleted))
        case .usernameTaken: throw Self.usernameTaken
        case .emailTaken: throw Self.emailTaken
        case .done(let result, let endedSessions): return (try result.get(), endedSessions)
        }
    }
}

extension UserChange {
    /// Ends the sessions of the user by the user's own wish, on one device or on all, and records it in the audit trail.
    mutating func endSessions(
        onDevice deviceID: String?, except sessionID: Identifier<Session>? = nil, at now: Instant, by origin: Origin
    ) {
        ending = EndingSessions(.revokedByUser, at: now, except: sessionID, deviceID: deviceID)
        events.append(
            AuditEvent(
                .sessionsEnded, at: now, by: origin, userID: user.id, deviceID: deviceID,
                reason: EndReason.revokedByUser.rawValue))
    }
}

extension User.Profile {
    /// The longest member of a profile, in bytes of UTF-8.
    public static let lengthMax = 256

    /// Returns true if e-mail address and telephone number are those of `other`.
    fileprivate func reachesSame(as other: Self) -> Bool {
        EmailChange(from: other, to: self) == nil && phoneNumber == other.phoneNumber
    }

    /// Returns true if every member is valid.
    public var isSound: Bool { problem == nil }

    /// The error of the first invalid member; nil if all are valid.
    var problem: ServiceError? {
        let texts = [
            ("email", email), ("phone_number", phoneNumber), ("display_name", displayName),
            ("given_name", givenName), ("family_name", familyName),
        ]
        for case (let member, let text?) in texts where !Text.isValid(text, lengthMax: Self.lengthMax) {
            return .invalid(member: member, detail: "must have 1 to \(Self.lengthMax) bytes and no control characters")
        }
        if let country, country.utf8.count != 2 || !country.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) {
            return .invalid(member: "country", detail: "must be two capital letters (ISO 3166-1 alpha-2)")
        }
        if let email, !Mailbox.isValid(email) {
            return .invalid(member: "email", detail: "must be a mailbox such as anna@example.com")
        }
        return nil
    }
}
