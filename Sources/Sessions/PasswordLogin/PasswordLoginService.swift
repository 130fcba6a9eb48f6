/// The parameters of a login.
public struct SessionRequest: Sendable {
    /// The app.
    public var clientID: String
    /// The names by which users of the client log in with a password.
    public var loginNames = PageRegistration.LoginNames.both
    /// The grant by which the login comes, which the client must have unless the login continues a session; nil: it needs none.
    public var grantType: Client.GrantType? = .login
    /// The device; the caller has checked its id and texts.
    public var device: Device
    /// Whether the request names the device. If not, the server has made up its id.
    public var isDeviceNamed = true
    /// How the app will guard the refresh token; nil: the request does not say.
    public var namedMode: AuthenticationMode?
    /// The session that the app still has on the device. If it is one of the user, it goes on; see `SessionOpening`.
    public var continuedSession: Identifier<Session>?
    /// The scope of the access tokens; nil: all that the client can be granted.
    public var scope: Scope?
    /// The thumbprint of the key that the session is bound to: proved in this request, or named by an admin.
    public var keyThumbprint: String?
    /// The valid proof of possession of that key, if the request has one.
    public var proof: ProofOfPossession? { didSet { keyThumbprint = proof?.keyThumbprint } }
    /// The APIs that the access tokens of the session can be for; none: the server's own audience, and later those of the
    /// client.
    public var resources: [String] = []
    /// The key by which the device can resume the session without a token, if it has one.
    public var deviceKey: DeviceKey?
    /// The key that signs only while the user is there, if the device has one.
    public var presenceKey: DeviceKey?
    /// The refresh token of the identity provider, if the login brings one.
    public var providerRefreshToken: String?
    /// The `Idempotency-Key` of the request, if it has one.
    public var idempotencyKey: String?
    /// Whether an account that its user has deleted is kept by the login.
    public var cancelsDeletion = false
    /// The code of the second factor, if the request has one.
    public var code: SecondFactorCode?
    /// The provider's refresh token as it is kept.
    var providerGrant: ProviderGrant?

    /// A login on `device`.
    public init(
        clientID: String, device: Device, authenticationMode: AuthenticationMode? = nil, scope: Scope? = nil,
        proof: ProofOfPossession? = nil
    ) {
        self.clientID = clientID
        self.device = device
        namedMode = authenticationMode
        self.scope = scope
        self.proof = proof
        keyThumbprint = proof?.keyThumbprint
    }
}

extension SessionRequest {
    /// The mode of a new session: the named one, or `NO`.
    public var authenticationMode: AuthenticationMode {
        get { namedMode ?? .no }
        set { namedMode = newValue }
    }
}

extension DeviceKey {
    /// The error if a session in `mode` cannot have this presence key; nil if it can. The key must differ from the device key,
    /// because a key that resumes silently proves no presence.
    func presenceKeyProblem(in mode: AuthenticationMode, besideDeviceKey deviceKey: String?) -> ServiceError? {
        guard mode == .biometric else {
            return .invalid(member: "presence_key", detail: "is for the authentication_mode BIOMETRIC")
        }
        return text == deviceKey ? .invalid(member: "presence_key", detail: "must be another key than device_key") : nil
    }
}

/// Starts sessions: by a password, or for a user that a backend has authenticated.
public final class PasswordLoginService: UseCase {
    let context: ServiceContext
    let signer: TokenSigner
    private let passwords: PasswordVerifier
    private let providerChecks: ProviderCheckService

    init(
        _ context: ServiceContext, _ signer: TokenSigner, _ passwords: PasswordVerifier,
        _ providerChecks: ProviderCheckService
    ) {
        self.context = context
        self.signer = signer
        self.passwords = passwords
        self.providerChecks = providerChecks
    }

    /// Logs in with a password. An unknown user and a wrong password get one answer, equally slow; that logins are disabled is
    /// disclosed only after the right password.
    public func logIn(
        _ request: SessionRequest, username: String, password: String, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let user = try await user(
            named: username, by: request.loginNames, password: password, on: request.device, for: request.clientID,
            from: origin)
        return try await logIn(request, as: user, from: origin)
    }

    /// The user with that name and password, for a login by one of those names on that device in that client: the first half of a login.
    public func user(
        named username: String, by names: PageRegistration.LoginNames, password: String, on device: Device,
        for clientID: String, from origin: Origin
    ) async throws(ServiceError) -> User {
        try await passwords.user(
            PasswordAttempt(
                account: .named(username, names), password: password, deviceID: device.id, clientID: clientID),
            from: origin)
    }

    /// Starts the session, unless the password was changed meanwhile: the second half of a login.
    public func logIn(
        _ request: SessionRequest, as user: User, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        do throws(ServiceError) {
            return try await start(
                request, userID: user.id, by: .password, provedBy: .password(hash: user.passwordHash),
                authenticationMethods: ["pwd"], from: origin)
        } catch .secondFactor(.required(var demand)) {
            demand.loginToken = loginToken(of: user, in: request.clientID, on: request.device.id)
            throw .secondFactor(.required(demand))
        }
    }

    /// The first step of a login of that user after the right password, for the second one.
    public func loginToken(of user: User, in clientID: String, on deviceID: String) -> String {
        context.firstSteps.seal(user, in: clientID, on: deviceID, at: context.clock.now)
    }

    /// The user of a first step in that client on that device, while its password is unchanged: instead of the password.
    public func user(
        continuing loginToken: String, in clientID: String, on deviceID: String
    ) async throws(ServiceError) -> User {
        let now = context.clock.now
        guard let step = context.firstSteps.open(loginToken, in: clientID, on: deviceID, at: now),
            let user = try await inStore(await store.user(.id(step.userID))), step.isOfPassword(of: user)
        else { throw .invalid(member: "login_token", detail: "is not valid, or no longer: begin the login again") }
        return user
    }

    /// Starts a session for a user that a backend has authenticated. It is a login, so that disabled logins prevent it.
    public func mintSession(
        _ request: SessionRequest, for reference: UserReference, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        guard
            let user = try await inStore(await store.user(reference))
        else { throw .notFound("user") }
        var minted = request
        minted.grantType = nil
        return try await start(minted, userID: user.id, by: nil, provedBy: nil, authenticationMethods: [], from: origin)
    }

    /// Starts a session, and ends the one that it replaces on the same device.
    private func start(
        _ request: SessionRequest, userID: Identifier<User>, by method: Client.LoginMethod?,
        provedBy proof: PresenceProof?, authenticationMethods: [String], from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        let start = try starting(
            request, by: method, authenticationMethods: authenticationMethods, from: origin, at: now)
        let outcome = try await inStore(
            await store.openSession(userID: userID, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenGrant.Entitlement, ServiceError> in
                if let refusal = proof?.refusal(for: opening.user) { return .failure(refusal) }
                return start(&opening)
            })
        guard let outcome else { throw .invalidCredentials }
        return try await signer.grant(try outcome.get(), at: now)
    }

    /// The part of a transaction that starts a session for an authenticated user.
    func starting(
        _ request: SessionRequest, by method: Client.LoginMethod?, authenticationMethods: [String],
        from origin: Origin, at now: Instant
    ) throws(ServiceError) -> @Sendable (inout SessionOpening) -> Result<TokenGrant.Entitlement, ServiceError> {
        // A client that was answered 503 meanwhile must not lose the session of its next attempt to this one.
        if Task.isCancelled { throw .overloaded }
        let id = Identifier<Session>(random: context.random)
        let resources = context.resourceRequirement(for: request.resources)
        let check = request.providerGrant.map { providerChecks.firstCheck($0, of: id, at: now) }
        let continuedCheck = request.providerGrant.flatMap { grant in
            request.continuedSession.map { providerChecks.firstCheck(grant, of: $0, at: now) }
        }
        let policy = context.policy
        return { opening in
            let outcome = opening.start(
                request, for: resources, by: policy, id: id, by: method, authenticationMethods: authenticationMethods,
                from: origin, now: now)
            opening.providerCheck = opening.continued == nil ? check : continuedCheck
            return outcome
        }
    }
}
