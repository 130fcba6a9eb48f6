internal import Cryptography

// The calls of the login page, and of the page on which a user types the code of a device.
extension PhoneLoginService {
    /// Gives the browser what its login has brought: the code for the client, as after a login by password. A browser can come
    /// once.
    ///
    /// Throws `login(.pending)` before the approval, `login(.otherBrowser)` for a browser that did not ask, `login(.spent)` for a
    /// second call, `loginOver` for a login that ended otherwise, `notFound` for one that does not answer this request, and what
    /// `PageLoginService.approve` throws.
    ///
    /// - Parameters:
    ///   - id: the login, whose kind is `authorize`.
    ///   - carried: the request of the page, as `Opening.authorization` had it.
    ///   - flow: SHA-256 of the flow cookie of the browser that comes for the code.
    ///   - isReturned: whether it brings the token of `returnURL`.
    public func collect(
        _ id: Identifier<Session>, _ carried: CarriedRequest, flow: [UInt8], isReturned: Bool = false,
        in browser: PageLoginService.Browser, from origin: Origin
    ) async throws(ServiceError) -> PageLoginService.Approval {
        let (now, request) = (context.clock.now, carried.request)
        let token = request.oneTimeToken(at: now, madeAt: Instant(secondsSinceEpoch: carried.madeAt))
        let code = PageLogin.makeCode(context.random.bytes(32))
        let collecting = PhoneLoginOnPageInput(
            request: request, flow: flow, isReturned: isReturned, browser: browser, code: code,
            browserID: Identifier(random: context.random),
            place: Hex.encode(context.random.bytes(16)), policy: context.policy, rules: context.loginRules,
            origin: origin,
            now: now)
        let outcome = try await inStore(
            await store.collectOnPage(id, using: token, browser: browser.handle?.id, by: origin) { collection in
                collection.collect(collecting)
            })
        guard let outcome else { throw .notFound("login") }
        watch.wake([.login(id)])
        return try outcome.get()
    }

    /// Lets the device in whose code the user has typed, with the account of the session of a browser. Throws
    /// `insufficientUserAuthentication` unless the user has authenticated there within the last five minutes, and
    /// `login(.elsewhere)` if the device is not near.
    public func approve(
        _ login: PhoneLogin, inBrowser session: Session, from origin: Origin, isNear: Bool
    ) async throws(ServiceError) -> PhoneLogin {
        if !isNear { try await refuseElsewhere(login, by: session, from: origin) }
        let (now, policy, rules) = (context.clock.now, context.policy, context.loginRules)
        let (id, sessionID) = (login.id, session.id)
        let outcome = try await inStore(
            await store.changeLogin(id, phone: sessionID, by: origin) {
                change -> Result<PhoneLogin, ServiceError> in
                guard let browser = change.phone else { return .failure(.refused(.unknownSession)) }
                let requirement = PresenceRequirement.ofChanges
                guard requirement.isMet(by: browser.session, at: now) else {
                    return .failure(
                        .insufficientUserAuthentication(requirement.asked(of: browser.user, in: browser.session)))
                }
                let acts: [PhoneLogin.Act] = [
                    .claim(.typed, PhoneLogin.Wishes()), .confirm(number: nil),
                    .proveFactor(PhoneFactor(isValid: true)),
                ]
                for act in acts {
                    let outcome = change.act(PhoneLoginAttempt(act), by: policy, rules, from: origin, at: now)
                    if case .refused(let refusal) = outcome.reply { return .failure(.login(refusal)) }
                }
                return .success(change.login)
            })
        guard let outcome else { throw .notFound("login") }
        watch.wake([.login(id)])
        return try outcome.get()
    }

    /// Refuses the device whose code the user has typed.
    public func refuse(
        _ id: Identifier<Session>, inBrowser sessionID: Identifier<Session>, from origin: Origin
    ) async throws(ServiceError) {
        let claim = PhoneLogin.Act.claim(.typed, PhoneLogin.Wishes())
        try await act(claim, on: id, phone: sessionID, from: origin)?.reply.get()
        try await act(.stop(isReport: false), on: id, phone: sessionID, from: origin)?.reply.get()
    }
}

/// What the completion of a login on the page takes, beside the rows.
struct PhoneLoginOnPageInput: Sendable {
    let request: AuthorizationRequest
    let flow: [UInt8]
    let isReturned: Bool
    let browser: PageLoginService.Browser
    let code: (code: String, hash: [UInt8])
    /// The id and the place of a new session of the browser.
    let browserID: Identifier<Session>
    let place: String
    let policy: RefreshPolicy
    let rules: PhoneLoginRules
    let origin: Origin
    let now: Instant
}

extension PhoneLoginOnPage {
    /// Lets the login be collected, and completes the authorization request.
    mutating func collect(_ collecting: PhoneLoginOnPageInput) -> Result<PageLoginService.Approval, ServiceError> {
        guard change.login.kind == .authorize, change.login.request.authorization?.id == collecting.request.id else {
            return .failure(.notFound("login"))
        }
        return complete(
            collecting, as: .collect(browser: collecting.flow, isReturned: collecting.isReturned))
    }

    /// Lets `act` collect the login, and completes the authorization request: the session of the browser, and the code.
    mutating func complete(
        _ collecting: PhoneLoginOnPageInput, as act: PhoneLogin.Act
    ) -> Result<PageLoginService.Approval, ServiceError> {
        let (request, origin, now) = (collecting.request, collecting.origin, collecting.now)
        let before = change
        let outcome = change.act(
            PhoneLoginAttempt(act), by: collecting.policy, collecting.rules, from: origin, at: now)
        guard outcome.reply == .collected else { return .failure(change.login.error(for: outcome.reply)) }
        guard var approval, let approvedAt = change.login.approvedAt else {
            change = before
            return .failure(.invalidCredentials)
        }
        let authentication = PageLoginService.Authentication.phone(of: approval.user.id)
        if let refusal = approval.refusal(of: request, authentication, from: origin, at: now) {
            change = before
            return .failure(refusal)
        }
        let methods: [String]
        switch approval.admit(authentication, for: request, from: origin, at: now) {
        case .failure(let error):
            change = before
            return .failure(error)
        case .success(let admitted): methods = admitted
        }
        let handle = approval.noteBrowserSession(
            collecting.browser.handle, isKept: collecting.browser.isKept, id: collecting.browserID,
            place: collecting.place, name: collecting.browser.name, authentication, methods, phoneLogin: change.login,
            by: collecting.policy, from: origin, at: now)
        var kept = request.kept
        kept.loginMethod = authentication.method
        kept.scope = approval.client?.scopeByPhone(of: kept)
        approval.login = PageLogin(
            id: change.login.id, request: kept, remoteAddress: origin.remoteAddress,
            userAgent: collecting.browser.userAgent, userID: approval.user.id, methods: methods,
            authenticatedAt: approvedAt, epoch: change.login.request.epoch, browserSession: handle?.id,
            codeHash: collecting.code.hash, codeExpiresAt: now + PageLogin.codeLifetime,
            startedAt: change.login.startedAt)
        self.approval = approval
        change.login.browserSession = handle?.id
        return .success(
            PageLoginService.Approval(
                code: collecting.code.code, handle: handle, idle: approval.idle(by: collecting.policy, at: now)))
    }
}

extension PhoneLogin {
    /// The error for a device that gets this answer instead of its session.
    func error(for reply: PhoneLogin.Reply) -> ServiceError {
        switch reply {
        case .refused(.terminated): .loginOver(cause ?? .fault)
        case .refused(let refusal): .login(refusal)
        case .accepted, .collected: .login(.pending)
        }
    }
}
