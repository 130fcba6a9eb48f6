// A login that names the session which the device still has (AMB-57): the user cannot use biometry now, and gives the password
// or logs in at the identity provider or on the server's page instead. A new session would cost the device its keys, and the user the biometry.

extension SessionOpening {
    /// Continues `previous` instead of a new session, if the request names it, and all of this holds:
    ///
    /// - `previous` is the session of the same user, client and device, because the store found it by these.
    /// - A device key could resume it now: it has not ended, its provider confirms it, and the proof of possession is of its
    ///   key, if it has one.
    /// - It depends on no phone, because a login would pass by the bond.
    /// - Its mode stays, or the user has just proved to be there, in the session or by this login.
    /// - The request brings no other keys, and asks for no scope or resource beyond those of the session.
    ///
    /// Otherwise the result is nil, and the login starts a session as usual. What the login proves is recorded, and the session
    /// gets its current refresh token again, as at a resumption: no token that the device may have stored becomes old by an
    /// answer that is lost. The start of the session does not move.
    ///
    /// - Parameters:
    ///   - proof: what the login proves of the user's presence; nil: nothing, because it was answered without the user.
    ///   - shownAt: when the user proved it.
    ///   - methods: the authentication methods of the login, with its mark.
    mutating func continueSession(
        _ request: SessionRequest, _ requestKey: UInt64?, showing proof: PresenceProof?, at shownAt: Instant,
        _ methods: [String], for resources: ResourceRequirement, of client: Client, by policy: RefreshPolicy,
        _ origin: Origin,
        _ now: Instant
    ) -> TokenGrant.Entitlement? {
        guard let previous, previous.phoneID == nil, passkey == nil, request.continues(previous),
            let audience = try? resources.audience(for: client, granted: previous.resources)
        else { return nil }
        var session = previous
        session.takeMarks(of: methods)
        let attempt = RefreshAttempt(
            serial: 0, clientID: client.id, provenKeyThumbprint: request.keyThumbprint, proof: request.proof,
            presence: proof, deviceReport: request.device.report, isOfDeviceKey: true)
        let decision = policy.renew(attempt, &session, user: user, client: client, settings: settings, now: now)
        guard decision == .resumed else { return nil }
        session.presence.keep(previous.presence, to: shownAt)
        if request.namedMode ?? session.authenticationMode != session.authenticationMode,
            !PresenceRequirement.ofChanges.isMet(by: session, at: now)
        {
            return nil
        }
        session.take(request, requestKey, at: now)
        events.append(AuditEvent(.sessionContinued, at: now, by: origin, session: session))
        if session.authenticationMode != previous.authenticationMode {
            events.append(.modeChanged(of: session, from: previous.authenticationMode, at: now, by: origin))
        }
        continued = session
        return TokenGrant.Entitlement(
            session: session, user: user, client: client, settings: settings,
            scope: client.standing(request.scope ?? session.scope), audience: audience)
    }
}

extension SessionOpening {
    /// What a login by `method` proves of the user's presence.
    func proof(of method: Client.LoginMethod?, _ authentication: Authentication?, _ now: Instant) -> PresenceProof? {
        switch method {
        case .provider?: return .identity(at: authentication?.at ?? now)
        case .password? where authentication?.isOfThisLogin ?? true: return .password(hash: user.passwordHash)
        case .passkey? where authentication?.isOfThisLogin ?? true: return .passkey
        default: return nil
        }
    }
}

extension UserPresence {
    /// Sets a proof that was noted now to the time at which the user gave it, unless `earlier` has a later one.
    fileprivate mutating func keep(_ earlier: UserPresence, to instant: Instant) {
        if provenAt != earlier.provenAt { provenAt = max(earlier.provenAt ?? instant, instant) }
        if passwordAt != earlier.passwordAt { passwordAt = max(earlier.passwordAt ?? instant, instant) }
    }
}

extension SessionRequest {
    /// Whether the request names this session, and asks for nothing that only a new session can have. The mode cannot change
    /// while the activation of a presence key is pending.
    fileprivate func continues(_ session: Session) -> Bool {
        let mode = namedMode ?? session.authenticationMode
        return continuedSession == session.id
            && keyThumbprint == session.keyThumbprint
            && (deviceKey == nil || deviceKey?.text == session.deviceKey)
            && (presenceKey == nil || presenceKey?.text == session.presence.key)
            && (scope.map(session.scope.contains) ?? true)
            && (mode == session.authenticationMode || !session.presence.isActivationPending)
    }
}

extension Session {
    /// Takes over what the login says of device and mode, and the provider's confirmation that it brings.
    fileprivate mutating func take(_ request: SessionRequest, _ requestKey: UInt64?, at now: Instant) {
        authenticationMode = request.namedMode ?? authenticationMode
        device.name = request.device.name ?? device.name
        device.platform = request.device.platform ?? device.platform
        device.appVersion = request.device.appVersion ?? device.appVersion
        childRequestKey = requestKey ?? childRequestKey
        if let grant = request.providerGrant {
            confirmation = ProviderConfirmation(provider: grant.provider, at: now)
        }
    }
}
