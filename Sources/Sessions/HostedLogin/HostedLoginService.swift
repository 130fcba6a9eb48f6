internal import Cryptography

/// Completes logins on the server's page with codes, and exchanges the codes for sessions (RFC 6749 section 4.1).
public final class HostedLoginService: UseCase {
    let context: ServiceContext
    let signer: TokenSigner

    init(_ context: ServiceContext, _ signer: TokenSigner) {
        self.context = context
        self.signer = signer
    }

    /// How a user has authenticated in a browser.
    public struct Authentication: Sendable {
        let user: User
        let proof: PresenceProof?
        let methods: [String]

        /// By the password with which `user` was read.
        public static func password(of user: User) -> Self {
            Self(user: user, proof: .password(hash: user.passwordHash), methods: ["pwd"])
        }
    }

    /// The browser in which a login takes place.
    public struct Browser: Sendable {
        let userAgent: String?

        /// A browser that calls itself so; nil: it does not say.
        public init(userAgent: String?) { self.userAgent = userAgent }
    }

    /// The client with that id; nil if there is none.
    public func client(_ id: String) async throws(ServiceError) -> Client? {
        guard Device.isValid(id: id) else { return nil }
        return try await inStore { () async throws(StoreError) in try await store.client(id) }
    }

    /// Completes a login of a user who has just authenticated. Returns the code for the client.
    ///
    /// Throws `invalidCredentials` if the password was changed meanwhile, `loginRefused`, `unauthorizedClient` if the client can
    /// no longer have the answer, and `requestSpent` for a pushed request that was answered before.
    public func approve(
        _ carried: CarriedRequest, as authentication: Authentication, in browser: Browser, from origin: Origin
    ) async throws(ServiceError) -> String {
        let now = context.clock.now
        let request = carried.request
        let id = Identifier<Session>(random: context.random)
        let (code, hash) = Login.makeCode(context.random)
        let token = request.oneTimeToken(at: now, goodUntil: Instant(secondsSinceEpoch: carried.madeAt))
        let outcome = try await inStore { () async throws(StoreError) in
            try await store.approveLogin(userID: authentication.user.id, clientID: request.clientID, using: token) {
                approval -> Result<Void, ServiceError> in
                if let refusal = approval.refusal(of: request, authentication, from: origin, at: now) {
                    return .failure(refusal)
                }
                let login = Login(
                    id: id, request: request.kept, remoteAddress: origin.remoteAddress, userAgent: browser.userAgent,
                    userID: approval.user.id, methods: authentication.methods, authenticatedAt: now,
                    epoch: approval.settings.epoch, codeHash: hash, codeExpiresAt: now + Login.codeLifetime,
                    startedAt: now)
                approval.login = login
                approval.events.append(
                    AuditEvent(
                        .loginApproved, at: now, by: origin, userID: login.userID, sessionID: id,
                        clientID: request.clientID))
                return .success(())
            }
        }
        guard let outcome else { throw .requestSpent }
        try outcome.get()
        return code
    }
}

extension AuthorizationRequest {
    /// The request as a one-time token, if it was pushed: it is spent when the login completes, because a page that was opened
    /// must survive a reload. Other requests can be answered again, because anybody can make one.
    fileprivate func oneTimeToken(at now: Instant, goodUntil madeAt: Instant) -> OneTimeToken? {
        guard isPushed == true else { return nil }
        return OneTimeToken(
            .pushedRequest, of: clientID, id: id, goodUntil: madeAt + CarriedRequest.lifetime + CarriedRequest.lifetime,
            at: now)
    }
}

extension LoginApproval {
    /// Why the login cannot be completed; nil if it can.
    fileprivate mutating func refusal(
        of request: AuthorizationRequest, _ authentication: HostedLoginService.Authentication, from origin: Origin,
        at now: Instant
    ) -> ServiceError? {
        if let refusal = authentication.proof?.refusal(for: user) { return refusal }
        // The client may have changed since its request was sealed.
        guard let client, client.grantTypes.contains(.authorizationCode),
            client.hostedLogin.redirects(to: request.redirectURI)
        else { return .unauthorizedClient }
        guard let refusal = user.loginRefusal else { return nil }
        events.append(
            AuditEvent(
                .loginRefused, at: now, by: origin, userID: user.id, clientID: client.id, reason: refusal.rawValue))
        return .loginRefused(refusal)
    }
}
