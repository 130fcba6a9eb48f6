internal import Cryptography

// Logins in the phone's own app: a web session at its backend, opened by the second factor (AppLogin).
extension PhoneLoginService {
    /// The prefix of web nonces.
    public static let noncePrefix = "sjn_"

    /// Opens a login for a web session of that client, with the account of the phone. It waits for the second factor, however
    /// recently the user gave one.
    public func openInApp(
        clientID: String, by session: AuthenticatedSession, key: String?, from origin: Origin
    ) async throws(ServiceError) -> PhoneLogin {
        let now = context.clock.now
        guard let client = try await client(clientID), client.grantTypes.contains(.deviceCode) else {
            throw .unauthorizedClient
        }
        if let refusal = client.refusal(of: .phone) { throw refusal }
        let phone = policy.phone(of: session.record, at: now)
        if phone.isBarred { throw .login(.barred) }
        let id = Identifier<Session>(random: context.random)
        var request = PhoneLogin.Request()
        (request.epoch, request.remoteAddress) = (session.record.settings.epoch, origin.remoteAddress)
        request.pollHash = context.webNonces.first.map { Self.hash(Self.nonce(of: id, $0)) }
        let login = PhoneLogin.inApp(
            id: id, clientID: clientID, phone: phone, request: request, rules: context.loginRules, at: now)
        _ = try await inStore(await store.requestLogin(login))
        return try await perform(.start, on: id, by: session, key: key, from: origin)
    }

    /// The web nonce of an approved login of the app; nil for every other one.
    public func webNonce(of login: PhoneLogin) -> String? {
        guard login.kind == .app, login.state == .approved else { return nil }
        return context.webNonces.lazy.map { Self.nonce(of: login.id, $0) }.first {
            Self.hash($0) == login.request.pollHash
        }
    }

    /// How long a web nonce is good.
    public func webNonceLifetime(of login: PhoneLogin) -> Duration {
        login.collectUntil.map { $0 - context.clock.now } ?? .zero
    }

    /// Derived from the id, so that a repeated request gets the nonce again and the database has its hash alone.
    private static func nonce(of id: Identifier<Session>, _ key: HMACSHA256Key) -> String {
        noncePrefix + Base64URL.encode(key.authenticate(id.bytes))
    }
}

// The page to which the URL of a web nonce leads (AppLogin): it signs the browser in. Its session then answers the request of
// the client.
extension PhoneLoginService {
    /// An approved login of an app that has signed no browser in yet.
    public struct AppVisit: Sendable {
        /// The account of the phone.
        public let user: User
        /// The client for which the app wants the web session.
        public let client: Client
        let id: Identifier<Session>
        let nonceHash: [UInt8]
    }

    /// The login of a web nonce, for the question of the page. Throws `invalidGrant` for a nonce that is unknown, too old or used,
    /// and for a client that no page can sign a browser in for. Writes nothing.
    public func appVisit(by nonce: String) async throws(ServiceError) -> AppVisit {
        guard nonce.hasPrefix(Self.noncePrefix), nonce.utf8.count < 128 else { throw .invalidGrant }
        let (hash, now) = (Self.hash(nonce), context.clock.now)
        let found = try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) -> (PhoneLogin, User)? in
                guard let login = try reader.phoneLogin(.poll(hash: hash)).value(), let id = login.userID,
                    let user = try reader.user(.id(id)).value()
                else { return nil }
                return (login, user)
            })
        guard let (login, user) = found, webNonce(of: login) == nonce, login.collectUntil.map({ now < $0 }) ?? false,
            let client = try await client(login.clientID), client.appLoginPage != nil
        else { throw .invalidGrant }
        return AppVisit(user: user, client: client, id: login.id, nonceHash: hash)
    }

    /// Signs a browser in by a login of an app, once: its session depends on that of the phone.
    ///
    /// Throws `conflict` for a browser with the session of another user, which stays, `invalidGrant` as `appVisit` does, and
    /// otherwise what the collection of a device throws.
    public func signIn(
        _ visit: AppVisit, in browser: PageLoginService.Browser, from origin: Origin
    ) async throws(ServiceError) -> (handle: BrowserHandle, idle: Duration) {
        guard let redirectURI = visit.client.page.redirectURIs.first else { throw .unauthorizedClient }
        let collecting = PhoneLoginOnPageInput(
            request: AuthorizationRequest(
                id: Hex.encode(context.random.bytes(16)), clientID: visit.client.id, redirectURI: redirectURI,
                codeChallenge: ""),
            flow: [], isReturned: false, browser: browser, code: PageLogin.makeCode(context.random.bytes(32)),
            browserID: Identifier(random: context.random), place: Hex.encode(context.random.bytes(16)),
            policy: context.policy, rules: context.loginRules, origin: origin, now: context.clock.now)
        let outcome = try await inStore(
            await store.collectOnPage(visit.id, using: nil, browser: browser.handle?.id, by: origin) { collection in
                collection.signIn(collecting, nonceHash: visit.nonceHash)
            })
        guard let outcome else { throw .invalidGrant }
        watch.wake([.login(visit.id)])
        return try outcome.get()
    }
}

extension PhoneLoginOnPage {
    /// Lets the login of an app be collected by a browser, without a code: the client asks for one of its own.
    fileprivate mutating func signIn(
        _ collecting: PhoneLoginOnPageInput, nonceHash: [UInt8]
    ) -> Result<(handle: BrowserHandle, idle: Duration), ServiceError> {
        guard change.login.kind == .app, change.login.request.pollHash == nonceHash else {
            return .failure(.invalidGrant)
        }
        if let browser = approval?.browser, browser.ending == nil, browser.userID != approval?.user.id {
            return .failure(.conflict(code: "other_user", detail: "The browser is signed in to another account."))
        }
        let before = self
        switch complete(collecting, as: .collect(browser: nil)) {
        case .failure(let error): return .failure(error)
        case .success(let approval):
            guard let handle = approval.handle else {
                // Without a session of the browser nothing is written, and the login is not collected.
                self = before
                return .failure(.unauthorizedClient)
            }
            self.approval?.login = nil
            return .success((handle, approval.idle))
        }
    }
}

extension Client {
    /// The page of the client to which a browser goes that an app has signed in: it starts the login of the client, which the
    /// session of the browser answers (OpenID Connect Core section 4). Nil if the client has none, or no such login.
    public var appLoginPage: String? {
        guard grantTypes.contains(.authorizationCode), grantTypes.contains(.deviceCode), keepsBrowserSession,
            page.allows(.phone), page.offers(.phone), !page.redirectURIs.isEmpty
        else { return nil }
        return page.initiateLoginURI
    }
}
