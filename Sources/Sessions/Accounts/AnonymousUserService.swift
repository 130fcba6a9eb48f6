internal import Cryptography

/// Makes users without username and password, and names them later. The user keeps the id and the session.
public final class AnonymousUserService: UseCase {
    let context: ServiceContext
    private let logins: PasswordLoginService
    private let federation: FederationService
    private let accounts: AccountService

    init(
        _ context: ServiceContext, _ logins: PasswordLoginService, _ federation: FederationService,
        _ accounts: AccountService
    ) {
        self.context = context
        self.logins = logins
        self.federation = federation
        self.accounts = accounts
    }

    // MARK: Logins

    /// Makes a user and a session. A request with an `Idempotency-Key` makes one user: for `SessionRequest.retryWindow` the same
    /// request gets the same session again, and afterwards the key is refused.
    public func logIn(_ request: SessionRequest, from origin: Origin) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        let user = User(anonymous: newUserID(for: request), createdAt: now)
        let start = try logins.starting(request, by: .anonymous, authenticationMethods: [], from: origin, at: now)
        let outcome = try await inStore(
            await store.openSession(ofAnonymous: user, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenGrant.Entitlement, ServiceError> in
                if let client = opening.client, !client.anonymousUsers { return .failure(.unauthorizedClient) }
                return opening.startOrRepeat(from: origin, at: now, start)
            })
        guard let outcome else { throw Self.keyUsed }
        return try await logins.signer.grant(try outcome.get(), at: now)
    }

    /// The id for a new user. It is derived from the `Idempotency-Key`, if there is one, so that a retry finds the user. The key
    /// of the derivation is secret, because the ids of users are not.
    private func newUserID(for request: SessionRequest) -> Identifier<User> {
        guard let key = request.idempotencyKey else { return Identifier(random: context.random) }
        let tag = context.anonymousUserKey.authenticate(Array("\(request.clientID)\0\(key)".utf8))
        return Identifier(drawn: tag)
    }

    static let keyUsed = ServiceError.conflict(
        code: "idempotency_key_used", detail: "the Idempotency-Key belongs to another login; send a new one")

    // MARK: Naming

    private static let notAnonymous = ServiceError.conflict(
        code: "not_anonymous", detail: "the user has a name already")

    /// Gives the anonymous user of a session a username and a password. A request that was fulfilled before gets the same
    /// answer. Throws a conflict with the code `username_taken` or `not_anonymous`.
    public func name(
        _ current: AuthenticatedSession, username: String, password: String, from origin: Origin
    ) async throws(ServiceError) -> User {
        if let problem = Administration.problem(withUsername: username) { throw problem }
        let id = current.user.id
        guard current.user.isAnonymous else {
            return try await named(current.user, current.session, username, password, from: origin)
        }
        if let problem = Administration.problem(withChosenUsername: username) { throw problem }
        if let problem = context.passwordRules.problem(with: password, username: username) {
            throw .invalid(member: "password", detail: problem)
        }
        // The name is looked up before the password is hashed, because hashing is expensive; the transaction decides.
        let namesake = try await inStore(await store.user(.username(username)))
        if let namesake, namesake.id != id { throw AccountService.usernameTaken }
        let hash = try await context.passwords.hash(password, for: .session(current.session, from: origin))
        let now = context.clock.now
        do throws(ServiceError) {
            return try await accounts.update(.id(id), by: .session(current.session.id, beside: nil), at: now) {
                change in
                guard change.user.isAnonymous else { return .failure(Self.notAnonymous) }
                change.user.username = Text.preparedUsername(username)
                change.user.passwordHash = hash
                change.user.isAnonymous = false
                change.events.append(.named(by: "password", in: current.session, at: now, origin))
                return .success(change.user)
            }.outcome
        } catch {
            guard error == Self.notAnonymous,
                let user = try await inStore(await store.user(.id(id)))
            else { throw error }
            // The same request was fulfilled meanwhile.
            return try await named(user, current.session, username, password, from: origin)
        }
    }

    /// The user, if an earlier attempt of the same request has named it. A wrong password counts like any other that comes with
    /// a token of the session, so that the call is no way to guess passwords.
    private func named(
        _ user: User, _ session: Session, _ username: String, _ password: String, from origin: Origin
    ) async throws(ServiceError) -> User {
        guard Text.key(user.username) == Text.key(username) else { throw Self.notAnonymous }
        do throws(ServiceError) {
            try await accounts.passwords.verify(password, of: user, in: session, from: origin)
        } catch { throw error == .invalidCredentials ? Self.notAnonymous : error }
        return user
    }

    /// Links an identity to the anonymous user of a session. Username and profile come from the provider, as at a first login.
    /// A request that was fulfilled before gets the same answer. Throws a conflict with the code `identity_taken` if a login by
    /// the ID token would reach another user, and `not_anonymous`.
    public func name(
        _ current: AuthenticatedSession, by identity: ExternalIdentity, from origin: Origin
    ) async throws(ServiceError) -> User {
        let (now, policy) = (context.clock.now, context.policy)
        guard now < identity.goodUntil else { throw .identityRefused(.tooOld) }
        let (login, session) = (federation.login(by: identity, at: now), current.session)
        let outcome = try await inStore(
            await store.nameUser(current.user.id, by: login, asking: session.id) { naming in
                let proof = AccountProof.session(session.id, beside: nil)
                if let refusal = naming.change.refusal(of: proof, by: policy, at: now) {
                    return Result<User, ServiceError>.failure(refusal)
                }
                return naming.name(by: login, in: session, at: now, origin, notAnonymous: Self.notAnonymous)
            })
        guard let outcome else { throw .invalidToken(.ended(.userDeleted)) }
        if case .failure(.identityRefused(let reason)) = outcome {
            try await recordFailedLogin(
                of: current.user.id, in: session, "id_token_\(reason.rawValue)", from: origin)
        }
        return try outcome.get()
    }
}

extension SessionOpening {
    /// Starts the session of a new anonymous user, or repeats the login that has made the user, if nothing has come of it yet.
    fileprivate mutating func startOrRepeat(
        from origin: Origin, at now: Instant,
        _ start: (inout SessionOpening) -> Result<TokenGrant.Entitlement, ServiceError>
    ) -> Result<TokenGrant.Entitlement, ServiceError> {
        var attempt = self
        if arrival == .known {
            guard user.isAnonymous, previous != nil else { return .failure(AnonymousUserService.keyUsed) }
            let outcome = start(&attempt)
            // A session that starts would be another one than the first attempt's.
            if attempt.session != nil { return .failure(AnonymousUserService.keyUsed) }
            events = attempt.events
            return outcome
        }
        attempt.events.append(AuditEvent(.userCreated, at: now, by: origin, userID: user.id, reason: "anonymous"))
        let outcome = start(&attempt)
        if attempt.session != nil { self = attempt }
        return outcome
    }
}

extension IdentityNaming {
    /// Names the user by the identity of `login`, if the identity leads to no other user.
    fileprivate mutating func name(
        by login: IdentityLogin, in session: Session, at now: Instant, _ origin: Origin, notAnonymous: ServiceError
    ) -> Result<User, ServiceError> {
        // The identity is the user's: an earlier attempt of the same request was fulfilled.
        if owner == change.user.id { return .success(change.user) }
        guard change.user.isAnonymous else { return .failure(notAnonymous) }
        if owner != nil {
            return .failure(.conflict(code: "identity_taken", detail: "the identity belongs to another user"))
        }
        if isReplay { return .failure(.identityRefused(.replayed)) }
        guard let newUser else { return .failure(AccountService.usernameTaken) }
        change.user.username = newUser.username
        change.user.profile.fill(from: newUser.profile)
        change.user.isAnonymous = false
        change.events.append(.named(by: login.key.provider, in: session, at: now, origin))
        change.events.append(
            AuditEvent(.identityLinked, at: now, by: origin, userID: change.user.id, reason: login.key.provider))
        return .success(change.user)
    }
}

extension User.Profile {
    /// Takes over the members that are absent here.
    fileprivate mutating func fill(from other: Self) {
        if email == nil, let address = other.email {
            email = address
            isEmailVerified = other.isEmailVerified
        }
        phoneNumber = phoneNumber ?? other.phoneNumber
        displayName = displayName ?? other.displayName
        givenName = givenName ?? other.givenName
        familyName = familyName ?? other.familyName
        country = country ?? other.country
    }
}

extension AuditEvent {
    /// An anonymous user was named, by a password or by the named provider.
    fileprivate static func named(
        by means: String, in session: Session, at now: Instant, _ origin: Origin
    ) -> AuditEvent {
        AuditEvent(.userNamed, at: now, by: origin, session: session, reason: means)
    }
}
