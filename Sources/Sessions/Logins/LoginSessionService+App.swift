internal import Cryptography

// Logins in the phone's own app: a web session at its backend, opened by the second factor (AppLogin).
extension LoginSessionService {
    /// The prefix of web nonces.
    public static let noncePrefix = "sjn_"

    /// Opens a login for a web session of that client, with the account of the phone. It waits for the second factor, however
    /// recently the user gave one.
    public func openInApp(
        clientID: String, by session: AuthenticatedSession, key: String?, from origin: Origin
    ) async throws(ServiceError) -> LoginSession {
        let now = context.clock.now
        guard let client = try await client(clientID), client.grantTypes.contains(.deviceCode) else {
            throw .unauthorizedClient
        }
        if let refusal = client.refusal(of: .phone) { throw refusal }
        let phone = policy.phone(of: session.record, at: now)
        if phone.isBarred { throw .login(.barred) }
        let id = Identifier<Session>(random: context.random)
        var request = LoginSession.Request()
        (request.epoch, request.remoteAddress) = (session.record.settings.epoch, origin.remoteAddress)
        request.pollHash = context.webNonces.first.map { Self.hash(Self.nonce(of: id, $0)) }
        let login = LoginSession.inApp(
            id: id, clientID: clientID, phone: phone, request: request, rules: context.loginRules, at: now)
        try await inStore { () async throws(StoreError) in _ = try await store.requestLogin(login) }
        return try await perform(.start, on: id, by: session, key: key, from: origin)
    }

    /// The web nonce of an approved login of the app; nil for every other one.
    public func webNonce(of login: LoginSession) -> String? {
        guard login.kind == .app, login.state == .active, login.history == .fail else { return nil }
        return context.webNonces.lazy.map { Self.nonce(of: login.id, $0) }.first {
            Self.hash($0) == login.request.pollHash
        }
    }

    /// How long a web nonce is good.
    public func webNonceLifetime(of login: LoginSession) -> Duration {
        login.collectUntil.map { $0 - context.clock.now } ?? .zero
    }

    /// Derived from the id, so that a repeated request gets the nonce again and the database has its hash alone.
    private static func nonce(of id: Identifier<Session>, _ key: HMACSHA256Key) -> String {
        noncePrefix + Base64URL.encode(key.authenticate(id.bytes))
    }
}
