// The start of a session, for every way in: by password, page, phone, passkey, identity provider, or an admin.

internal import Cryptography

extension SessionRequest {
    /// How long after a login the same request gets the same session.
    static let retryWindow = Duration.seconds(600)

    /// A short hash of the `Idempotency-Key` with the ID token, because the token alone must not lead to the session.
    func requestKey(with token: OneTimeToken?) -> UInt64? {
        idempotencyKey.map { RefreshAttempt.shortHash("login \($0) \(token.map { Hex.encode($0.digest) } ?? "")") }
    }
}

extension SessionOpening {
    /// Whether `previous` is the session that an earlier attempt of this login began: the answer was lost, because nothing
    /// has come of it yet. The same session then goes on, so that neither it nor an ID token is used up by the retry.
    private func isBegun(_ previous: Session, by session: Session, at now: Instant) -> Bool {
        guard let key = session.childRequestKey, key == previous.childRequestKey else { return false }
        let record = SessionRecord(session: previous, user: user, client: client, settings: settings)
        return previous.parent == 0 && previous.child == session.child && previous.childConfirmedAt == nil
            && now - previous.startedAt < SessionRequest.retryWindow
            && RefreshPolicy.ofSettingsAlone.ending(of: record, at: now) == nil
            && previous.authenticationMode == session.authenticationMode && previous.scope == session.scope
            && previous.resources == session.resources && previous.keyThumbprint == session.keyThumbprint
            && previous.deviceKey == session.deviceKey && previous.presence.key == session.presence.key
            && previous.authenticatedAt == previous.startedAt
    }

    /// The error of a login by a used token or code that would begin another session; nil: token and code are fresh.
    private var repetitionError: ServiceError? {
        if isReplay { return replayError }
        return factors.hasSpentCode ? .secondFactor(.wrongCode(clockDiffers: false)) : nil
    }

    /// The error in the keys of a login; nil if there is none.
    private func keyProblem(in request: inout SessionRequest, of client: Client) -> ServiceError? {
        if request.deviceKey != nil, !client.grantTypes.contains(.jwtBearer) {
            return .invalid(member: "device_key", detail: "is not for this client: its grants have no jwt-bearer")
        }
        // Installed apps go on logging in when an admin switches staying logged in off: the answer says that nothing renews.
        if !client.staysLoggedIn { request.deviceKey = nil }
        return request.presenceKey?.presenceKeyProblem(
            in: request.authenticationMode, besideDeviceKey: request.deviceKey?.text)
    }

    /// An authentication before the session starts.
    struct Authentication {
        /// When the user authenticated.
        let at: Instant
        /// Whether it was for this login, and not for an earlier one that the session of a browser has answered for.
        let isOfThisLogin: Bool
        /// When a new session counts as started.
        let sessionStart: Instant
        /// The epoch of the settings then.
        let epoch: Int64
    }

    /// Sets the new session if the client and the user's switches allow it.
    ///
    /// - Parameters:
    ///   - method: how the user authenticated; nil: not at all, because an admin vouches for the user.
    ///   - authenticated: the authentication, if it was before; nil: now.
    mutating func start(
        _ request: SessionRequest, for resources: ResourceRequirement, by policy: RefreshPolicy,
        id: Identifier<Session>, by method: Client.LoginMethod?, authenticationMethods: [String],
        from origin: Origin, now: Instant, authenticated: Authentication? = nil
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        let requestKey = request.requestKey(with: token)
        if isReplay, requestKey == nil || requestKey != previous?.childRequestKey {
            return .failure(replayError)
        }
        guard let client else { return .failure(.invalidClient) }
        if let refusal = method.flatMap(client.refusal(of:)) { return .failure(refusal) }
        let audience: [String]
        do throws(ServiceError) { audience = try resources.audience(for: client) } catch { return .failure(error) }
        var request = request
        if let problem = keyProblem(in: &request, of: client) { return .failure(problem) }
        guard request.authenticationMode.suits(user, hasIdentity: isByIdentity) else {
            return .failure(
                .invalid(member: "authentication_mode", detail: "PASSWORD is not for a user without a password"))
        }
        guard client.grantTypes.contains(.refreshToken) || request.deviceKey != nil || !client.staysLoggedIn else {
            return .failure(.grantMissing(.refreshToken))
        }
        let scope = request.scope ?? client.scope
        guard client.scope.contains(scope) else { return .failure(.invalidScope) }
        if let refusal = client.dpop.refusal(ofKey: request.keyThumbprint, request.proof) { return .failure(refusal) }
        if let refusal = refusal(keepingAccount: request.cancelsDeletion) {
            noteRefusal(of: request, in: client, from: origin, at: now)
            return .failure(refusal)
        }
        let methods: [String]
        switch admit(authenticationMethods, by: method, request, requestKey, authenticated, from: origin, at: now) {
        case .failure(let error): return .failure(error)
        case .success(let admitted): methods = admitted
        }
        do throws(ServiceError) { try request.proof?.use(for: client.dpop) } catch { return .failure(error) }
        let shown = proof(of: method, authenticated, now)
        if let entitlement = continueSession(
            request, requestKey, showing: shown, at: authenticated?.at ?? now, methods, for: resources, of: client,
            by: policy, origin, now)
        {
            return .success(entitlement)
        }
        if let refusal = client.refusal(of: request.grantType) { return .failure(refusal) }
        let session = Session(
            id: id, userID: user.id, clientID: client.id, device: request.device,
            authenticationMode: request.authenticationMode, scope: scope,
            resources: request.resources.isEmpty ? [] : audience, authenticationMethods: methods,
            keyThumbprint: request.keyThumbprint,
            deviceKey: request.deviceKey?.text, startedAt: authenticated?.sessionStart ?? now,
            epoch: authenticated?.epoch ?? settings.epoch, childAnsweredAt: now, childRequestKey: requestKey,
            presence: UserPresence(key: request.presenceKey?.text, identityAt: isByIdentity ? now : nil),
            confirmation: request.providerGrant.map { ProviderConfirmation(provider: $0.provider, at: now) },
            probationUntil: probationEnd(of: method, at: now))
        if let previous, isBegun(previous, by: session, at: now) {
            return .success(
                TokenGrant.Entitlement(
                    session: previous, user: user, client: client, settings: settings, scope: scope,
                    audience: audience))
        }
        if let repetitionError { return .failure(repetitionError) }
        if let previous {
            events.append(.ended(previous, .replaced, at: now, by: origin))
        }
        events += keepingEvents(at: now, by: origin)
        events.append(AuditEvent(.sessionStarted, at: now, by: origin, session: session))
        self.session = session
        return .success(
            TokenGrant.Entitlement(
                session: session, user: user, client: client, settings: settings, scope: scope, audience: audience))
    }

    private mutating func noteRefusal(
        of request: SessionRequest, in client: Client, from origin: Origin, at now: Instant
    ) {
        events.append(
            AuditEvent(
                .loginRefused, at: now, by: origin, userID: user.id, clientID: client.id,
                deviceID: request.device.id, deviceName: request.device.label, reason: user.loginRefusal?.rawValue))
    }

    /// A code by mail proves less than the user's own secrets, so that a new place can do nothing that lasts for a day.
    private func probationEnd(of method: Client.LoginMethod?, at now: Instant) -> Instant? {
        let isNewByMail = method == .email && previous == nil && !isPlaceKnown
        return isNewByMail ? now + VerificationService.probation : nil
    }
}
