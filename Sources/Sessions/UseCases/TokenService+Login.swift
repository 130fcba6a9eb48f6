/// A login as the wire brought it.
public struct LoginRequest: Sendable {
    /// The app.
    public var clientID: String
    /// The device; the caller has checked its id and texts.
    public var device: Device
    /// How the app will guard the token.
    public var authenticationMode: AuthenticationMode
    /// What the rolling tokens may do; nil: all that the client can be granted.
    public var scope: Scope?
    /// The key that the session is bound to: proved in this request, or named by an admin.
    public var keyThumbprint: String?
    /// The good proof of possession of that key that the request holds, if it does.
    public var proof: ProofOfPossession? { didSet { keyThumbprint = proof?.keyThumbprint } }
    /// The APIs that the rolling tokens of the session can be for, the first one for all of them; none: the server's own
    /// audience first, and what the client can have later.
    public var resources: [String] = []
    /// The key by which the device can resume the session without a token, if it has one.
    public var deviceKey: DeviceKey?
    /// The key that signs only while the user is there, if the device has one.
    public var presenceKey: DeviceKey?
    /// The refresh token of the identity provider, if the login brings one.
    public var providerRefreshToken: String?
    /// What is kept of it.
    var providerGrant: ProviderGrant?

    /// A login on `device`.
    public init(
        clientID: String, device: Device, authenticationMode: AuthenticationMode = .no, scope: Scope? = nil,
        proof: ProofOfPossession? = nil
    ) {
        self.clientID = clientID
        self.device = device
        self.authenticationMode = authenticationMode
        self.scope = scope
        self.proof = proof
        keyThumbprint = proof?.keyThumbprint
    }
}

extension LoginRequest {
    /// What is wrong with the presence key. One key for both would let what resumes silently say that the user is there.
    var presenceKeyProblem: ServiceError? {
        guard let presenceKey else { return nil }
        if authenticationMode != .biometric {
            return .invalid(member: "presence_key", detail: "is for the authentication_mode BIOMETRIC")
        }
        return presenceKey == deviceKey
            ? .invalid(member: "presence_key", detail: "must be another key than device_key") : nil
    }
}

extension TokenService {
    /// Logs in with a password. An unknown user and a wrong password get one answer, equally slow; that logins are off is
    /// told only after the right password.
    public func login(
        _ request: LoginRequest, username: String, password: String, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let user = try await user(named: username, password: password, on: request.device, from: origin)
        return try await login(request, as: user, from: origin)
    }

    /// The user with that name and password, who logs in on that device: the first half of a login.
    public func user(
        named username: String, password: String, on device: Device, from origin: Origin
    ) async throws(ServiceError) -> User {
        try await verifiedUser(
            LoginAttempt(username: username, password: password, deviceID: device.id), from: origin)
    }

    /// The second half: starts the session, unless the password has been changed meanwhile.
    public func login(
        _ request: LoginRequest, as user: User, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        try await start(
            request, userID: user.id, shownBy: .password(hash: user.passwordHash), authenticationMethods: ["pwd"],
            from: origin)
    }

    /// Starts a session for a user whom a backend has authenticated. It is a login: a disable prevents it.
    public func mintSession(
        _ request: LoginRequest, for reference: UserReference, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        guard
            let user = try await inStore({ () async throws(StoreError) in try await store.user(reference) })
        else { throw .notFound("user") }
        return try await start(request, userID: user.id, shownBy: nil, authenticationMethods: [], from: origin)
    }

    /// Tells the audit trail that somebody did not know a password.
    func recordFailedLogin(
        of userID: Identifier<User>?, in sessionID: Identifier<Session>? = nil, _ reason: String, from origin: Origin
    ) async throws(ServiceError) {
        let event = AuditEvent(
            .loginFailed, at: context.clock.now, by: origin, userID: userID, sessionID: sessionID, reason: reason)
        try await inStore { () async throws(StoreError) in try await store.append([event]) }
    }

    /// Hashes the password again after the parameters have risen, if nobody has changed it meanwhile. Returns the hash
    /// that stands for the verified password.
    func rehash(_ password: String, of user: User) async throws(ServiceError) -> String? {
        let hash = try await context.passwords.hash(password)
        let update = try await inStore { () async throws(StoreError) in
            try await store.updateUser(.id(user.id)) { change in
                if change.user.passwordHash == user.passwordHash { change.user.passwordHash = hash }
                return change.user.passwordHash
            }
        }
        guard case .done(let stored, _) = update, stored != hash else { return hash }
        // Somebody was quicker: another login, which has hashed the same password again, or a change of the password.
        return try await context.passwords.verify(password, against: stored) ? stored : user.passwordHash
    }

    /// Starts a session, and ends the one that it replaces on the same device.
    func start(
        _ request: LoginRequest, userID: Identifier<User>, shownBy proof: PresenceProof?,
        authenticationMethods: [String], from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        let start = try starting(request, authenticationMethods: authenticationMethods, from: origin, at: now)
        let outcome = try await inStore { () async throws(StoreError) in
            try await store.openSession(userID: userID, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenIssue, ServiceError> in
                if let refusal = proof?.refusal(for: opening.user) { return .failure(refusal) }
                return start(&opening)
            }
        }
        guard let outcome else { throw .invalidCredentials }
        return try await grant(try outcome.get(), at: now)
    }

    /// What starts a session, inside a transaction, for whoever has been authenticated.
    func starting(
        _ request: LoginRequest, authenticationMethods: [String], from origin: Origin, at now: Instant
    ) throws(ServiceError) -> @Sendable (inout SessionOpening) -> Result<TokenIssue, ServiceError> {
        // Whoever was told meanwhile to try again must not lose the session of the next try to this one.
        if Task.isCancelled { throw .overloaded }
        let id = Identifier<Session>(random: context.random)
        let demand = context.demand(for: request.resources)
        let check = request.providerGrant.map { providerCheck($0, of: id, at: now) }
        return { opening in
            opening.providerCheck = check
            return opening.start(
                request, for: demand, id: id, authenticationMethods: authenticationMethods, from: origin, now: now)
        }
    }
}

extension SessionOpening {
    /// Sets the new session if the client and the user's switches allow it.
    mutating func start(
        _ request: LoginRequest, for demand: ResourceRequirement, id: Identifier<Session>,
        authenticationMethods: [String],
        from origin: Origin, now: Instant
    ) -> Result<TokenIssue, ServiceError> {
        guard let client else { return .failure(.invalidClient) }
        let audience: [String]
        do throws(ServiceError) { audience = try demand.audience(for: client) } catch { return .failure(error) }
        let canUseKey = client.grantTypes.contains(.jwtBearer)
        if request.deviceKey != nil, !canUseKey {
            return .failure(
                .invalid(member: "device_key", detail: "is not for this client: its grants have no jwt-bearer"))
        }
        if let problem = request.presenceKeyProblem { return .failure(problem) }
        guard request.authenticationMode.suits(user) else {
            return .failure(
                .invalid(member: "authentication_mode", detail: "PASSWORD is not for a user without a password"))
        }
        guard client.grantTypes.contains(.refreshToken) || request.deviceKey != nil else {
            return .failure(.unauthorizedClient)
        }
        let scope = request.scope ?? client.scope
        guard client.scope.contains(scope) else { return .failure(.invalidScope) }
        if client.dpop == .required, request.keyThumbprint == nil { return .failure(.proofMissing) }
        if let refusal = user.loginRefusal {
            events.append(
                AuditEvent(
                    .loginRefused, at: now, by: origin, userID: user.id, clientID: client.id,
                    deviceID: request.device.id, reason: refusal.rawValue))
            return .failure(.loginRefused(refusal))
        }
        do throws(ServiceError) { try request.proof?.use() } catch { return .failure(error) }
        let session = Session(
            id: id, userID: user.id, clientID: client.id, device: request.device,
            authenticationMode: request.authenticationMode, scope: scope,
            resources: request.resources.isEmpty ? [] : audience, authenticationMethods: authenticationMethods,
            keyThumbprint: request.keyThumbprint,
            deviceKey: request.deviceKey?.text, startedAt: now,
            epoch: settings.epoch, presence: UserPresence(key: request.presenceKey?.text),
            confirmation: request.providerGrant.map { ProviderConfirmation(provider: $0.provider, at: now) })
        if let previous {
            events.append(.ended(previous, .replaced, at: now, by: origin))
        }
        events.append(AuditEvent(.sessionStarted, at: now, by: origin, session: session))
        self.session = session
        return .success(
            TokenIssue(
                session: session, user: user, client: client, settings: settings, scope: scope, audience: audience))
    }
}
