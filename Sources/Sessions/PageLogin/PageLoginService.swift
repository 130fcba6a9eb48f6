internal import Cryptography

/// Completes logins on the server's page with codes, and exchanges the codes for sessions (RFC 6749 section 4.1).
public final class PageLoginService: UseCase {
    let context: ServiceContext
    let signer: TokenSigner
    let logout: LogoutService
    let federation: FederationService

    init(
        _ context: ServiceContext, _ signer: TokenSigner, _ logout: LogoutService, _ federation: FederationService
    ) {
        self.context = context
        self.signer = signer
        self.logout = logout
        self.federation = federation
    }

    /// The browser in which a login takes place.
    public struct Browser: Sendable {
        let userAgent: String?
        /// The handle of its session, if it has shown one.
        let handle: BrowserHandle?
        /// Whether the user wants to stay logged in; nil: the form did not ask, so that it remains as it was for that user.
        public let isKept: Bool?
        /// The sealed request of the form that it has sent; nil: it has sent none.
        let form: String?
        /// The code of the second factor in the form that it has sent; nil: it has sent none.
        public var code: SecondFactorCode?

        /// A browser.
        public init(userAgent: String?, handle: BrowserHandle? = nil, isKept: Bool? = nil, form: String? = nil) {
            (self.userAgent, self.handle, self.isKept, self.form) = (userAgent, handle, isKept, form)
        }
    }

    /// A completed login.
    public struct Approval: Sendable {
        /// The code for the client.
        public let code: String
        /// The session that the browser keeps; nil: none.
        public let handle: BrowserHandle?
        /// How long the session goes on without use.
        public let idle: Duration
    }

    /// The client with that id, as pages show it; nil if there is none.
    public func client(_ id: String) async throws(ServiceError) -> Client? {
        guard Device.isValid(id: id) else { return nil }
        let catalogue = try await inStore(await store.catalogue())
        return catalogue.clients[id]?.branded(by: catalogue.settings)
    }

    /// What pages show that belong to no client.
    public func branding() async throws(ServiceError) -> Branding { try await inStore(await store.settings()).branding }

    /// All clients.
    public func clients() async throws(ServiceError) -> [Client] {
        try await inStore(await store.clients())
    }

    /// The user with that identity; nil if there is none.
    public func owner(of identity: Identity.Key) async throws(ServiceError) -> Identifier<User>? {
        try await inStore(await store.identity(identity)?.userID)
    }

    /// Answers a request by the session of the browser, without asking the user. Nil if the user has to be asked.
    public func reuse(
        _ carried: CarriedRequest, in browser: Browser, from origin: Origin
    ) async throws(ServiceError) -> Approval? {
        guard let handle = browser.handle, let record = try await browserSession(handle) else { return nil }
        do throws(ServiceError) {
            return try await approve(carried, as: .session(of: record.session.userID), in: browser, from: origin)
        } catch {
            switch error {
            case .invalidCredentials, .loginRefused, .secondFactor: return nil
            default: throw error
            }
        }
    }

    /// The name of the account that the session of the browser would answer a request for, if the user chose it; nil without
    /// one.
    public func choice(
        for request: AuthorizationRequest, in browser: Browser
    ) async throws(ServiceError) -> String? {
        guard request.demandsChoice, let handle = browser.handle, let client = try await client(request.clientID),
            let record = try await browserSession(handle), let user = record.user
        else { return nil }
        let phones = try await inStore(await store.browserPhones(of: record.session))
        let past = policy.reusable(record, handle, phones, for: request.chosen, of: client, at: context.clock.now)
        return past == nil ? nil : user.username
    }

    /// The user of the browser's session, if that session is one for the client of the request; nil without one. A
    /// further login does not ask for the name again.
    public func knownUser(
        for request: AuthorizationRequest, in browser: Browser
    ) async throws(ServiceError) -> User? {
        guard !request.demandsChoice, let handle = browser.handle,
            let record = request.isOfAccountPages
                ? try await accountSession(handle) : try await browserSession(handle),
            let user = record.user, request.hintedUser ?? user.id.description == user.id.description
        else { return nil }
        if request.isOfAccountPages { return user }
        guard let client = try await client(request.clientID), client.page.browserSession != .none,
            record.session.device.id.hasPrefix(client.browserPlace)
        else { return nil }
        return user
    }

    /// Logs a user in for a request that `reuse` answers later: the browser gets its session, and the client nothing. Nil if the
    /// client keeps no session in browsers. Throws as `approve` does.
    public func begin(
        _ carried: CarriedRequest, as authentication: Authentication, in browser: Browser, from origin: Origin
    ) async throws(ServiceError) -> (handle: BrowserHandle, idle: Duration)? {
        let request = carried.request
        return try await openSession(as: authentication, in: browser, of: request.clientID, from: origin) {
            approval, now in
            approval.refusal(of: request, authentication, from: origin, at: now)
        }
    }

    /// Gives a browser its session, or lets that of the same user go on, unless `refusal` names an error. Nil if the client keeps no
    /// session in browsers.
    func openSession(
        as authentication: Authentication, in browser: Browser, of clientID: String, from origin: Origin,
        _ refusal: @escaping @Sendable (inout PageLoginCompletion, Instant) -> ServiceError?
    ) async throws(ServiceError) -> (handle: BrowserHandle, idle: Duration)? {
        let (now, policy) = (context.clock.now, context.policy)
        let proof = try authentication.proof(by: federation, at: now)
        let id = Identifier<Session>(random: context.random)
        let place = Hex.encode(context.random.bytes(16))
        let outcome = try await inStore(
            await store.approveLogin(
                by: proof, clientID: clientID, using: nil, browser: browser.handle?.id
            ) { approval -> Result<(handle: BrowserHandle, idle: Duration)?, ServiceError> in
                if let error = refusal(&approval, now) { return .failure(error) }
                let methods: [String]
                do throws(ServiceError) {
                    methods = try approval.admit(
                        authentication, in: browser, for: nil, by: policy, from: origin, at: now
                    ).get()
                } catch { return .failure(error) }
                let handle = approval.noteBrowserSession(
                    browser.handle, isKept: browser.isKept, id: id, place: place, name: browser.name,
                    authentication, methods, by: policy, from: origin, at: now)
                approval.note(authentication, proof, sessionID: handle?.id ?? id, from: origin, at: now)
                return .success(handle.map { ($0, approval.idle(by: policy, at: now)) })
            })
        guard let outcome else { throw authentication.errorWithoutUser }
        return try outcome.get()
    }

    /// Completes a login of a user who has authenticated.
    ///
    /// Throws `invalidCredentials` if the password was changed meanwhile, `passkeyRefused` or `identityRefused` if the proof was
    /// used before or is gone, `conflict` if no username is left for a new user, `loginRefused`, `unauthorizedClient` if the
    /// client can no longer have the answer, and `requestSpent` for a pushed request that was answered before.
    public func approve(
        _ carried: CarriedRequest, as authentication: Authentication, in browser: Browser, from origin: Origin
    ) async throws(ServiceError) -> Approval {
        let (now, policy, request) = (context.clock.now, context.policy, carried.request)
        let proof = try authentication.proof(by: federation, at: now)
        let id = Identifier<Session>(random: context.random)
        let browserID = Identifier<Session>(random: context.random)
        let place = Hex.encode(context.random.bytes(16))
        // A form that a browser sends twice gets one code. After the use of that code the form gets another.
        let repeatable = browser.form.map { PageLogin.makeCode(context.requests.codeBytes(ofForm: $0)) }
        let fresh = PageLogin.makeCode(context.random.bytes(32))
        let token = request.oneTimeToken(at: now, madeAt: Instant(secondsSinceEpoch: carried.madeAt))
        let outcome = try await inStore(
            await store.approveLogin(
                by: proof, clientID: request.clientID, using: token, code: repeatable?.hash,
                browser: browser.handle?.id, listsClientSessions: request.isSilent
            ) { approval -> Result<Approval, ServiceError> in
                let answered = repeatable.flatMap {
                    approval.repeatedAnswer(to: authentication, $0.code, in: browser, by: policy, at: now)
                }
                if let answered { return .success(answered) }
                let (code, hash) = approval.answered == nil ? repeatable ?? fresh : fresh
                if let refusal = approval.refusal(of: request, authentication, from: origin, at: now) {
                    return .failure(refusal)
                }
                let methods: [String]
                do throws(ServiceError) {
                    methods = try approval.admit(
                        authentication, in: browser, for: request, by: policy, from: origin, at: now
                    ).get()
                } catch { return .failure(error) }
                var (handle, authenticatedAt) = (BrowserHandle?.none, authentication.time(at: now))
                var (kept, phoneLogin) = (request.kept, PhoneLogin?.none)
                kept.loginMethod = authentication.method
                if authentication.isByProvider { kept.sessionStart = now.secondsSinceEpoch }
                if case .session = authentication {
                    guard let shown = browser.handle,
                        let (session, past) = approval.reusable(shown, for: request, by: policy, at: now)
                    else { return .failure(.invalidCredentials) }
                    (authenticatedAt, handle) = (past.at, shown)
                    kept.loginMethod = past.method
                    phoneLogin = past.phoneLogin
                    if phoneLogin != nil { kept.scope = approval.client?.scopeByPhone(of: kept) }
                    if past.method?.provider != nil {
                        kept.sessionStart = max(past.at, session.startedAt).secondsSinceEpoch
                    }
                    approval.kept = session
                    approval.kept?.renewedAt = now
                    approval.noteSessionToJoin(in: &kept, of: request, letInBy: phoneLogin, by: policy, at: now)
                } else {
                    handle = approval.noteBrowserSession(
                        browser.handle, isKept: browser.isKept, id: browserID, place: place, name: browser.name,
                        authentication, methods, by: policy, from: origin, at: now)
                }
                approval.login = PageLogin(
                    id: id, request: kept, remoteAddress: origin.remoteAddress, userAgent: browser.userAgent,
                    userID: approval.user.id, methods: methods, authenticatedAt: authenticatedAt,
                    epoch: approval.settings.epoch,
                    browserSession: kept.joinedSession == nil ? handle?.id : nil, codeHash: hash,
                    codeExpiresAt: now + PageLogin.codeLifetime, startedAt: now)
                approval.login?.phoneLoginID = phoneLogin?.id
                approval.note(authentication, proof, sessionID: id, from: origin, at: now)
                approval.noteApproval(of: request, authentication, sessionID: id, from: origin, at: now)
                return .success(Approval(code: code, handle: handle, idle: approval.idle(by: policy, at: now)))
            })
        guard let outcome else { throw authentication.errorWithoutUser }
        if case .failure(.identityRefused(let reason)) = outcome {
            try await recordFailedLogin(of: nil, "id_token_\(reason.rawValue)", from: origin)
        }
        return try outcome.get()
    }
}

extension AuthorizationRequest {
    /// The request as a one-time token, if it was pushed: it is spent when the login completes, because a page that was opened
    /// must survive a reload. Other requests can be answered again, because anybody can make one.
    func oneTimeToken(at now: Instant, madeAt: Instant) -> OneTimeToken? {
        guard isPushed == true else { return nil }
        return OneTimeToken(
            .pushedRequest, of: clientID, id: id, goodUntil: madeAt + CarriedRequest.lifetime + CarriedRequest.lifetime,
            at: now)
    }
}

extension PageLoginCompletion {
    /// The answer that the same form has got a moment ago, which its browser may have given up. Nil if there is none, or if its
    /// code is used.
    fileprivate func repeatedAnswer(
        to authentication: PageLoginService.Authentication, _ code: String,
        in browser: PageLoginService.Browser, by policy: RefreshPolicy, at now: Instant
    ) -> PageLoginService.Approval? {
        guard let answered, case .password(let proven) = authentication, answered.userID == user.id,
            PresenceProof.password(hash: proven.passwordHash).refusal(for: user) == nil, user.loginRefusal == nil,
            answered.codeUsedAt == nil, now < answered.codeExpiresAt
        else { return nil }
        let handle = answered.browserSession.map { BrowserHandle(id: $0, isKept: browser.isKept == true) }
        let lifetimes = policy.lifetimes(settings: settings, client: browserClient, user: user)
        return PageLoginService.Approval(
            code: code, handle: handle, idle: min(lifetimes.idle, lifetimes.maximum) - (now - answered.startedAt))
    }

    /// How long the session of the browser goes on without use; zero without one.
    func idle(by policy: RefreshPolicy, at now: Instant) -> Duration {
        guard let session = started ?? kept else { return .zero }
        let lifetimes = policy.lifetimes(settings: settings, client: browserClient, user: user)
        return min(lifetimes.idleEnd(of: session), lifetimes.finalEnd(of: session)) - now
    }

    /// Records that the user has completed the login.
    fileprivate mutating func noteApproval(
        of request: AuthorizationRequest, _ authentication: PageLoginService.Authentication,
        sessionID: Identifier<Session>, from origin: Origin, at now: Instant
    ) {
        events.append(
            AuditEvent(
                .loginApproved, at: now, by: origin, userID: user.id, sessionID: sessionID,
                clientID: request.clientID, reason: authentication.reason))
    }

    /// Why the login cannot be completed; nil if it can.
    mutating func refusal(
        of request: AuthorizationRequest, _ authentication: PageLoginService.Authentication, from origin: Origin,
        at now: Instant
    ) -> ServiceError? {
        if isRequestSpent { return .requestSpent }
        if case .password(let proven) = authentication,
            let refusal = PresenceProof.password(hash: proven.passwordHash).refusal(for: user)
        {
            return refusal
        }
        if isReplay { return authentication.replayError }
        // The client may have changed since its request was sealed.
        guard let client, client.grantTypes.contains(.authorizationCode),
            client.page.redirects(to: request.redirectURI),
            authentication.method.map({ client.page.offers($0, for: request) }) ?? true
        else { return .unauthorizedClient }
        guard let refusal = user.loginRefusal else { return nil }
        events.append(
            AuditEvent(
                .loginRefused, at: now, by: origin, userID: user.id, clientID: client.id, reason: refusal.rawValue))
        return .loginRefused(refusal)
    }
}
