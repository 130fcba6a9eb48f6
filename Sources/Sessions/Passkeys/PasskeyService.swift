internal import Cryptography
public import JSON
internal import WebAuthn

/// Registers passkeys, and logs in by them.
public final class PasskeyService: UseCase {
    let context: ServiceContext
    private let logins: PasswordLoginService

    init(_ context: ServiceContext, _ logins: PasswordLoginService) {
        self.context = context
        self.logins = logins
    }

    /// How long the options of a ceremony can be used.
    public static let optionsLifetime = PasskeyChallenges.lifetime

    /// The policy. Throws `notFound` while passkeys are off.
    func passkeyPolicy() throws(ServiceError) -> PasskeyPolicy {
        guard let policy = context.passkeys else { throw .notFound("relying party: passkeys.rp_id is not set") }
        return policy
    }

    // MARK: Registration

    /// The options of a registration by the user of a session. The user must have proved their presence a moment ago, because a
    /// passkey that a thief of an access token adds would outlast the session.
    public func registrationOptions(in current: AuthenticatedSession) async throws(ServiceError) -> JSONValue {
        try await requireGuard(current.session, of: current.user)
        return try registrationOptions(
            of: current.user, having: try await passkeys(of: current.user.id), in: current.session)
    }

    /// The options of a registration in the session of a browser, after an authentication a moment ago.
    ///
    /// - Parameter known: the passkeys of the user.
    public func registrationOptions(
        of visit: AccountPageSession, having known: [Passkey]
    ) throws(ServiceError) -> JSONValue {
        try requireRecent(visit)
        return try registrationOptions(of: visit.user, having: known, in: visit.session)
    }

    private func registrationOptions(
        of user: User, having known: [Passkey], in session: Session
    ) throws(ServiceError) -> JSONValue {
        let policy = try passkeyPolicy()
        if let refusal = Self.refusal(of: user, having: known.count, policy) { throw refusal }
        let challenge = context.passkeyChallenges.make(
            for: .registration(in: session.id), at: context.clock.now, random: context.random)
        return policy.relyingParty.creationOptions(
            challenge: challenge, userHandle: user.id.bytes, userName: user.username,
            displayName: user.profile.displayName ?? user.shownUsername ?? "",
            excluding: known.map { ($0.id, $0.transports) })
    }

    /// Why the user cannot have another passkey; nil if they can.
    fileprivate static func refusal(of user: User, having count: Int, _ policy: PasskeyPolicy) -> ServiceError? {
        if user.isAnonymous {
            return .conflict(code: "user_is_anonymous", detail: "an anonymous user needs a name before a passkey")
        }
        if count >= policy.countMax {
            return .conflict(code: "too_many_passkeys", detail: "the user has \(count) passkeys; remove one first")
        }
        return nil
    }

    /// Adds the passkey of a registration to the user of the session. A repetition, whose answer was lost, finds the passkey
    /// that is there.
    public func register(
        _ credential: [String: JSONValue], name: String?, in current: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) -> Passkey {
        try await register(credential, name: name, of: current.user, in: current.session, from: origin)
    }

    /// Adds the passkey of a registration in the session of a browser, after an authentication a moment ago. It is called like the
    /// browser.
    public func register(
        _ credential: [String: JSONValue], of visit: AccountPageSession, from origin: Origin
    ) async throws(ServiceError) -> Passkey {
        try requireChangeable(visit)
        try await requireSecondFactor(visit.session, of: visit.user)
        return try await register(credential, name: nil, of: visit.user, in: visit.session, from: origin)
    }

    private func register(
        _ credential: [String: JSONValue], name: String?, of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) -> Passkey {
        let (policy, now) = (try passkeyPolicy(), context.clock.now)
        let (passkey, token) = try verify(
            registration: credential, for: .registration(in: session.id), of: user.id,
            name: name ?? session.device.name)
        let insertion = PasskeyInsertion(
            passkey: passkey, token: token,
            events: [AuditEvent(.passkeyAdded, at: now, by: origin, userID: user.id, reason: passkey.label)])
        let outcome = try await inStore(
            await store.insertPasskey(insertion) { Self.refusal(of: $0, having: $1, policy) })
        switch outcome {
        case .inserted: return passkey
        case .known(let known): return known
        case .taken: throw .conflict(code: "passkey_taken", detail: "the passkey is registered already")
        case .replayed: throw .passkeyRefused(.wrongChallenge)
        case .refused(let error): throw error
        case .unknownUser: throw .notFound("user")
        }
    }

    /// Verifies a registration for that purpose. Returns the new passkey and its challenge.
    func verify(
        registration credential: [String: JSONValue], for purpose: PasskeyChallenges.Purpose,
        of userID: Identifier<User>,
        name: String?
    ) throws(ServiceError) -> (Passkey, OneTimeToken) {
        let (policy, now) = (try passkeyPolicy(), context.clock.now)
        let response = try Self.checking { () throws(WebAuthnError) in try RegistrationResponse(credential) }
        let challenge = response.clientData.challenge
        guard let end = context.passkeyChallenges.end(of: challenge, for: purpose, at: now) else {
            throw .passkeyRefused(.wrongChallenge)
        }
        let new = try Self.checking { () throws(WebAuthnError) in
            try policy.relyingParty.register(response, challenge: challenge)
        }
        let passkey = Passkey(
            new, of: userID, rpID: policy.relyingParty.id, name: name ?? "Passkey", at: now)
        return (passkey, Self.token(challenge, goodUntil: end, at: now))
    }

    /// The options of a registration for the user that a proof of a mailbox makes.
    func registrationOptions(of user: User, for id: Identifier<Verification>) throws(ServiceError) -> JSONValue {
        try passkeyPolicy().relyingParty.creationOptions(
            challenge: context.passkeyChallenges.make(
                for: .signUp(id), at: context.clock.now, random: context.random),
            userHandle: user.id.bytes, userName: user.username, displayName: "", excluding: [])
    }

    // MARK: Login

    /// The options of a login. They name no user, so that a stranger learns of none.
    ///
    /// - Parameter page: the request whose page was shown in a browser; nil for the login of an app.
    public func loginOptions(on page: CarriedRequest? = nil) throws(ServiceError) -> JSONValue {
        try passkeyPolicy().relyingParty.requestOptions(
            challenge: context.passkeyChallenges.make(
                for: Self.purpose(of: page), at: context.clock.now, random: context.random))
    }

    private static func purpose(of page: CarriedRequest?) -> PasskeyChallenges.Purpose {
        page.map { .page(request: $0.request.id, browser: $0.browser ?? "") } ?? .login
    }

    /// A login that an assertion has proved, to be completed by `logIn`.
    public struct Proof: Sendable {
        /// The user.
        public let userID: Identifier<User>
        fileprivate let credentialID: [UInt8]
        fileprivate let publicKey: COSEKey
        fileprivate let outcome: AssertionOutcome
        fileprivate let token: OneTimeToken

        /// Until when the challenge can be used.
        var goodUntil: Instant { token.goodUntil }
        /// The authentication methods (RFC 8176).
        var authenticationMethods: [String] { outcome.authenticationMethods }
        /// The login as the store executes it.
        var login: PasskeyLogin {
            PasskeyLogin(credentialID: credentialID, userID: userID, publicKey: publicKey, token: token)
        }
    }

    /// Verifies an assertion: the first half of a login. An unknown passkey, one of another user and a wrong signature get one
    /// answer, equally slow.
    ///
    /// - Parameter page: the request whose page the browser shows; nil for the login of an app.
    public func verify(
        _ credential: [String: JSONValue], on page: CarriedRequest? = nil, from origin: Origin
    ) async throws(ServiceError) -> Proof {
        try await verify(credential, for: Self.purpose(of: page), from: origin)
    }

    /// Verifies an assertion for that purpose.
    func verify(
        _ credential: [String: JSONValue], for purpose: PasskeyChallenges.Purpose, from origin: Origin
    ) async throws(ServiceError) -> Proof {
        let (policy, now) = (try passkeyPolicy(), context.clock.now)
        let response = try Self.checking { () throws(WebAuthnError) in try AssertionResponse(credential) }
        let challenge = response.clientData.challenge
        guard let end = context.passkeyChallenges.end(of: challenge, for: purpose, at: now) else {
            throw .passkeyRefused(.wrongChallenge)
        }
        let found = try await inStore(await store.passkey(response.credentialID))
        let known = found.flatMap { $0.rpID == policy.relyingParty.id ? $0 : nil }
        do throws(WebAuthnError) {
            let outcome = try policy.relyingParty.authenticate(
                response, challenge: challenge, credential: known?.credential ?? Self.unknown(response),
                requiresUserHandle: !purpose.namesUser)
            // The key of the unknown passkey is that of nobody, so this is never reached without `known`.
            guard let known else { throw .wrongSignature }
            return Proof(
                userID: known.userID, credentialID: known.id, publicKey: known.publicKey, outcome: outcome,
                token: Self.token(challenge, goodUntil: end, at: now))
        } catch {
            guard error == .wrongSignature || error == .wrongUser else { throw .passkeyRefused(error) }
            try await recordFailedLogin(
                of: known?.userID, known == nil ? "unknown_passkey" : "wrong_passkey", from: origin)
            throw .passkeyRefused(.wrongSignature)
        }
    }

    /// Starts the session: the second half of a login. A login that is refused leaves the challenge valid.
    public func logIn(
        _ request: SessionRequest, as proof: Proof, from origin: Origin
    ) async throws(ServiceError) -> TokenGrant {
        let now = context.clock.now
        guard now < proof.token.goodUntil else { throw .passkeyRefused(.wrongChallenge) }
        let start = try logins.starting(
            request, by: .passkey, authenticationMethods: proof.outcome.authenticationMethods, from: origin, at: now)
        let login = proof.login
        let outcome = try await inStore(
            await store.openSession(by: login, clientID: request.clientID, deviceID: request.device.id) {
                opening -> Result<TokenGrant.Entitlement, ServiceError> in
                let outcome = start(&opening)
                if let session = opening.session {
                    let event = proof.note(in: &opening.passkey, sessionID: session.id, from: origin, at: now)
                    opening.events += [event].compactMap(\.self)
                }
                return outcome
            })
        guard let outcome else { throw .passkeyRefused(.wrongSignature) }
        return try await logins.signer.grant(try outcome.get(), at: now)
    }

    private static func token(_ challenge: [UInt8], goodUntil end: Instant, at now: Instant) -> OneTimeToken {
        OneTimeToken(.passkeyChallenge, of: "", id: Base64URL.encode(challenge), goodUntil: end, at: now)
    }

    private static func checking<Value>(
        _ body: () throws(WebAuthnError) -> Value
    ) throws(ServiceError) -> Value {
        do throws(WebAuthnError) { return try body() } catch { throw .passkeyRefused(error) }
    }

    /// The stand-in for a passkey that is not there, so that what is wrong with the response is said as for one that is.
    private static func unknown(_ response: AssertionResponse) -> StoredCredential {
        StoredCredential(
            id: response.credentialID, userHandle: response.userHandle ?? [], publicKey: unknownKey)
    }

    /// The key of P-256 whose point is the generator. Its private key is 1, which helps nobody: `verify` refuses it by name.
    private static let unknownKey: COSEKey = {
        let x = Hex.decode("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296") ?? []
        let y = Hex.decode("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5") ?? []
        let bytes = [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + x + [0x22, 0x58, 0x20] + y
        guard let key = try? COSEKey(bytes) else { preconditionFailure("the generator of P-256 is on its curve") }
        return key
    }()

    // MARK: The user's list

    /// The passkeys of a user, in the order of their ids.
    public func passkeys(of userID: Identifier<User>) async throws(ServiceError) -> [Passkey] {
        try await inStore(await store.passkeys(of: userID))
    }

    /// Renames a passkey of the user.
    public func rename(
        _ id: [UInt8], of userID: Identifier<User>, to name: String
    ) async throws(ServiceError) -> Passkey {
        let renamed = try await inStore(await store.renamePasskey(id, of: userID, to: name))
        guard let renamed else { throw .notFound("passkey") }
        return renamed
    }

    /// Removes a passkey of the user of a session, who must have proved their presence a moment ago. The sessions that the
    /// passkey has started go on.
    public func remove(
        _ id: [UInt8], in current: AuthenticatedSession, from origin: Origin
    ) async throws(ServiceError) {
        try await requireGuard(current.session, of: current.user)
        try await remove(id, of: current.user.id, from: origin)
    }

    /// Removes a passkey of the user of a browser's session, who must have authenticated a moment ago.
    public func remove(_ id: [UInt8], of visit: AccountPageSession, from origin: Origin) async throws(ServiceError) {
        try requireChangeable(visit)
        try await requireSecondFactor(visit.session, of: visit.user)
        try await remove(id, of: visit.user.id, from: origin)
    }

    /// While the user's own switch is on, the pages change nothing else.
    private func requireChangeable(_ visit: AccountPageSession) throws(ServiceError) {
        if visit.isPaused { throw .loginRefused(.loginDisabledByUser) }
        try requireRecent(visit)
    }

    private func requireRecent(_ visit: AccountPageSession) throws(ServiceError) {
        if visit.isRecent { return }
        throw .insufficientUserAuthentication(PresenceRequirement.ofChanges.asked(of: visit.user, in: visit.session))
    }

    /// Removes a passkey of a user. The sessions that it has started go on.
    func remove(_ id: [UInt8], of userID: Identifier<User>, from origin: Origin) async throws(ServiceError) {
        let event = AuditEvent(
            .passkeyRemoved, at: context.clock.now, by: origin, userID: userID, reason: Passkey.label(of: id))
        let isDone = try await inStore(await store.deletePasskey(id, of: userID, events: [event]))
        guard isDone else { throw .notFound("passkey") }
    }
}

extension Passkey {
    /// A short name of a credential ID for the audit trail: the first 8 bytes of its SHA-256 in hexadecimal.
    static func label(of id: [UInt8]) -> String { Hex.encode(Array(sha256(id).prefix(8))) }

    /// The short name in the audit trail.
    var label: String { Self.label(of: id) }
}

extension AssertionOutcome {
    /// The `amr` of the login (RFC 8176): `swk` for a key that can be backed up, and so is copied between devices, `hwk` for
    /// one that cannot; `user`, because the authenticator has tested that a user is present; `mfa`, if it has also verified the
    /// user, because possession of the key and a PIN or biometry are two factors.
    var authenticationMethods: [String] {
        [isBackupEligible ? "swk" : "hwk", "user"] + (isUserVerified ? ["mfa"] : [])
    }
}

extension PasskeyService.Proof {
    /// Keeps what the assertion says in the passkey, and returns the event of what is odd about it. It is accepted all the same,
    /// because a refusal would lock the user out.
    func note(
        in passkey: inout Passkey?, sessionID: Identifier<Session>?, from origin: Origin, at now: Instant
    ) -> AuditEvent? {
        guard var noted = passkey else { return nil }
        let oddities = noted.note(outcome, at: now)
        passkey = noted
        if oddities.isEmpty { return nil }
        let words = ([noted.label] + oddities.map(\.rawValue)).joined(separator: " ")
        return AuditEvent(
            .passkeyChanged, at: now, by: origin, userID: userID, sessionID: sessionID, reason: words)
    }
}

extension Administration {
    /// The passkeys of a user, in the order of their ids.
    public func passkeys(of reference: UserReference) async throws(ServiceError) -> [Passkey] {
        try await passkeyService.passkeys(of: try await user(reference).id)
    }

    /// Removes a passkey of a user. The user's sessions continue.
    public func removePasskey(
        _ id: [UInt8], of reference: UserReference, by origin: Origin
    ) async throws(ServiceError) {
        try await passkeyService.remove(id, of: try await user(reference).id, from: origin)
    }
}
