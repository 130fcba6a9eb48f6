internal import Cryptography

/// What a text is that somebody has found: a token of this server, or one of its other secrets.
public enum InspectedToken: Sendable {
    /// A refresh token, its session if there is one, and how a refresh with it would be decided.
    case refreshToken(serial: UInt64, SessionRecord?, RefreshDecision?)
    /// An access token of a session with a right signature, and the session if it is known.
    case accessToken(clientID: String, issuedAt: Instant, expiresAt: Instant, SessionRecord?)
    /// An access token with a right signature that a client got for itself, and whether it is accepted.
    case clientToken(clientID: String, issuedAt: Instant, expiresAt: Instant, isAccepted: Bool)
    /// An authorization code.
    case code(PageLogin)
    case clientSecret(Client)
    case adminKey(AdminKey)
    /// A token for a new password, and whether it can still be used.
    case resetToken(User, isUsable: Bool)
    /// The session cookie of a browser.
    case browserCookie(SessionRecord?)
    /// It looks like a token of this kind, and is none of this server, or none any more.
    case unknown(kind: String)
}

extension AccessTokenVerifier {
    /// Says what `text` is; nil if it looks like no token. Nothing is spent, and nothing is recorded.
    public func inspect(_ text: String) async throws(ServiceError) -> InspectedToken? {
        if text.hasPrefix(RefreshTokenCoder.prefix) { return try await inspectRefreshToken(text) }
        if text.hasPrefix("sja_") {
            let hash = sha256(Array(text.utf8))
            let keys = try await inStore(await store.adminKeys())
            return keys.first { constantTimeEqual($0.hash, hash) }.map { .adminKey($0) } ?? .unknown(kind: "admin key")
        }
        if text.hasPrefix(PageLogin.codePrefix) { return try await inspectCodeOrSecret(text) }
        if text.hasPrefix(VerificationSecrets.Link.prove.rawValue) { return try await inspectLink(text) }
        if text.hasPrefix("sjb_") {
            guard let handle = context.browserHandles.decode(text) else { return .unknown(kind: "browser cookie") }
            return .browserCookie(try await record(handle.id))
        }
        guard text.hasPrefix("eyJ"), text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { return nil }
        return try await inspectJWT(text)
    }

    private func record(_ id: Identifier<Session>) async throws(ServiceError) -> SessionRecord? {
        try await inStore(await store.session(id))
    }

    private func inspectRefreshToken(_ text: String) async throws(ServiceError) -> InspectedToken {
        guard let token = context.refreshTokens.decode(text) else { return .unknown(kind: "refresh token") }
        let record = try await record(token.sessionID)
        return .refreshToken(
            serial: token.serial, record,
            record.map { context.policy.decision(on: $0, serial: token.serial, at: context.time) })
    }

    private func inspectCodeOrSecret(_ text: String) async throws(ServiceError) -> InspectedToken {
        let login = try await inStore(
            await store.read(.short) { (reader) throws(TransactionError) in
                try reader.login(code: PageLogin.hash(ofCode: text)).value()
            })
        if let login { return .code(login) }
        let now = context.clock.now
        let clients = try await inStore(await store.clients())
        let client = clients.first { $0.accepts(secret: text, at: now) }
        return client.map { .clientSecret($0) } ?? .unknown(kind: "code or client secret")
    }

    private func inspectLink(_ text: String) async throws(ServiceError) -> InspectedToken {
        guard let id = context.verificationSecrets.verification(named: text, by: .prove),
            let found = try await inStore(await store.verification(id))
        else { return .unknown(kind: "link of a mail") }
        guard found.purpose == .reset, let userID = found.userID,
            let user = try await inStore(await store.user(.id(userID)))
        else { return .unknown(kind: "link of a mail that sets no password") }
        let isUsable = found.endedAt == nil && context.clock.now < found.usableUntil
        return .resetToken(user, isUsable: isUsable)
    }

    private func inspectJWT(_ text: String) async throws(ServiceError) -> InspectedToken {
        guard let claims = try await signer.claims(of: text, signer.accessTokens.verify) else {
            return .unknown(kind: "JWT")
        }
        let (issuedAt, expiresAt) = (
            Instant(secondsSinceEpoch: claims.issuedAt), Instant(secondsSinceEpoch: claims.expiry)
        )
        guard let sessionID = claims.sessionID else {
            let isAccepted = try await introspect(clientToken: claims) != .inactive
            return .clientToken(
                clientID: claims.clientID, issuedAt: issuedAt, expiresAt: expiresAt, isAccepted: isAccepted)
        }
        let id = Identifier<Session>(sessionID)
        let record: SessionRecord? = if let id { try await record(id) } else { nil }
        return .accessToken(clientID: claims.clientID, issuedAt: issuedAt, expiresAt: expiresAt, record)
    }
}

extension RefreshPolicy {
    /// How a refresh with the refresh token number `serial` of a session would be decided, by its own client and its own key.
    func decision(on record: SessionRecord, serial: UInt64, at time: ClockGuard.Reading) -> RefreshDecision {
        var session = record.session
        let attempt = RefreshAttempt(
            serial: serial, clientID: session.clientID, provenKeyThumbprint: session.keyThumbprint,
            deviceReport: session.device.report)
        return renew(
            attempt, &session, user: record.user, client: record.client, settings: record.settings, now: time.now,
            earliest: time.earliest)
    }
}
