internal import Cryptography

/// A request to exchange a code (RFC 6749 section 4.1.3).
public struct CodeExchangeRequest: Sendable {
    /// The code.
    public var code: String
    /// `redirect_uri`, which must be that of the authorization request.
    public var redirectURI: String
    /// `code_verifier` (RFC 7636); nil for the code of a request without a challenge.
    public var verifier: String?
    /// The client, the device and its keys. The scope and the resources of the session are those of the authorization request.
    public var login: SessionRequest
    /// The APIs of the access token; none: those of the authorization request.
    public var resources: [String]

    /// A request to exchange `code`.
    public init(code: String, redirectURI: String, verifier: String?, login: SessionRequest, resources: [String] = []) {
        self.code = code
        self.redirectURI = redirectURI
        self.verifier = verifier
        self.login = login
        self.resources = resources
    }
}

extension PageLoginService {
    /// What the exchange of a code grants.
    public struct Grant: Sendable {
        /// The tokens.
        public let tokens: TokenGrant
        /// The ID token, if the scope has `openid`.
        public let idToken: String?
    }

    /// Exchanges a code for a session. The first exchange starts the session, whose id is that of the login, or continues the one
    /// that the request names (`SessionOpening.continueSession`). A code that is used again ends the session (RFC 6749 section 4.1.2), except for a request whose answer was lost: see
    /// `CodeExchange.converges`.
    public func exchange(_ request: CodeExchangeRequest, from origin: Origin) async throws(ServiceError) -> Grant {
        guard request.code.hasPrefix(PageLogin.codePrefix), request.code.utf8.count < 128 else { throw .invalidGrant }
        if Task.isCancelled { throw .overloaded }
        let now = context.clock.now
        let (policy, resources) = (context.policy, context.resourceRequirement(for: request.resources))
        let hash = PageLogin.hash(ofCode: request.code)
        let ownAudience = context.ownAudience
        let outcome = try await inStore(
            await store.exchangeCode(hash, deviceID: request.login.device.id) {
                exchange -> Result<(TokenGrant.Entitlement, PageLogin), ServiceError> in
                let login = exchange.login
                return exchange.decide(request, for: resources, ownAudience, by: policy, from: origin, at: now)
                    .map { ($0, login) }
            })
        guard let outcome else { throw .invalidGrant }
        let (entitlement, login) = try outcome.get()
        let tokens = try await signer.grant(entitlement, at: now)
        return Grant(tokens: tokens, idToken: try idToken(of: tokens, login, for: entitlement.client, at: now))
    }
}

extension CodeExchange {
    /// How long after the exchange the same request gets the same session.
    static let retryWindow = Duration.seconds(30)

    /// Decides on the exchange. A request that is not that of the client which asked for the code changes nothing, or a thief
    /// of the code could use it up or end the session.
    mutating func decide(
        _ request: CodeExchangeRequest, for resources: ResourceRequirement, _ ownAudience: [String],
        by policy: RefreshPolicy, from origin: Origin, at now: Instant
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        if let refusal = refusal(of: request) { return .failure(.clientRefused(refusal)) }
        if login.codeUsedAt != nil { return decideAgain(request, for: resources, by: policy, from: origin, at: now) }
        guard now < login.codeExpiresAt, let client = opening.client, client.grantTypes.contains(.authorizationCode),
            client.epoch <= login.epoch, login.epoch >= opening.settings.revokedBefore?.epoch ?? login.epoch,
            let method = login.request.loginMethod,
            login.request.codeChallenge != nil || client.page.pkce == .optional
        else { return .failure(.invalidGrant) }
        if login.joinedSession != nil { return join(request, for: resources, of: client, by: policy, at: now) }
        if login.isByPhone, !isLetIn { return .failure(.invalidGrant) }
        var start = request.login
        (start.idempotencyKey, start.grantType) = (nil, .authorizationCode)
        // A session that a phone lets in is a new one, which depends on the phone.
        if login.isByPhone || login.phoneLoginID != nil { start.continuedSession = nil }
        // A scope that an admin has removed from the client since is not granted.
        start.scope = login.request.scope.flatMap { Scope($0) }?.intersection(client.scope)
        start.resources = login.request.resources
        if !start.isDeviceNamed { start.device = login.device(start.device) }
        let outcome = opening.start(
            start, for: ResourceRequirement(resources: start.resources, ownAudience: ownAudience), by: policy,
            id: login.id, by: method, authenticationMethods: login.methods, from: origin, now: now,
            authenticated: SessionOpening.Authentication(
                at: login.authenticatedAt, isOfThisLogin: login.authenticatedAt >= login.startedAt,
                sessionStart: login.sessionStart, epoch: login.epoch))
        guard case .success(let entitlement) = outcome else { return outcome }
        if login.isByPhone, var session = opening.session {
            phoneLogin?.bind(&session)
            opening.session = session
        }
        if method.provider != nil { opening.session?.presence.identityAt = login.authenticatedAt }
        return narrowed(entitlement, to: resources).map { entitlement in
            login.codeUsedAt = now
            login.continuedID = opening.continued?.id
            login.codeRequest = request.key
            return entitlement
        }
    }

    /// Whether the phone still lets the browser in: its login is not over, nor the session on which the new one would depend.
    private var isLetIn: Bool {
        guard let phoneLogin, phoneLogin.hasLetIn else { return false }
        return !phoneLogin.isLoggedIn || phone.map { $0.ending == nil } == true
    }

    /// The refusal of a request that is not that of the client which asked for the code: another id, redirect URI, verifier or
    /// key; nil for the same.
    private func refusal(of request: CodeExchangeRequest) -> ClientRefusal? {
        let asked = login.request
        func refusal(_ sent: String, _ expected: String) -> ClientRefusal {
            ClientRefusal(.invalidGrant, of: request.login.clientID, sent: sent, expected: expected)
        }
        guard request.login.clientID == asked.clientID else {
            return refusal("a code of another client", "a code of this client")
        }
        guard request.redirectURI == asked.redirectURI else {
            return refusal("redirect_uri \(ClientRefusal.quoted(request.redirectURI))", asked.redirectURI)
        }
        guard PKCE.isVerifier(request.verifier, of: asked.codeChallenge) else {
            return refusal(
                PKCE.description(ofVerifier: request.verifier),
                asked.codeChallenge == nil
                    ? "no code_verifier, because the authorization request had no code_challenge"
                    : "the code_verifier of the code_challenge, with \(PKCE.verifierForm)")
        }
        guard asked.keyThumbprint == nil || asked.keyThumbprint == request.login.keyThumbprint else {
            return refusal("no proof of the key of the authorization request", "a DPoP proof of this key")
        }
        return nil
    }

    /// Decides on a code that was exchanged before.
    private mutating func decideAgain(
        _ request: CodeExchangeRequest, for resources: ResourceRequirement, by policy: RefreshPolicy,
        from origin: Origin, at now: Instant
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        guard let session = started, session.ending == nil else { return .failure(.invalidGrant) }
        if converges(request, on: session, by: policy, at: now), let client = opening.client {
            do throws(ServiceError) {
                try request.login.proof?.use(for: client.dpop)
                let audience = try resources.audience(for: client, granted: session.resources)
                return .success(
                    TokenGrant.Entitlement(
                        session: session, user: opening.user, client: client, settings: opening.settings,
                        scope: client.standing(grantedScope(in: session)), audience: audience,
                        bondEnd: session.phoneID == nil ? nil : policy.bondEnd(of: record(of: session)),
                        hasRefreshToken: login.joinedSession == nil))
            } catch { return .failure(error) }
        }
        ending = Session.Ending(reason: .codeReused, at: now)
        opening.events.append(.ended(session, .codeReused, at: now, by: origin))
        return .failure(.invalidGrant)
    }

    /// The scope of the tokens for the code: that of the session which it has started, or what the request asks for of one that
    /// lived before.
    func grantedScope(in session: Session) -> Scope {
        guard login.joinedSession != nil, let asked = login.request.scope.flatMap({ Scope($0) }) else {
            return session.scope
        }
        return session.scope.intersection(asked)
    }

    /// Whether the request is the one that started `session`, whose answer was lost: it has the same `Idempotency-Key` and the
    /// same key, comes soon, and nothing has come of the session yet. This deviates from RFC 6749 section 4.1.2, so that it is
    /// not for clients that have to push their requests: these follow FAPI 2.0, whose tests repeat a whole request.
    private func converges(
        _ request: CodeExchangeRequest, on session: Session, by policy: RefreshPolicy, at now: Instant
    ) -> Bool {
        guard let key = request.key, key == login.codeRequest, let usedAt = login.codeUsedAt,
            now - usedAt < Self.retryWindow, let client = opening.client,
            !client.page.requiresPushedRequests
        else { return false }
        // A session that was joined has been refreshed since it began.
        let isUntouched =
            login.continuedID == nil
            ? session.parent == 0 && session.childConfirmedAt == nil
            : max(session.childAnsweredAt, session.childConfirmedAt ?? usedAt) <= usedAt
        return (isUntouched || login.joinedSession != nil)
            && session.keyThumbprint == request.login.keyThumbprint && opening.user.loginRefusal == nil
            && !policy.isUnconfirmed(session, at: now) && policy.ending(of: record(of: session), at: now) == nil
    }

    /// The entitlement for the APIs that the token request names among those of the authorization request.
    private mutating func narrowed(
        _ entitlement: TokenGrant.Entitlement, to resources: ResourceRequirement
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        if resources.resources.isEmpty { return .success(entitlement) }
        do throws(ServiceError) {
            let audience = try resources.audience(for: entitlement.client, granted: entitlement.session.resources)
            return .success(
                TokenGrant.Entitlement(
                    session: entitlement.session, user: entitlement.user, client: entitlement.client,
                    settings: entitlement.settings, scope: entitlement.scope, audience: audience))
        } catch {
            // The session must not start for a request that is refused.
            (opening.session, opening.continued) = (nil, nil)
            opening.events = []
            return .failure(error)
        }
    }
}

extension CodeExchangeRequest {
    /// SHA-256 of the `Idempotency-Key`; nil without one.
    var key: [UInt8]? { login.idempotencyKey.map { sha256(Array("code \($0)".utf8)) } }
}

/// Proof Key for Code Exchange (RFC 7636), with the method `S256` only.
public enum PKCE {
    /// Returns true for the base64url of 32 bytes.
    public static func isChallenge(_ text: String) -> Bool {
        text.utf8.count == 43 && Base64URL.decode(text)?.count == 32
    }

    /// Returns true if `text` has the form of a verifier (section 4.1).
    public static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(isUnreserved)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte)
    }

    /// The form of a verifier, in words.
    static let verifierForm = "43 to 128 characters of A-Z a-z 0-9 - . _ ~"

    /// A verifier in words that do not disclose it: its length, and how much of it is outside of the alphabet.
    static func description(ofVerifier text: String?) -> String {
        guard let text else { return "no code_verifier" }
        let strangers = text.utf8.count { !isUnreserved($0) }
        return "a code_verifier of \(text.utf8.count) bytes, \(strangers) of them outside of the alphabet"
    }

    /// Returns true if `text` is the verifier of that challenge (section 4.6), or if both are absent. A verifier without a
    /// challenge is refused, because a challenge may have been removed from the request (RFC 9700 section 4.8.2).
    static func isVerifier(_ text: String?, of challenge: String?) -> Bool {
        guard let text, let challenge else { return text == nil && challenge == nil }
        return isVerifier(text)
            && constantTimeEqual(Array(Base64URL.encode(sha256(Array(text.utf8))).utf8), Array(challenge.utf8))
    }
}
