// The whole decision on a refresh, from the top down: `decide` is the entry point and states the audit events; `renew` checks
// the session, the client, the device and the clock; `rotate` is the table of convergent, confirmed rotation.

/// The row of the table that answers a refresh, or the reason why no row does.
public enum RefreshDecision: Hashable, Sendable {
    /// The child is presented again within the rotation interval: it remains the child, and its arrival is confirmed.
    case repeated
    /// The child is presented after the rotation interval: it becomes the parent of a new child.
    case rotated
    /// The parent is presented within the interval, or by the request that made the child: it gets the same child.
    case converged
    /// The parent is presented and the child never arrived: it gets a new child, and the unseen one is dead.
    case reissued
    /// An older token is presented with a valid proof of the session's key: a stale process of the right device.
    case caughtUp
    /// A token newer than the stored child is presented, because the database was restored from a backup.
    case restored
    /// The session's device key is presented instead of a token: it gets the child again.
    case resumed
    /// An older token is presented by a request that was sent before the last child was given out, so that it may have been
    /// no older one then: no new token, and no refusal.
    case stale
    /// The clock has jumped (`ClockGuard`), so that the session may have ended or not: no new token, and no refusal.
    case undecided
    /// The identity provider's last confirmation is too old and no newer one has come: no new token, and no refusal.
    case unconfirmed
    /// No new token.
    case refused(RefusalReason)

    /// Whether the answer has new tokens.
    var grantsTokens: Bool {
        switch self {
        case .repeated, .rotated, .converged, .reissued, .caughtUp, .restored, .resumed: true
        case .stale, .undecided, .unconfirmed, .refused: false
        }
    }

    /// Whether the answer has the child that the session has, as the answer before had.
    var keepsChild: Bool { self == .repeated || self == .converged }

    /// The label in metrics.
    public var name: String {
        switch self {
        case .repeated: "repeated"
        case .rotated: "rotated"
        case .converged: "converged"
        case .reissued: "reissued"
        case .caughtUp: "caught_up"
        case .restored: "restored"
        case .resumed: "resumed"
        case .stale: "stale_request"
        case .undecided: "undecided"
        case .unconfirmed: "unconfirmed"
        case .refused(let reason): reason.rawValue
        }
    }
}

/// Decides refreshes. Pure, synchronous and total, because the store runs it inside the transaction that writes the session.
///
/// Convergent, confirmed rotation: lost answers never end an honest client's session, and two parties that both go on
/// refreshing with copies of one token are detected, however often one of them asks. `RefreshInterleavingTests` explores every
/// history of a small model around `renew` and fails when a row is changed.
public struct RefreshPolicy: Hashable, Sendable {
    /// The maximum lifetime that the configuration file sets and that no setting can exceed.
    public let absoluteMaximum: Duration
    /// The terms of the identity providers that are asked again, by name.
    public let recheckTerms: [String: RecheckTerms]

    /// A policy under `absoluteMaximum`.
    public init(absoluteMaximum: Duration, recheckTerms: [String: RecheckTerms] = [:]) {
        self.absoluteMaximum = absoluteMaximum
        self.recheckTerms = recheckTerms
    }

    /// The policy by the settings alone, which include the maximum that a node serves with.
    static let ofSettingsAlone = RefreshPolicy(absoluteMaximum: .seconds(Int64.max))

    /// The absolute maximum: this node's, or that of the node which started last, if that is shorter.
    public func absoluteMaximum(beside settings: Settings) -> Duration {
        min(absoluteMaximum, settings.servedMaximum ?? absoluteMaximum)
    }

    /// The lifetimes of a session of `client` and `user` by today's settings.
    public func lifetimes(settings: Settings, client: Client?, user: User?) -> Lifetimes {
        Lifetimes(
            settings: settings.sessions, client: client, user: user,
            absoluteMaximum: absoluteMaximum(beside: settings), restores: settings.restores)
    }

    // MARK: The decision

    /// Decides `attempt` on the session that `change` holds: edits the session, records the audit events, and returns what is
    /// granted or refused.
    ///
    /// - Parameter resources: the APIs that the attempt asks for.
    func decide(
        _ attempt: RefreshAttempt, _ change: inout SessionChange, for resources: ResourceRequirement,
        from origin: Origin, at time: ClockGuard.Reading
    ) -> RefreshAttempt.Verdict {
        let now = time.now
        if attempt.isStale(at: now, interval: change.settings.sessions.rotationInterval) {
            return .failed(.staleRequest)
        }
        if change.session.phoneID != nil, let verdict = endByBond(&change, from: origin, at: time) { return verdict }
        var session = change.session
        let (user, client) = (change.user, change.client)
        let decision = renew(
            attempt, &session, user: user, client: client, settings: change.settings, now: now,
            earliest: time.earliest)
        switch decision {
        case .stale: return .failed(.staleRequest)
        case .undecided: return .failed(.store(.clockInDoubt))
        case .unconfirmed: return .failed(.identityProviderUnavailable)
        case .refused(let reason):
            change.keep(session, endedBy: origin, at: now)
            if reason == .insufficientUserAuthentication,
                let requirement = unmetRequirement(of: attempt, on: change.record, at: now)
            {
                return .refused(.insufficientUserAuthentication(requirement), session.userID)
            }
            return .refused(.refused(reason), session.userID)
        case .repeated, .rotated, .converged, .reissued, .caughtUp, .restored, .resumed: break
        }
        // The rules from here on leave the session as it was, so that the presented token is not spent.
        guard let user, let client else { return .failed(.refused(.unknownSession)) }
        if attempt.presence?.refusal(for: user) != nil {
            return .refused(.wrongPassword(requirement(afterWrongPasswordIn: change.record)), user.id)
        }
        guard client.staysLoggedIn else { return .refused(.grantClosed(reauthenticate: true), user.id) }
        guard client.grantTypes.contains(attempt.isOfDeviceKey ? .jwtBearer : .refreshToken) else {
            return .refused(.grantClosed(reauthenticate: client.helpsToLogIn(insteadOf: session)), user.id)
        }
        let scope = attempt.scope ?? session.scope
        guard session.scope.contains(scope) else { return .refused(.invalidScope, user.id) }
        let audience: [String]
        do throws(ServiceError) {
            audience = try resources.audience(for: client, granted: session.resources)
        } catch { return .refused(error, user.id) }
        do throws(ServiceError) {
            let use = try attempt.useProof(isBound: session.keyThumbprint != nil, for: client.dpop, decision)
            // The first answer was lost. This one has the same child, and leaves the session as the first one has made it.
            if use == .repetition { return repeated(change.record, user, client, scope, audience, decision) }
        } catch { return .failed(error) }
        if decision == .restored {
            change.events.append(
                AuditEvent(.sessionRestored, at: now, by: origin, session: session, reason: "newer_than_stored"))
        }
        if client.attestation == .report { change.noteAttestation(of: session, after: decision, by: origin, at: now) }
        if let report = attempt.deviceReport {
            if client.appData == .report, session.device.isContradicted(by: report) {
                change.events.append(
                    AuditEvent(
                        .devicePlatformChanged, at: now, by: origin, session: session,
                        reason: "\(session.device.platform ?? "")>\(report.platform ?? "")"))
            }
            session.device.take(report)
        }
        change.session = session
        return .granted(
            TokenGrant.Entitlement(
                session: session, user: user, client: client, settings: change.settings,
                scope: client.standing(scope), audience: audience, decision: decision,
                bondEnd: session.phoneID == nil ? nil : bondEnd(of: change.record)))
    }

    /// The tokens for a request that was answered before, by the session as it is.
    private func repeated(
        _ record: SessionRecord, _ user: User, _ client: Client, _ scope: Scope, _ audience: [String],
        _ decision: RefreshDecision
    ) -> RefreshAttempt.Verdict {
        .granted(
            TokenGrant.Entitlement(
                session: record.session, user: user, client: client, settings: record.settings,
                scope: client.standing(scope), audience: audience, decision: decision,
                bondEnd: record.session.phoneID == nil ? nil : bondEnd(of: record), isRepetition: true))
    }

    /// Decides which row of the table answers `attempt` at `now`, and edits `session` accordingly. The first check that fails
    /// answers. An end that the clock brings at `now` but not at `earliest` is left undecided.
    public func renew(
        _ attempt: RefreshAttempt, _ session: inout Session, user: User?, client: Client?,
        settings: Settings, now: Instant, earliest: Instant? = nil
    ) -> RefreshDecision {
        if let ending = recordedEnding(of: session, user: user, client: client, settings: settings, now: now) {
            session.end(ending.reason, at: ending.at)
            return .refused(.ended(ending.reason))
        }
        let isClientProved = attempt.clientID != nil && attempt.isClientAuthenticated
        guard attempt.clientID ?? session.clientID == session.clientID, isClientProved || client?.isPublic == true
        else { return .refused(.bindingMismatch) }
        if let key = session.keyThumbprint, key != attempt.provenKeyThumbprint { return .refused(.bindingMismatch) }
        if let device = attempt.deviceID, device != session.device.id { return .refused(.deviceMismatch) }
        if client?.appData == .refuse, !session.device.isConfirmed(by: attempt.deviceReport) {
            return .refused(.deviceMismatch)
        }
        if client?.attestation == .refuse, session.attestation != Session.genuine { return .refused(.deviceMismatch) }
        if let refusal = user?.loginRefusal { return .refused(refusal) }
        let lifetimes = lifetimes(settings: settings, client: client, user: user)
        if let ending = lifetimes.ending(of: session, at: now) {
            if let earliest, lifetimes.ending(of: session, at: earliest) == nil { return .undecided }
            session.end(ending.reason, at: ending.at)
            return .refused(.ended(ending.reason))
        }
        if let presence = attempt.presence { session.note(presence, at: now) }
        let interval = settings.sessions.rotationInterval
        let isUnconfirmed = isUnconfirmed(session, at: now)
        if isUnconfirmed
            || unmetPresenceRequirement(of: attempt, on: session, client: client, settings: settings, now: now) != nil
            || lacksSecondFactor(session, client: client, settings: settings)
        {
            // Reuse is detected all the same. An honest client has to come back later, or with the user, and nothing is spent.
            var renewed = session
            let decision = rotate(attempt, &renewed, interval: interval, now: now)
            guard case .refused = decision else {
                return isUnconfirmed ? .unconfirmed : .refused(.insufficientUserAuthentication)
            }
            session = renewed
            return decision
        }
        let decision = rotate(attempt, &session, interval: interval, now: now)
        if decision.grantsTokens { session.noteRenewal(at: now, step: interval / 4) }
        return decision
    }

    /// The table of convergent, confirmed rotation. Every check before it has passed.
    private func rotate(
        _ attempt: RefreshAttempt, _ session: inout Session, interval: Duration, now: Instant
    ) -> RefreshDecision {
        let serial = attempt.serial
        let sinceAnswer = now - session.childAnsweredAt
        let isRecent = sinceAnswer < interval
        // The proof of the key is valid, because the binding check has refused all others.
        let isBound = session.keyThumbprint != nil
        let isSameRequest = attempt.requestKey != nil && attempt.requestKey == session.childRequestKey

        if attempt.isOfDeviceKey {
            // It moves in steps of a quarter interval, so that frequent resumptions cost few writes.
            if sinceAnswer > .zero, sinceAnswer >= interval / 4 { session.childAnsweredAt = now }
            return .resumed
        }
        if serial == session.child {
            if isRecent {
                if !isBound { session.confirmChild(at: now) }
                return .repeated
            }
            session.issueChild(serial + 1, of: serial, requestKey: attempt.requestKey, now: now)
            return .rotated
        }
        if serial == session.parent {
            if let confirmedAt = session.childConfirmation, !isBound {
                // The holder of the child needs the parent no more. Nothing moves, because retries could keep the child for
                // ever.
                if isSameRequest || now - confirmedAt < interval { return .converged }
                session.end(.refreshTokenReused, at: now)
                return .refused(.ended(.refreshTokenReused))
            }
            if isRecent || isSameRequest || isBound {
                // Without this move, a duplicate in flight would meet a second rotation and end an honest session.
                if sinceAnswer > .zero, sinceAnswer >= interval / 4 { session.childAnsweredAt = now }
                return .converged
            }
            session.issueChild(session.child + 1, of: serial, requestKey: attempt.requestKey, now: now)
            return .reissued
        }
        if serial < session.child {
            if isBound { return .caughtUp }
            // The stored token became old while this request was under way. It proves nothing, and the client loads again.
            if interval > .zero, attempt.wasSent(by: session.childAnsweredAt) { return .stale }
            session.end(.refreshTokenReused, at: now)
            return .refused(.ended(.refreshTokenReused))
        }
        session.issueChild(serial + 1, of: serial, requestKey: attempt.requestKey, now: now)
        return .restored
    }

    // MARK: Endings

    /// The ending that is recorded, in the session itself or by a revocation that ended many sessions in one write.
    func recordedEnding(
        of session: Session, user: User?, client: Client?, settings: Settings, now: Instant
    ) -> Session.Ending? {
        if let ending = session.ending { return ending }
        if let cut = settings.revokedBefore, session.epoch < cut.epoch {
            return Session.Ending(reason: .revokedByAdmin, at: cut.at)
        }
        guard user != nil else { return Session.Ending(reason: .userDeleted, at: now) }
        // Deleting a client ends its sessions, even when another client of the same id was made since.
        guard let client, client.epoch <= session.epoch else { return Session.Ending(reason: .revokedByAdmin, at: now) }
        return nil
    }

    /// The ending of `record` at `now`: recorded, or brought by the clock.
    public func ending(of record: SessionRecord, at now: Instant) -> Session.Ending? {
        recordedEnding(
            of: record.session, user: record.user, client: record.client, settings: record.settings, now: now)
            ?? bondEnding(of: record, at: now)
            ?? lifetimes(settings: record.settings, client: record.client, user: record.user)
            .ending(of: record.session, at: now)
    }
}

extension RefreshPolicy {
    /// The requirement after a wrong password. A session without a requirement of its own asks for the password.
    func requirement(afterWrongPasswordIn record: SessionRecord) -> PresenceRequirement {
        presenceRequirement(on: record)
            ?? PresenceRequirement(ageMax: PresenceRequirement.ageMaxOfChanges, ways: PresenceRequirement.credentials)
            .asked(of: record.user, in: record.session)
    }

    /// Whether `attempt` would be granted if it proved the user's presence. It is decided on a copy, so that nothing is spent.
    func accepts(_ attempt: RefreshAttempt, withUserOf record: SessionRecord, at time: ClockGuard.Reading) -> Bool {
        var session = record.session
        let decision = renew(
            attempt.proving(attempt.strongestProof(of: record.user)), &session, user: record.user,
            client: record.client, settings: record.settings, now: time.now, earliest: time.earliest)
        switch decision {
        case .refused, .stale, .undecided, .unconfirmed: return false
        case .repeated, .rotated, .converged, .reissued, .caughtUp, .restored, .resumed: return true
        }
    }
}

extension RefreshAttempt {
    /// Uses up the proof of the session's key, which the decision requires. On a session that is not bound to a key it does
    /// nothing.
    ///
    /// - Parameter decision: what the attempt would get; nil before it is decided. A request that was repeated as a whole is
    ///   answered if it gets the child of the first answer, and proves nothing of the user's presence.
    @discardableResult
    func useProof(
        isBound: Bool, for requirement: Client.ProofRequirement, _ decision: RefreshDecision? = nil
    ) throws(ServiceError) -> ProofOfPossession.Use {
        guard isBound, let proof else { return .first }
        let use = try proof.useAgain(for: requirement)
        guard use == .first || (decision?.keepsChild == true && evidence.isEmpty) else { throw .unproven(.repeated) }
        return use
    }
}

extension Session {
    /// Makes `parent` the parent and `serial` the child.
    fileprivate mutating func issueChild(_ serial: UInt64, of parent: UInt64, requestKey: UInt64?, now: Instant) {
        self.parent = parent
        child = serial
        childAnsweredAt = now
        renewedAt = now
        childRequestKey = requestKey
        childConfirmedAt = nil
    }

    /// Begins the idle time anew, in steps, so that a client that refreshes all the time costs few writes.
    fileprivate mutating func noteRenewal(at now: Instant, step: Duration) {
        if now > renewedAt, now - renewedAt >= step { renewedAt = now }
    }

    /// Records that the child has arrived, once: it is presented before the next rotation is due.
    fileprivate mutating func confirmChild(at now: Instant) {
        if childConfirmation == nil, now > childAnsweredAt { childConfirmedAt = now }
    }

    /// The time at which `child` was first presented after it was last given out, if it was.
    fileprivate var childConfirmation: Instant? {
        childConfirmedAt.flatMap { $0 > childAnsweredAt ? $0 : nil }
    }
}

extension Client {
    /// Whether a new login would succeed where this session can no longer be renewed.
    fileprivate func helpsToLogIn(insteadOf session: Session) -> Bool {
        // The session's device key is refused, and a login gives a refresh token.
        if grantTypes.contains(.refreshToken) { return true }
        // Refresh tokens are refused: a login with a device key helps, unless this session has one already.
        return grantTypes.contains(.jwtBearer) && session.deviceKey == nil
    }
}

extension SessionChange {
    /// Records that a renewed session lacks the verdict `genuine`: one event for each rotation, because a client that refreshes
    /// all the time must not fill the trail.
    fileprivate mutating func noteAttestation(
        of session: Session, after decision: RefreshDecision, by origin: Origin, at now: Instant
    ) {
        guard session.attestation != Session.genuine, session.child != self.session.child || decision == .resumed
        else { return }
        events.append(
            AuditEvent(.attestationMissed, at: now, by: origin, session: session, reason: session.attestation))
    }

    /// Takes over `session`, and records its end in the audit trail if this change brings it.
    mutating func keep(_ session: Session, endedBy origin: Origin, at now: Instant) {
        if let ending = session.ending, self.session.ending == nil {
            events.append(.ended(session, ending.reason, at: now, by: origin))
        }
        self.session = session
    }
}
