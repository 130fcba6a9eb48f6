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

    /// Logs in whom an identity provider has authenticated. The first login makes the user. The token is used up when the
    /// session has begun.
    public func login(
        _ request: LoginRequest, as identity: ExternalIdentity, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        do throws(ServiceError) {
            return try await context.identityTokens.once(identity, at: now) { () async throws(ServiceError) in
                let userID = try await user(for: identity, from: origin, at: now)
                return try await start(
                    request, userID: userID, verified: nil, authenticationMethods: identity.authenticationMethods,
                    from: origin)
            }
        } catch {
            if case .identityRefused(let reason) = error {
                try await recordFailedLogin(of: nil, "id_token_\(reason.rawValue)", from: origin)
            }
            throw error
        }
    }

    /// Whose the identity is; somebody's new, if nobody has it.
    private func user(
        for identity: ExternalIdentity, from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> Identifier<User> {
        if let known = try await inStore({ () async throws(StoreError) in try await store.identity(identity.key) }) {
            return known.userID
        }
        if let linked = try await linkByEmail(identity, from: origin, at: now) { return linked }
        // The provider's name for the user, then one that nobody else can be meant by, then a random one.
        let names = [identity.username, identity.key.ownUsername, identity.key.randomUsername(context.random)]
        for name in names.compactMap({ $0 }) {
            let user = User(
                id: Identifier(random: context.random), username: Text.normalized(name), profile: identity.profile,
                createdAt: now)
            switch try await insert(identity.key, of: user.id, newUser: user, from: origin, at: now) {
            case .inserted: return user.id
            case .taken(let userID): return userID
            case .usernameTaken, .notFirst, .unknownUser: continue
            }
        }
        throw .conflict(code: "username_taken", detail: "no username is left for a new user")
    }

    /// The user whose username is the e-mail address that the provider has proven, if the configuration trusts it so far.
    ///
    /// Only a user without any identity: one whom an admin or an import has made, so that nobody can lie in wait under somebody
    /// else's address. The address in the profile counts for nothing, because users write it themselves.
    private func linkByEmail(
        _ identity: ExternalIdentity, from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> Identifier<User>? {
        guard let email = identity.linkingEmail, Text.isValid(email, lengthMax: User.usernameLengthMax),
            let user = try await inStore({ () async throws(StoreError) in try await store.user(.username(email)) })
        else { return nil }
        switch try await insert(identity.key, of: user.id, mustBeFirst: true, from: origin, at: now) {
        case .inserted: return user.id
        case .taken(let userID): return userID
        case .usernameTaken, .notFirst, .unknownUser: return nil
        }
    }

    private func insert(
        _ key: Identity.Key, of userID: Identifier<User>, newUser: User? = nil, mustBeFirst: Bool = false,
        from origin: Origin, at now: Instant
    ) async throws(ServiceError) -> IdentityInsertion.Outcome {
        var events: [AuditEvent] = []
        if newUser != nil { events.append(AuditEvent(.userCreated, at: now, by: origin, userID: userID)) }
        events.append(AuditEvent(.identityLinked, at: now, by: origin, userID: userID, reason: key.provider))
        let insertion = IdentityInsertion(
            Identity(key, userID: userID, linkedAt: now), newUser: newUser, mustBeFirst: mustBeFirst, events: events)
        return try await inStore { () async throws(StoreError) in try await store.insertIdentity(insertion) }
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
