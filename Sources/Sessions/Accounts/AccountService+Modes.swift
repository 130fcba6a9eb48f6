/// A change of how an app guards its session.
public struct ModeChange: Hashable, Sendable {
    /// How from now on.
    public var mode: AuthenticationMode
    /// A new presence key, for `BIOMETRIC`. The assertion of the evidence is then its own.
    public var presenceKey: DeviceKey?
    /// What shows that the user is there.
    public var evidence: PresenceEvidence

    /// A change to `mode`.
    public init(mode: AuthenticationMode, presenceKey: DeviceKey? = nil, evidence: PresenceEvidence) {
        self.mode = mode
        self.presenceKey = presenceKey
        self.evidence = evidence
    }
}

extension AccountService {
    /// Notes that the user has shown to be there. What shows nothing is refused with what would.
    public func showPresence(
        _ evidence: PresenceEvidence, in current: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) -> SessionRecord {
        let now = context.clock.now
        let proof = try await tokens.presence(
            shownBy: evidence, of: current.user, in: current.session, from: origin, at: now)
        guard let proof else {
            let demand = PresenceRequirement(ageMax: PresenceRequirement.ageMaxOfChanges, ways: [.presence, .password])
            throw .userAbsent(demand.asked(of: current.user, in: current.session))
        }
        return try await change(current.session.id, shownBy: proof, at: now) { session, _ in
            session.note(proof, at: now)
            return .success(nil)
        }
    }

    /// Changes how the app guards the session: at any time, but not while activation is pending. What guards it less than
    /// before, and a new key, take the user; what guards it more takes nothing. The keys stay, so that the way back from
    /// `PASSWORD` to `BIOMETRIC` needs no new one.
    public func changeMode(
        _ modeChange: ModeChange, in current: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) -> SessionRecord {
        let now = context.clock.now
        let old = current.session
        var evidence = modeChange.evidence
        if let key = modeChange.presenceKey {
            try await check(key, of: modeChange, in: old, at: now)
            evidence.assertion = nil
        }
        let proof = try await tokens.presence(shownBy: evidence, of: current.user, in: old, from: origin, at: now)
        return try await change(old.id, shownBy: proof, at: now) { session, user in
            if let proof { session.note(proof, at: now) }
            return session.change(modeChange, of: user, at: now, from: origin)
        }
    }

    private func check(
        _ key: DeviceKey, of change: ModeChange, in session: Session, at now: Instant
    ) async throws(ServiceError) {
        guard change.mode == .biometric else {
            throw .invalid(member: "presence_key", detail: "is for the authentication_mode BIOMETRIC")
        }
        guard key.text != session.deviceKey else {
            throw .invalid(member: "presence_key", detail: "must be another key than device_key")
        }
        guard let assertion = change.evidence.assertion,
            try await tokens.isGood(assertion, of: key, in: session, at: now)
        else {
            throw .invalid(member: "user_assertion", detail: "must be signed by the presence_key, for this session")
        }
    }

    /// Changes a session whose tokens are good, and whose user `proof` still shows, if there is one; what the closure fails with
    /// is thrown, and nothing is written then.
    private func change(
        _ id: Identifier<Session>, shownBy proof: PresenceProof?, at now: Instant,
        _ edit: @escaping @Sendable (inout Session, User?) -> Result<AuditEvent?, ServiceError>
    ) async throws(ServiceError) -> SessionRecord {
        let policy = context.policy
        let outcome = try await RequestCancellation.watched { abandonment async throws(ServiceError) in
            try await tokens.inStore { () async throws(StoreError) in
                try await store.updateSession(id) { change -> Result<SessionRecord, ServiceError> in
                    let refusal =
                        abandonment.refusal ?? policy.refusal(ofTokensIn: change.record, at: now)
                        ?? proof?.refusal(for: change.user)
                    if let refusal { return .failure(refusal) }
                    var session = change.session
                    do throws(ServiceError) {
                        if let event = try edit(&session, change.user).get() { change.events.append(event) }
                    } catch {
                        return .failure(error)
                    }
                    change.session = session
                    return .success(change.record)
                }
            }
        }
        guard let outcome else { throw .invalidToken(.unknownSession) }
        return try outcome.get()
    }
}

extension Session {
    /// The change, after what the request shows was noted.
    fileprivate mutating func change(
        _ change: ModeChange, of user: User?, at now: Instant, from origin: Origin
    ) -> Result<AuditEvent?, ServiceError> {
        let isNew = change.presenceKey != nil
        if !change.mode.suits(user) {
            return .failure(
                .conflict(code: "password_missing", detail: "PASSWORD is not for a user without a password"))
        }
        guard change.mode != authenticationMode || isNew else { return .success(nil) }
        if presence.isActivationPending {
            return .failure(
                .conflict(
                    code: "activation_pending",
                    detail: "the presence_key of the login has to sign for the first time before"))
        }
        if let demand = demand(before: change.mode, isNewKey: isNew), !demand.isMet(by: self, at: now) {
            return .failure(.userAbsent(demand.asked(of: user, in: self)))
        }
        let event = AuditEvent(
            .authenticationModeChanged, at: now, by: origin, session: self,
            reason: "\(authenticationMode.rawValue)>\(change.mode.rawValue)" + (isNew ? " new key" : ""))
        if let key = change.presenceKey {
            presence = UserPresence(key: key.text, provenAt: now, passwordAt: presence.passwordAt)
        }
        authenticationMode = change.mode
        return .success(event)
    }

    /// What a change of mode takes: what today's mode takes, a moment ago. From `PASSWORD` to `BIOMETRIC` the key that is
    /// registered already is enough.
    private func demand(before mode: AuthenticationMode, isNewKey: Bool) -> PresenceRequirement? {
        let ways: [PresenceRequirement.Way]
        switch (authenticationMode, mode) {
        case (.no, _) where !isNewKey, (.biometric, .password) where !isNewKey: return nil
        case (.password, .biometric) where !isNewKey && presence.key != nil: ways = [.presence, .password]
        case (.password, _): ways = [.password]
        case (.no, _), (.biometric, _): ways = [.presence, .password]
        }
        return PresenceRequirement(ageMax: PresenceRequirement.ageMaxOfChanges, ways: ways)
    }
}
