internal import Cryptography

extension TokenService {
    /// The longest for which any provider's tokens are taken: used ones have to be remembered so long.
    public static let identityTokenAgeMax = Duration.seconds(3600)

    /// Whom an ID token is about. One that is refused is told to the audit trail, if it is any provider's.
    public func identity(
        of token: IdentityToken, by verifier: any IdentityVerifier, from origin: Origin
    ) async throws(ServiceError) -> ExternalIdentity {
        do throws(ServiceError) { return try await verifier.verify(token) } catch {
            if case .identityRefused(let reason) = error, reason != .malformed, reason != .unknownProvider {
                try await recordFailedLogin(of: nil, "id_token_\(reason.rawValue)", from: origin)
            }
            throw error
        }
    }

    /// Logs in whom an identity provider has authenticated. The first login makes the user. A login that is refused, or comes to
    /// nothing, makes none, and leaves the token good for another try.
    public func login(
        _ request: LoginRequest, as identity: ExternalIdentity, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        // It was good when it was checked; from now on the store may forget that it was used.
        guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
        let request = try request.keepingProviderToken(of: identity)
        let login = login(by: identity, at: now)
        let start = try starting(request, authenticationMethods: identity.authenticationMethods, from: origin, at: now)
        let outcome = try await inStore { () async throws(StoreError) in
            try await store.openSession(by: login, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenIssue, ServiceError> in
                if opening.isReplay { return .failure(.identityRefused(.replayed)) }
                let outcome = start(&opening)
                if opening.session != nil { opening.tellArrival(by: login, from: origin) }
                return outcome
            }
        }
        guard let outcome else {
            throw .conflict(code: "username_taken", detail: "no username is left for a new user")
        }
        if case .failure(.identityRefused(let reason)) = outcome {
            try await recordFailedLogin(of: nil, "id_token_\(reason.rawValue)", from: origin)
        }
        return try await grant(try outcome.get(), at: now)
    }

    /// What the store needs to know of `identity`, with who would come into being.
    private func login(by identity: ExternalIdentity, at now: Instant) -> IdentityLogin {
        let id = Identifier<User>(random: context.random)
        // The address that the provider has proven, if the configuration trusts it so far.
        let linkingKey = identity.linkingEmail.flatMap {
            Text.isValid($0, lengthMax: User.Profile.lengthMax) ? Text.emailKey($0) : nil
        }
        var profile = identity.profile
        profile.isEmailVerified = linkingKey != nil && profile.email.flatMap(Text.emailKey) == linkingKey
        // The provider's name for the user, then one that nobody else can be meant by, then a random one.
        let names = [identity.username, identity.key.ownUsername, identity.key.randomUsername(context.random)]
        return IdentityLogin(
            identity.key,
            token: identity.oneTimeToken(at: now),
            linkingKey: linkingKey,
            newUsers: names.compactMap { $0 }.map { name in
                User(id: id, username: Text.normalized(name), profile: profile, createdAt: now)
            }, at: now)
    }
}

extension TokenService {
    /// The user who has that identity. Its token is used up: it starts no session any more.
    func owner(of identity: ExternalIdentity, from origin: Origin) async throws(ServiceError) -> Identifier<User> {
        let now = context.clock.now
        guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
        let known = try await inStore { () async throws(StoreError) in try await store.identity(identity.key) }
        guard let known else { throw .notFound("user") }
        let token = identity.oneTimeToken(at: now)
        guard try await inStore({ () async throws(StoreError) in try await store.use(token) }) else {
            try await recordFailedLogin(of: known.userID, "id_token_\(IdentityRefusal.replayed.rawValue)", from: origin)
            throw .identityRefused(.replayed)
        }
        return known.userID
    }
}

extension ExternalIdentity {
    /// Its token, which does one thing. Not by provider: two entries of one issuer take the same token, and a token of another issuer
    /// says so.
    fileprivate func oneTimeToken(at now: Instant) -> OneTimeToken {
        OneTimeToken(.identityToken, of: "", id: tokenID, goodUntil: goodUntil, at: now)
    }
}

extension SessionOpening {
    /// Tells the audit trail first how the user came to be who logs in.
    fileprivate mutating func tellArrival(by login: IdentityLogin, from origin: Origin) {
        if arrival == .known { return }
        let linked = AuditEvent(
            .identityLinked, at: login.at, by: origin, userID: user.id, reason: login.key.provider)
        let created = AuditEvent(.userCreated, at: login.at, by: origin, userID: user.id)
        events.insert(contentsOf: arrival == .new ? [created, linked] : [linked], at: 0)
    }
}

extension Identity.Key {
    /// A username that says where the user comes from, and that no other subject can have: `google-` and 20 digits.
    var ownUsername: String {
        "\(provider)-\(Hex.encode(Array(sha256(Array("\(provider)\0\(subject)".utf8)).prefix(10))))"
    }

    /// For the case that somebody has taken even that.
    func randomUsername(_ random: RandomSource) -> String { "\(provider)-\(Hex.encode(random.bytes(10)))" }
}
