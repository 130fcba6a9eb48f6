// The PIN of an app: the user sets it by a proof of presence, changes it by itself, and removes it.

extension AccountService {
    /// What allows a new PIN.
    public enum PINPermission: Sendable {
        /// A proof of presence in the same request, because a token alone must not set a PIN.
        case evidence(PresenceEvidence)
        /// The PIN of before.
        case pin(PIN.MAC)
    }

    /// The PIN of the session; throws `notFound` if none is set.
    public func pin(in current: AuthenticatedSession) async throws(ServiceError) -> PIN {
        let pin = try await inStore(await store.pin(of: current.session.id))
        guard let pin else { throw .notFound("pin") }
        return pin
    }

    /// Sets the PIN of the session, or another one in its place. A proof of presence also opens a locked PIN, and records no
    /// presence in the session. Throws `insufficientUserAuthentication` if the evidence proves nothing, and `login` for a wrong
    /// PIN, which is counted with those of logins.
    public func setPIN(
        _ mac: PIN.MAC, by permission: PINPermission, in current: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) -> PIN {
        let now = context.clock.now
        var proof: PresenceProof?
        if case .evidence(let evidence) = permission {
            let requirement = PresenceRequirement.ofChanges
            proof = try await presence.presence(
                provedBy: evidence, of: current.user, in: current.session, youngerThan: requirement.ageMax,
                from: origin, at: now)
            if proof == nil {
                throw .insufficientUserAuthentication(requirement.asked(of: current.user, in: current.session))
            }
        }
        return try await changePIN(of: current.session.id, shownBy: proof, at: now) { change in
            if case .pin(let old) = permission {
                guard let known = change.pin else { return .failure(.login(.noPIN)) }
                if known.isRepeated(byChangeFrom: old, to: mac) { return .success(known) }
                if let refusal = known.refusal(of: old) {
                    change.countWrong(from: origin, at: now)
                    return .failure(.login(refusal))
                }
                return .success(change.set(mac, replacing: old, from: origin, at: now))
            }
            return .success(change.set(mac, replacing: nil, from: origin, at: now))
        }
    }

    /// Removes the PIN of the session, if there is one.
    public func removePIN(in current: AuthenticatedSession, from origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        try await changePIN(of: current.session.id, shownBy: nil, at: now) { change in
            change.remove(from: origin, at: now)
            return .success(())
        }
    }

    /// Changes the PIN of a session by `edit`, if its access tokens and `proof` are still valid. What `edit` counts is written
    /// beside its error.
    private func changePIN<Value: Sendable>(
        of id: Identifier<Session>, shownBy proof: PresenceProof?, at now: Instant,
        _ edit: @escaping @Sendable (inout PINChange) -> Result<Value, ServiceError>
    ) async throws(ServiceError) -> Value {
        let policy = context.policy
        let outcome = try await RequestCancellation.watched { abandonment async throws(ServiceError) in
            try await inStore(
                await store.updatePIN(of: id) { change -> Result<Value, ServiceError> in
                    let refusal =
                        abandonment.refusal ?? policy.refusal(ofTokensIn: change.record, at: now)
                        ?? proof?.refusal(for: change.record.user)
                    if let refusal { return .failure(refusal) }
                    return edit(&change)
                })
        }
        guard let outcome else { throw .invalidToken(.unknownSession) }
        return try outcome.get()
    }
}

extension Administration {
    /// The PIN of a session; nil if none is set.
    public func pin(of id: Identifier<Session>) async throws(ServiceError) -> PIN? {
        try await inStore(await store.pin(of: id))
    }

    /// Removes the PIN of a session, if there is one.
    public func removePIN(of id: Identifier<Session>, by origin: Origin) async throws(ServiceError) {
        let now = context.clock.now
        let isFound = try await inStore(
            await store.updatePIN(of: id) { change in
                change.remove(from: origin, at: now)
                return true
            })
        if isFound == nil { throw .notFound("session") }
    }
}

extension PINChange {
    /// Sets the PIN, with no wrong ones.
    ///
    /// - Parameter old: the PIN that has proved the change; nil: another proof has.
    fileprivate mutating func set(
        _ mac: PIN.MAC, replacing old: PIN.MAC?, from origin: Origin, at now: Instant
    ) -> PIN {
        let session = record.session
        let new = PIN(
            sessionID: session.id, userID: session.userID, macHash: mac.hash, replacing: old?.hash,
            createdAt: pin?.createdAt ?? now, changedAt: now)
        events.append(AuditEvent(pin == nil ? .pinSet : .pinChanged, at: now, by: origin, session: session))
        pin = new
        return new
    }

    /// Removes the PIN, if there is one.
    fileprivate mutating func remove(from origin: Origin, at now: Instant) {
        if pin == nil { return }
        pin = nil
        // What an ended session has left is no PIN any more.
        if record.session.ending != nil { return }
        events.append(AuditEvent(.pinRemoved, at: now, by: origin, session: record.session))
    }
}
