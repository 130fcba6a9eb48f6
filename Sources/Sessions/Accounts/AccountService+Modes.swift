/// A change of a session's protection by its app.
public struct ModeChange: Sendable {
    /// The new mode.
    public var mode: AuthenticationMode
    /// A new presence key, for `BIOMETRIC`. The assertion in `evidence` is then signed by this key.
    public var presenceKey: DeviceKey?
    /// The proof of the user's presence.
    public var evidence: PresenceEvidence

    /// Creates a change to `mode`.
    public init(mode: AuthenticationMode, presenceKey: DeviceKey? = nil, evidence: PresenceEvidence) {
        self.mode = mode
        self.presenceKey = presenceKey
        self.evidence = evidence
    }
}

extension AccountService {
    /// Records a proof of the user's presence in the session. Throws `insufficientUserAuthentication` with the accepted ways if
    /// `evidence` proves nothing.
    public func showPresence(
        _ evidence: PresenceEvidence, in current: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) -> SessionRecord {
        let now = context.clock.now
        let requirement =
            context.policy.presenceRequirement(on: current.record)
            ?? PresenceRequirement.ofChanges.asked(of: current.user, in: current.session)
        let proof = try await presence.presence(
            provedBy: evidence, of: current.user, in: current.session, youngerThan: requirement.ageMax, from: origin,
            at: now)
        guard let proof else { throw .insufficientUserAuthentication(requirement) }
        return try await change(current.session.id, shownBy: proof, at: now) { session, _ in
            session.note(proof, at: now)
            return .success(nil)
        }
    }

    /// Changes the session's protection, unless activation is pending. A weaker mode and a new key demand a proof of presence;
    /// a stronger mode does not. The keys remain, so that a change back from `PASSWORD` to `BIOMETRIC` needs no new key.
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
        let proof = try await presence.presence(
            provedBy: evidence, of: current.user, in: old, youngerThan: PresenceRequirement.ageMaxOfChanges,
            from: origin, at: now)
        var shown = old
        if let proof { shown.note(proof, at: now) }
        if shown.requirement(before: modeChange.mode, isNewKey: modeChange.presenceKey != nil) != nil {
            try await requireSecondFactor(shown, of: current.user)
        }
        return try await change(old.id, shownBy: proof, at: now) { session, user in
            if let proof { session.note(proof, at: now) }
            return session.change(modeChange, of: user, at: now, from: origin)
        }
    }

    private func check(
        _ key: DeviceKey, of change: ModeChange, in session: Session, at now: Instant
    ) async throws(ServiceError) {
        if let problem = key.presenceKeyProblem(in: change.mode, besideDeviceKey: session.deviceKey) { throw problem }
        guard let assertion = change.evidence.assertion,
            try await presence.accepts(assertion, of: key, in: session, at: now)
        else {
            throw .invalid(member: "user_assertion", detail: "must be signed by the presence_key, for this session")
        }
    }

    /// Changes a session by `edit`, if its access tokens and `proof` are still valid. Throws the error of `edit`, and writes
    /// nothing then.
    func change(
        _ id: Identifier<Session>, shownBy proof: PresenceProof?, at now: Instant,
        _ edit: @escaping @Sendable (inout Session, User?) -> Result<AuditEvent?, ServiceError>
    ) async throws(ServiceError) -> SessionRecord {
        let policy = context.policy
        let outcome = try await RequestCancellation.watched { abandonment async throws(ServiceError) in
            try await inStore(
                await store.updateSession(id) { change -> Result<SessionRecord, ServiceError> in
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
                })
        }
        guard let outcome else { throw .invalidToken(.unknownSession) }
        return try outcome.get()
    }
}

extension AuditEvent {
    /// The event for a change of the protection of `session`, which has the new mode.
    static func modeChanged(
        of session: Session, from old: AuthenticationMode, isNewKey: Bool = false, at now: Instant, by origin: Origin
    ) -> AuditEvent {
        AuditEvent(
            .authenticationModeChanged, at: now, by: origin, session: session,
            reason: "\(old.rawValue)>\(session.authenticationMode.rawValue)" + (isNewKey ? " new key" : ""))
    }
}

extension Session {
    /// Applies the change, after the proofs in the request were recorded.
    fileprivate mutating func change(
        _ change: ModeChange, of user: User?, at now: Instant, from origin: Origin
    ) -> Result<AuditEvent?, ServiceError> {
        let isNew = change.presenceKey != nil
        if !change.mode.suits(user, hasIdentity: presence.identityAt != nil) {
            return .failure(
                .conflict(
                    code: "password_missing",
                    detail: "PASSWORD needs a user with a password, or one that logged in at an identity provider"))
        }
        guard change.mode != authenticationMode || isNew else { return .success(nil) }
        if presence.isActivationPending {
            return .failure(.activationPending)
        }
        if let requirement = requirement(before: change.mode, isNewKey: isNew), !requirement.isMet(by: self, at: now) {
            return .failure(.insufficientUserAuthentication(requirement.asked(of: user, in: self)))
        }
        let old = authenticationMode
        authenticationMode = change.mode
        let event = AuditEvent.modeChanged(of: self, from: old, isNewKey: isNew, at: now, by: origin)
        if let key = change.presenceKey {
            presence.key = key.text
            presence.provenAt = now
        }
        return .success(event)
    }

    /// The proof that a change of mode demands: a recent one by the ways of the current mode. The registered presence key
    /// suffices for a change from `PASSWORD` to `BIOMETRIC`.
    fileprivate func requirement(before mode: AuthenticationMode, isNewKey: Bool) -> PresenceRequirement? {
        let ways: [PresenceRequirement.Way]
        switch (authenticationMode, mode) {
        case (.no, _) where !isNewKey, (.biometric, .password) where !isNewKey: return nil
        case (.password, .biometric) where !isNewKey && presence.key != nil:
            ways = PresenceRequirement.anyWay
        case (.password, _): ways = PresenceRequirement.credentials
        case (.no, _), (.biometric, _): ways = PresenceRequirement.anyWay
        }
        return PresenceRequirement(ageMax: PresenceRequirement.ageMaxOfChanges, ways: ways)
    }
}
