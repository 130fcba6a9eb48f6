public import JSON
internal import WebAuthn

extension PasskeyService {
    /// The options of a proof of presence by a passkey of the user of a session.
    public func presenceOptions(in current: AuthenticatedSession) async throws(ServiceError) -> JSONValue {
        let policy = try passkeyPolicy()
        let known = try await passkeys(of: current.user.id).filter { $0.rpID == policy.relyingParty.id }
        guard !known.isEmpty else { throw .notFound("passkey of the user") }
        return policy.relyingParty.requestOptions(
            challenge: context.passkeyChallenges.make(
                for: .presence(in: current.session.id), at: context.clock.now, random: context.random),
            allowing: known.map { ($0.id, $0.transports) })
    }

    /// Verifies a proof of presence in a session, and uses its challenge up. Throws `passkeyRefused` unless it is of a passkey of
    /// the user, and `conflict` while the presence key of the login has not signed: only its own signature shows that the device
    /// can use it.
    func showPresence(
        _ credential: [String: JSONValue], of user: User, in session: Session, from origin: Origin
    ) async throws(ServiceError) {
        if session.presence.isActivationPending { throw .activationPending }
        let now = context.clock.now
        let proof = try await verify(credential, for: .presence(in: session.id), from: origin)
        guard proof.userID == user.id else { throw .passkeyRefused(.wrongSignature) }
        let outcome = try await inStore(
            await store.usePasskey(proof.login) { passkey in
                proof.note(in: &passkey, sessionID: session.id, from: origin, at: now)
            })
        switch outcome {
        case true?: return
        case false?: throw .passkeyRefused(.wrongChallenge)
        case nil: throw .passkeyRefused(.wrongSignature)
        }
    }
}

extension PasskeyService {
    /// The error with what the user's passkeys change about it: a proof of presence by a passkey spares the login, and an app must
    /// not give the session up. If the store cannot say, the error is that of the store.
    public func settled(_ error: ServiceError) async -> ServiceError {
        let requirement: PresenceRequirement
        switch error {
        case .insufficientUserAuthentication(let asked), .wrongPassword(let asked): requirement = asked
        default: return error
        }
        guard let owner = requirement.passkeyOwner, let policy = context.passkeys else { return error }
        do throws(ServiceError) {
            guard try await passkeys(of: owner).contains(where: { $0.rpID == policy.relyingParty.id }) else {
                return error
            }
        } catch { return error }
        if case .wrongPassword = error { return .wrongPassword(requirement.metByPasskey()) }
        return .insufficientUserAuthentication(requirement.metByPasskey())
    }
}

extension ServiceError {
    /// The presence key of the login has not signed yet.
    static let activationPending = ServiceError.conflict(
        code: "activation_pending", detail: "the presence_key of the login has to sign for the first time before")
}
