internal import Locks

// The session of a device, and the calls of admins and of the clean-up.
extension PhoneLoginService {
    /// Starts the session of the login with that secret, or gives it again to a retry with the same `Idempotency-Key`.
    ///
    /// Throws `login(.pending)` before the approval, and `loginOver` when nothing can come of the login any more.
    ///
    /// - Parameters:
    ///   - returnToken: what the phone has handed to the return URI of the device, after an approval by a link.
    ///   - prefixes: those of the secrets that the grant takes.
    public func collect(
        _ secret: String, _ request: SessionRequest, returnToken: String? = nil,
        prefixes: [String] = [PhoneLoginService.secretPrefix, PhoneLoginService.noncePrefix], from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        guard prefixes.contains(where: secret.hasPrefix), secret.utf8.count < 128 else { throw .invalidGrant }
        if Task.isCancelled { throw .overloaded }
        let (now, policy, rules) = (context.clock.now, context.policy, context.loginRules)
        let (ownAudience, codes) = (context.ownAudience, context.loginCodes)
        let outcome = try await inStore(
            await store.collectLogin(poll: Self.hash(secret), deviceID: request.device.id, by: origin) {
                collection -> (Identifier<Session>, Result<TokenGrant.Entitlement, ServiceError>) in
                let id = collection.change.login.id
                // A wrong token is told at once, and takes nothing from the right one.
                let isReturned = returnToken.map { codes.isToken($0, .back, of: id) }
                if isReturned == false { return (id, .failure(.invalidGrant)) }
                let result = collection.collect(
                    request, isReturned: isReturned ?? false, ownAudience: ownAudience, by: policy, rules,
                    from: origin, at: now)
                return (id, result)
            })
        guard let (id, result) = outcome else { throw .invalidGrant }
        let entitlement = try result.get()
        watch.wake([.login(id), .user(entitlement.user.id)])
        return try await signer.grant(entitlement, at: now)
    }

    /// The login with that id, for admins.
    public func login(_ id: Identifier<Session>) async throws(ServiceError) -> PhoneLogin {
        guard let login = try await current(id) else { throw .notFound("login") }
        return login
    }

    /// The logins with a phone, for admins: those of a user, and those in a phase, if given.
    public func logins(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) async throws(ServiceError) -> Page<PhoneLogin> {
        try await inStore(await store.phoneLogins(ofUser: userID, in: phase, after: cursor, limit: limit))
    }

    /// The sessions that a phone has let in and that depend on it.
    public func children(of phoneID: Identifier<Session>) async throws(ServiceError) -> [Identifier<Session>] {
        try await inStore(await store.children(of: phoneID))
    }

    /// Ends a login, and the session that came of it. The call is idempotent.
    public func end(_ id: Identifier<Session>, from origin: Origin) async throws(ServiceError) {
        _ = try await login(id)
        _ = try await act(.revoke, on: id, from: origin)
        watch.wake([.login(id)])
    }

    /// One step of clean-up: lets time change up to `limit` logins that are due, and those that a look has found to be over. Returns
    /// their number; 0: there are none.
    public func sweep(limit: Int = 200) async throws(ServiceError) -> Int {
        let now = context.clock.now
        let due = try await inStore(await store.phoneLogins(dueBy: now, limit: limit))
        let found = overdue.withLock { ids in
            defer { ids = [] }
            return ids
        }
        let all = found.union(due)
        for id in all { _ = try await act(.tick, on: id, from: .system) }
        return all.count
    }
}

extension PhoneLoginStart {
    /// Starts the session of the login, if the user has approved it.
    mutating func collect(
        _ request: SessionRequest, isReturned: Bool, ownAudience: [String], by policy: RefreshPolicy,
        _ rules: PhoneLoginRules, from origin: Origin, at now: Instant
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        let login = change.login
        guard request.clientID == login.clientID, let client = change.client, client.epoch <= login.request.epoch,
            login.request.epoch >= change.settings.revokedBefore?.epoch ?? login.request.epoch
        else { return .failure(.invalidGrant) }
        // A device that has proved a key is let in with that key, by which its user knew it.
        if let proven = login.request.keyThumbprint, request.keyThumbprint != proven { return .failure(.invalidGrant) }
        let before = change
        let key = request.idempotencyKey.map { RefreshAttempt.shortHash("collect \(login.id) \($0)") }
        let reply = change.act(
            PhoneLoginAttempt(.collect(browser: nil, isReturned: isReturned), key: key), by: policy, rules,
            from: origin,
            at: now
        ).reply
        guard reply == .collected else { return .failure(change.login.error(for: reply)) }
        guard var opening, let approvedAt = change.login.approvedAt else { return .failure(.invalidGrant) }
        if let started = change.started {
            return repeated(started, request, for: client, opening.user, ownAudience: ownAudience)
        }
        var start = request
        (start.idempotencyKey, start.continuedSession, start.grantType) = (nil, nil, login.kind.grantType)
        let scope = (login.request.scope ?? client.scope).intersection(client.scope)
        start.scope = login.kind == .app ? scope : client.ofRemoteLogin(scope)
        start.resources = login.request.resources
        let outcome = opening.start(
            start, for: ResourceRequirement(resources: start.resources, ownAudience: ownAudience), by: policy,
            id: login.id, by: .phone, authenticationMethods: [PhoneLogin.authenticationMethod], from: origin,
            now: now,
            authenticated: SessionOpening.Authentication(
                at: approvedAt, isOfThisLogin: true, sessionStart: approvedAt, epoch: login.request.epoch))
        guard case .success(let entitlement) = outcome else {
            // The user has approved in vain: the device may ask again, rightly.
            change = before
            self.opening?.events = opening.events
            return outcome
        }
        if var session = opening.session {
            change.login.bind(&session)
            opening.session = session
        }
        self.opening = opening
        return .success(entitlement.bound(by: bondEnd(of: opening.session, by: policy)))
    }

    private func bondEnd(of session: Session?, by policy: RefreshPolicy) -> Instant? {
        guard let session, session.phoneID != nil, let phone = change.claimant else { return nil }
        var record = SessionRecord(
            session: session, user: opening?.user, client: change.client, settings: change.settings)
        record.phone = .known(phone.session, client: phone.client, login: change.login)
        return policy.bondEnd(of: record)
    }

    /// The session again, for the request that started it and whose answer was lost.
    func repeated(
        _ started: Session, _ request: SessionRequest, for client: Client, _ user: User, ownAudience: [String]
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        guard started.ending == nil, started.parent == 0, started.device.id == request.device.id,
            started.keyThumbprint == request.keyThumbprint, user.loginRefusal == nil
        else { return .failure(.invalidGrant) }
        let resources = ResourceRequirement(resources: started.resources, ownAudience: ownAudience)
        do throws(ServiceError) {
            let audience = try resources.audience(for: client, granted: started.resources)
            try request.proof?.use(for: client.dpop)
            return .success(
                TokenGrant.Entitlement(
                    session: started, user: user, client: client, settings: change.settings,
                    scope: client.standing(started.scope), audience: audience))
        } catch { return .failure(error) }
    }
}

extension Client {
    /// What remains of a scope when a phone approves it for another device.
    func ofRemoteLogin(_ scope: Scope) -> Scope { page.remoteScope.map(scope.intersection) ?? scope }

    /// The scope of an authorization request whose browser a phone has let in; nil: all that the client can be granted.
    func scopeByPhone(of request: AuthorizationRequest) -> String? {
        if page.remoteScope == nil { return request.scope }
        return ofRemoteLogin(request.scope.flatMap { Scope($0) } ?? scope).description
    }
}

extension TokenGrant.Entitlement {
    /// This device, with the end of the bond to a phone.
    fileprivate func bound(by end: Instant?) -> TokenGrant.Entitlement {
        if end == nil { return self }
        return TokenGrant.Entitlement(
            session: session, user: user, client: client, settings: settings, scope: scope, audience: audience,
            bondEnd: end)
    }
}
