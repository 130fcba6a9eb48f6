internal import Cryptography

/// Logs in users by the ID tokens of identity providers.
public final class FederationService: UseCase {
    /// The maximum age of any provider's ID tokens. The store remembers used tokens for this time.
    public static let identityTokenAgeMax = Duration.seconds(3600)

    let context: ServiceContext
    private let logins: PasswordLoginService

    init(_ context: ServiceContext, _ logins: PasswordLoginService) {
        self.context = context
        self.logins = logins
    }

    /// The identity that an ID token asserts. The refusal of a configured provider's token is recorded in the audit trail.
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

    /// The identity that a browser has brought back from a provider. A refusal is recorded in the audit trail, unless it is an
    /// error of the provider, which any browser can make up.
    public func identity(
        by callback: ProviderCallback, of verifier: any IdentityVerifier, from origin: Origin
    ) async throws(ServiceError) -> ExternalIdentity {
        do throws(ServiceError) { return try await verifier.identity(by: callback) } catch {
            if case .identityRefused(let reason) = error, reason != .declined {
                try await recordFailedLogin(of: nil, "id_token_\(reason.rawValue)", from: origin)
            }
            throw error
        }
    }

    /// Logs in the user of an identity. The first login makes the user. A login that is refused, or fails, makes none, and
    /// leaves the ID token valid for another attempt.
    public func logIn(
        _ request: SessionRequest, as identity: ExternalIdentity, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        // The token was valid when it was verified; from now on the store may forget that it was used.
        guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
        let request = try request.keepingProviderToken(of: identity)
        let login = login(by: identity, at: now)
        let start = try logins.starting(
            request, by: .provider(identity.key.provider), authenticationMethods: identity.sessionMethods(at: now),
            from: origin, at: now)
        let outcome = try await inStore(
            await store.openSession(by: login, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenGrant.Entitlement, ServiceError> in
                let outcome = start(&opening)
                if opening.session != nil || opening.continued != nil {
                    // Before the login.
                    opening.events.insert(
                        contentsOf: login.events(of: opening.arrival, opening.user, by: origin), at: 0)
                }
                return outcome
            })
        guard let outcome else {
            throw .conflict(code: "username_taken", detail: "no username is left for a new user")
        }
        if case .failure(.identityRefused(let reason)) = outcome {
            try await recordFailedLogin(of: nil, "id_token_\(reason.rawValue)", from: origin)
        }
        return try await logins.signer.grant(try outcome.get(), at: now)
    }

    /// The login that the store gets for `identity`, with the user that a first login makes.
    func login(by identity: ExternalIdentity, at now: Instant) -> IdentityLogin {
        let id = Identifier<User>(random: context.random)
        // The address that the provider has verified, if the configuration trusts the provider with addresses.
        let linkingKey = identity.linkingEmail.flatMap {
            Text.isValid($0, lengthMax: User.Profile.lengthMax) ? Text.emailKey($0) : nil
        }
        var profile = identity.profile
        profile.isEmailVerified = linkingKey != nil && profile.email.flatMap(Text.emailKey) == linkingKey
        // The provider's name for the user, then a name of that subject alone, then a random one.
        let names = [identity.username, identity.key.ownUsername, identity.key.randomUsername(context.random)]
        return IdentityLogin(
            identity.key,
            token: identity.oneTimeToken(at: now),
            linkingKey: linkingKey,
            newUsers: names.compactMap { $0 }.map { name in
                User(id: id, username: Text.preparedUsername(name), profile: profile, createdAt: now)
            }, at: now)
    }

    /// The user with that identity. The ID token is used up, so that it starts no session.
    func owner(of identity: ExternalIdentity, from origin: Origin) async throws(ServiceError) -> Identifier<User> {
        let now = context.clock.now
        guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
        let known = try await inStore(await store.identity(identity.key))
        guard let known else { throw .notFound("user") }
        let token = identity.oneTimeToken(at: now)
        guard try await inStore(await store.use(token)) else {
            try await recordFailedLogin(of: known.userID, "id_token_\(IdentityRefusal.replayed.rawValue)", from: origin)
            throw .identityRefused(.replayed)
        }
        return known.userID
    }
}

extension ExternalIdentity {
    /// The ID token as a one-time token. It does not depend on the provider's name, because two entries of one issuer accept
    /// the same token, and the token's id depends on the issuer.
    func oneTimeToken(at now: Instant) -> OneTimeToken {
        OneTimeToken(.identityToken, of: "", id: tokenID, goodUntil: goodUntil, at: now)
    }
}

extension IdentityLogin {
    /// The audit events that the user was made or got the identity.
    func events(of arrival: SessionOpening.Arrival, _ user: User, by origin: Origin) -> [AuditEvent] {
        let linked = AuditEvent(.identityLinked, at: at, by: origin, userID: user.id, reason: key.provider)
        let created = AuditEvent(.userCreated, at: at, by: origin, userID: user.id)
        return switch arrival {
        case .known: []
        case .linked: [linked]
        case .new: [created, linked]
        }
    }
}

extension Identity.Key {
    /// A username that names the provider and that no other subject can have: `google-` and 20 digits.
    var ownUsername: String {
        "\(provider)-\(Hex.encode(Array(sha256(Array("\(provider)\0\(subject)".utf8)).prefix(10))))"
    }

    /// A username for the case that `ownUsername` is taken.
    func randomUsername(_ random: RandomSource) -> String { "\(provider)-\(Hex.encode(random.bytes(10)))" }
}
