internal import Locks

/// A valid proof of possession of a key (RFC 9449), in the hands of its request.
///
/// A proof allows one effect. The effect uses the proof up right before, when nothing else prevents it and the key is the right
/// one. So the valid proofs of a stranger, which have no effect, take no memory, and of two requests with one proof at most one
/// has an effect.
public final class ProofOfPossession: Sendable {
    /// What a use of a proof is.
    enum Use: Hashable, Sendable {
        case first
        /// The proof was used before by the same request (path, credential and body), which a browser or a network has
        /// repeated. Only a refresh answers it, without an effect.
        case repetition
    }

    /// The JWK thumbprint of the key (RFC 7638).
    public let keyThumbprint: String
    /// Whether the proof holds a recent nonce of the server.
    public let hasNonce: Bool
    private let remember: @Sendable () throws(DPoPError) -> Use
    private let outcome = Locked<Result<Use, DPoPError>?>(nil)

    /// A proof of that key, which `remember` records as used, or refuses.
    init(of keyThumbprint: String, hasNonce: Bool, remember: @escaping @Sendable () throws(DPoPError) -> Use) {
        self.keyThumbprint = keyThumbprint
        self.hasNonce = hasNonce
        self.remember = remember
    }

    /// Uses the proof up, for a client with that requirement. The first outcome holds for the whole request, because its
    /// transaction may run again, or have two steps.
    public func use(for requirement: Client.ProofRequirement) throws(ServiceError) {
        guard try useAgain(for: requirement) == .first else { throw .unproven(.repeated) }
    }

    /// Uses the proof up, or finds that its whole request was answered before.
    func useAgain(for requirement: Client.ProofRequirement) throws(ServiceError) -> Use {
        try check(requirement)
        let outcome = outcome.withLock { outcome in
            if let outcome { return outcome }
            let first: Result<Use, DPoPError>
            do throws(DPoPError) { first = .success(try remember()) } catch { first = .failure(error) }
            outcome = first
            return first
        }
        do throws(DPoPError) { return try outcome.get() } catch { throw .unproven(error) }
    }

    /// Throws if a client with that requirement needs a nonce in the proof, and there is none.
    func check(_ requirement: Client.ProofRequirement) throws(ServiceError) {
        if requirement == .nonce, !hasNonce { throw .unproven(.nonceMissing) }
    }
}

extension Client.ProofRequirement {
    /// The error of a login with that key and proof; nil: none. A session that an admin starts has a key and no proof.
    func refusal(ofKey thumbprint: String?, _ proof: ProofOfPossession?) -> ServiceError? {
        if self != .optional, thumbprint == nil { return .proofMissing }
        do throws(ServiceError) { try proof?.check(self) } catch { return error }
        return nil
    }
}

extension ProofOfPossession: Hashable {
    /// Whether both belong to one request.
    public static func == (one: ProofOfPossession, other: ProofOfPossession) -> Bool { one === other }

    /// See `Hashable`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
