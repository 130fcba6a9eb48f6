internal import Cryptography

/// What users do with their own account: profile, devices, their own switch for logins, their password.
public struct AccountService: Sendable {
    let context: ServiceContext
    let tokens: TokenService
    var store: any Store { context.store }

    /// The account service of `context`.
    public init(_ context: ServiceContext) {
        self.context = context
        tokens = TokenService(context)
    }

    /// Lets `edit` change the user's profile. Returns the user as it then is. Where the user is reached, by e-mail or telephone,
    /// takes that the user has shown to be there a moment ago: whoever has found a phone, or stolen a token, could else have the
    /// next reset of the password, and the warnings, sent to themselves.
    public func changeProfile(
        in current: AuthenticatedSession, shownBy evidence: PresenceEvidence = PresenceEvidence(), from origin: Origin,
        _ edit: @escaping @Sendable (inout User.Profile) -> ServiceError?
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        var session = current.session
        let proof = try await tokens.presence(
            shownBy: evidence, of: current.user, in: session, from: origin, at: now)
        if let proof { session.note(proof, at: now) }
        let demand = PresenceRequirement(ageMax: PresenceRequirement.ageMaxOfChanges, ways: [.presence, .password])
        let isPresent = demand.isMet(by: session, at: now)
        return try await update(.id(current.user.id), by: .session(session.id, beside: proof), at: now) { change in
            let old = change.user.profile
            var profile = old
            if let error = edit(&profile) ?? profile.problem { return .failure(error) }
            if !isPresent, !profile.reachesSame(as: old) {
                return .failure(.userAbsent(demand.asked(of: change.user, in: current.session)))
            }
            if profile != old {
                change.user.profile = profile
                change.events.append(
                    AuditEvent(.userChanged, at: now, by: origin, userID: change.user.id, reason: "profile"))
                change.closeFormerAddresses(of: old, at: now, by: origin)
            }
            return .success(change.user)
        }.outcome
    }

    /// As many of a user's sessions are listed.
    public static let listedSessionsMax = 1000
    /// Among so many: a bound on the work, whatever a user has.
    private static let listLookMax = 5000

    /// The user's living sessions, those first that were refreshed last: `listedSessionsMax` at most, of a user with more than
    /// `listLookMax` among some of them.
    public func livingSessions(of userID: Identifier<User>) async throws(ServiceError) -> [SessionRecord] {
        let now = context.clock.now
        let found = try await tokens.inStore { () async throws(StoreError) in
            try await store.latestSessions(of: userID, limit: Self.listedSessionsMax, lookMax: Self.listLookMax)
        }
        return found.filter { context.policy.ending(of: $0, at: now) == nil }
    }

    /// Gives a device of the user another name. Returns its session as it then is.
    public func renameDevice(
        _ deviceID: String, of userID: Identifier<User>, to name: String?, from origin: Origin
    ) async throws(ServiceError) -> SessionRecord {
        if let name, !Device.isValid(text: name) {
            throw .invalid(
                member: "name", detail: "must have 1 to \(Device.textLengthMax) bytes and no control characters")
        }
        let now = context.clock.now
        let found = try await tokens.inStore { () async throws(StoreError) in
            try await store.sessions(of: userID, onDevice: deviceID)
        }
        var renamed: SessionRecord?
        for record in found where context.policy.ending(of: record, at: now) == nil {
            renamed = try await tokens.inStore { () async throws(StoreError) in
                try await store.updateSession(record.session.id) { change in
                    change.session.device.name = name
                    return change.record
                }
            }
        }
        guard let renamed else { throw .notFound("device") }
        return renamed
    }

    /// Ends the sessions of the user, on one device or on all. Returns how many ended.
    public func endSessions(
        of userID: Identifier<User>, onDevice deviceID: String?, from origin: Origin
    ) async throws(ServiceError) -> Int {
        let now = context.clock.now
        return try await update(.id(userID)) { change in
            change.ending = UserChange.EndingSessions(.revokedByUser, at: now, deviceID: deviceID)
            change.events.append(
                AuditEvent(
                    .sessionsEnded, at: now, by: origin, userID: userID, deviceID: deviceID,
                    reason: EndReason.revokedByUser.rawValue))
            return .success(())
        }.endedSessions
    }

    /// Changes the password of a user who knows the old one. All other sessions end.
    public func changePassword(
        of user: User, in session: Session, from old: String, to new: String, by origin: Origin
    ) async throws(ServiceError) {
        let now = context.clock.now
        try await tokens.verify(old, of: user, in: session, from: origin)
        let proof = AccountProof.session(session.id, beside: .password(hash: user.passwordHash))
        try await setPassword(of: .id(user.id), to: new, sentBy: .user(user.id), by: origin, in: session.id) {
            [policy = context.policy] change in
            change.refusal(of: proof, by: policy, at: now)
        }
    }

    /// The reset that a one-time token allows, or has allowed: whoever holds it holds a secret of that user. It is looked at
    /// before a password is hashed for it.
    public func passwordReset(by token: String) async throws(ServiceError) -> ProvenReset {
        guard let token = PasswordResetToken(token) else { throw Self.resetRefused }
        let user = try await tokens.inStore { () async throws(StoreError) in try await store.user(.id(token.userID)) }
        guard let reset = user?.passwordReset, constantTimeEqual(reset.secretHash, token.secretHash) else {
            throw Self.resetRefused
        }
        return ProvenReset(userID: token.userID, reset: reset)
    }

    /// Sets a new password, and spends the token. All sessions end.
    public func resetPassword(_ proven: ProvenReset, to new: String, from origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        guard now < proven.reset.expiresAt else { throw Self.resetRefused }
        do throws(ServiceError) {
            let sender = PasswordHasher.Sender.user(proven.userID)
            try await setPassword(of: .id(proven.userID), to: new, sentBy: sender, by: origin) { change in
                // Spent or replaced meanwhile?
                change.user.passwordReset == proven.reset ? nil : Self.resetRefused
            }
        } catch { throw error == .notFound("user") ? Self.resetRefused : error }
    }

    private static let resetRefused = ServiceError.invalid(
        member: "reset_token", detail: "is not valid, or no longer")

    /// Hashes and sets a password if `check` allows it inside the transaction; ends all sessions but the one that asks, if one does.
    func setPassword(
        of reference: UserReference, to new: String, sentBy sender: PasswordHasher.Sender = .anybody,
        by origin: Origin, in sessionID: Identifier<Session>? = nil,
        _ check: @escaping @Sendable (UserChange) -> ServiceError? = { _ in nil }
    ) async throws(ServiceError) {
        let rules = context.passwordRules
        if let problem = rules.problem(with: new, username: nil) {
            throw .invalid(member: "new_password", detail: problem)
        }
        let hash = try await context.passwords.hash(new, for: sender)
        let now = context.clock.now
        _ = try await update(reference, asking: sessionID) { change -> Result<Void, ServiceError> in
            if let error = check(change) { return .failure(error) }
            if let problem = rules.problem(with: new, username: change.user.username) {
                return .failure(.invalid(member: "new_password", detail: problem))
            }
            change.user.passwordHash = hash
            change.user.passwordReset = nil
            change.unlock(at: now)
            change.ending = UserChange.EndingSessions(.passwordChanged, at: now, except: sessionID)
            change.events.append(AuditEvent(.passwordChanged, at: now, by: origin, userID: change.user.id))
            return .success(())
        }
    }

    /// Changes a user for whom `proof` has shown at `now` to be them, and still does in the transaction.
    func update<Value: Sendable>(
        _ reference: UserReference, by proof: AccountProof, at now: Instant,
        _ edit: @escaping @Sendable (inout UserChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> (outcome: Value, endedSessions: Int) {
        let policy = context.policy
        return try await update(reference, asking: proof.sessionID) { change in
            if let refusal = change.refusal(of: proof, by: policy, at: now) { return .failure(refusal) }
            return edit(&change)
        }
    }

    /// Changes a user; what the closure fails with is thrown, and nothing is written then. Nor is anything whose answer was given
    /// up by the time of the transaction.
    func update<Value: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>? = nil,
        _ edit: @escaping @Sendable (inout UserChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> (outcome: Value, endedSessions: Int) {
        let update = try await RequestCancellation.watched { abandonment async throws(ServiceError) in
            try await tokens.inStore { () async throws(StoreError) in
                try await store.updateUser(reference, asking: sessionID) { change -> Result<Value, ServiceError> in
                    if let refusal = abandonment.refusal { return .failure(refusal) }
                    var edited = change
                    let result = edit(&edited)
                    if case .success = result { change = edited }
                    return result
                }
            }
        }
        switch update {
        case .notFound: throw sessionID == nil ? .notFound("user") : .invalidToken(.ended(.userDeleted))
        case .usernameTaken: throw .conflict(code: "username_taken", detail: "the username belongs to another user")
        case .done(let result, let endedSessions): return (try result.get(), endedSessions)
        }
    }
}

extension User.Profile {
    /// The longest member, in bytes of UTF-8.
    static let lengthMax = 256

    /// Whether whoever writes to the user, or calls, reaches the same as by `other`.
    fileprivate func reachesSame(as other: Self) -> Bool {
        EmailChange(from: other, to: self) == nil && phoneNumber == other.phoneNumber
    }

    /// Whether every member can stand in a profile.
    public var isSound: Bool { problem == nil }

    /// What is wrong with the profile, if anything.
    var problem: ServiceError? {
        let texts = [
            ("email", email), ("phone_number", phoneNumber), ("display_name", displayName),
        ]
        for case (let member, let text?) in texts where !Text.isValid(text, lengthMax: Self.lengthMax) {
            return .invalid(member: member, detail: "must have 1 to \(Self.lengthMax) bytes and no control characters")
        }
        if let country, country.utf8.count != 2 || !country.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) {
            return .invalid(member: "country", detail: "must be two capital letters (ISO 3166-1 alpha-2)")
        }
        if let email, !email.dropFirst().dropLast().contains("@") {
            return .invalid(member: "email", detail: "must have an @ inside")
        }
        return nil
    }
}
