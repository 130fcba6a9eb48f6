internal import Cryptography
public import JOSE

/// The operator's rules for proofs of possession (RFC 9449).
public struct DPoPPolicy: Hashable, Sendable {
    /// The requirement of a server nonce in proofs.
    public enum NonceRequirement: String, CaseIterable, Sendable {
        /// Nonces are optional. A client with a wrong clock gets one, and a proof with a nonce needs no correct time.
        case off
        /// Nonces are required. A client without one gets one with the error, and tries again.
        case required
    }

    /// The age up to which a proof is accepted.
    public var age: Duration
    /// The accepted lead of the client's clock.
    public var lead: Duration
    /// The requirement of a server nonce.
    public var nonce: NonceRequirement
    /// The number of remembered proofs without a nonce, and of those with one, to detect replays. Each takes up to 80
    /// bytes.
    public var memory: Int

    /// Creates a policy.
    public init(
        age: Duration = .seconds(60), lead: Duration = .seconds(15), nonce: NonceRequirement = .off,
        memory: Int = 100_000
    ) {
        self.age = age
        self.lead = lead
        self.nonce = nonce
        self.memory = memory
    }
}

/// The request that a proof must name.
public struct ExpectedRequest: Sendable {
    /// The method of the request.
    public let method: String
    /// The target URI; nil matches no proof.
    public let target: DPoPTarget?
    /// The access token in the request; nil without one.
    public let accessToken: String?
    /// The path, credentials and body of a request that may arrive twice as it is, because a browser or a network repeats it;
    /// nil: its proof is accepted once.
    public let repeatable: [UInt8]?

    /// Creates an expected request.
    public init(method: String, target: DPoPTarget?, accessToken: String? = nil, repeatable: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.accessToken = accessToken
        self.repeatable = repeatable
    }

    /// Eight bytes of SHA-256 of a request that may arrive twice, and never 0. Another body with the same bytes takes 2⁶³ tries,
    /// and the proof expires in four minutes.
    static func hash(_ repeatable: [UInt8]) -> UInt64 {
        max(1, sha256(repeatable).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

/// The reason for which a proof is refused. The raw value is a stable code for the log.
public enum DPoPError: String, Error, Hashable, Sendable, CaseIterable {
    /// The proof is unreadable, misses a claim, or is not signed by its key.
    case malformed
    /// The proof names another method.
    case otherMethod = "other_method"
    /// The proof names another target.
    case otherTarget = "other_target"
    /// The proof names another access token, or none.
    case otherAccessToken = "other_access_token"
    /// The proof is too old by its own clock. A proof with a server nonce would be accepted.
    case tooOld = "too_old"
    /// The proof is dated too far ahead, or a little ahead while too many others were as well. A proof with a server nonce
    /// would be accepted.
    case tooEarly = "too_early"
    /// The proof's `exp` has passed, or its `nbf` lies ahead.
    case untimely
    /// The proof was used before.
    case repeated
    /// The proof holds no recent server nonce. A proof with the nonce of the answer would be accepted.
    case nonceMissing = "nonce_missing"
}

/// Verifies proofs of possession, and accepts each at most once: a second time only in the repetition of a whole request that has
/// no further effect (`ProofOfPossession.Use`).
///
/// A server nonce or, without one, `iat` shows that a proof is recent. With a nonce the client's clock does not matter (RFC
/// 9449 section 11.1), and the proof is remembered until the nonce expires.
public struct DPoPVerifier: Sendable {
    let policy: DPoPPolicy
    private let nonces: DPoPNonces
    /// Used proofs without a nonce, until their `iat` is too old.
    private let dated: ReplayCache
    /// Used proofs with a nonce, until the nonce expires.
    private let nonced: ReplayCache

    init(_ policy: DPoPPolicy, rootKeys: RootKeys) {
        self.policy = policy
        nonces = DPoPNonces(rootKeys: rootKeys)
        dated = ReplayCache(
            capacity: policy.memory, longest: policy.age + policy.lead + .seconds(1), lead: policy.lead)
        // A bucket spans one second, because nonces of one second expire together. An eviction then discards the oldest nonces
        // and not those in use.
        let longest = DPoPNonces.lifetime + DPoPNonces.lead
        nonced = ReplayCache(
            capacity: policy.memory, longest: longest, lead: DPoPNonces.lead, buckets: longest.wholeSeconds)
    }

    /// The number of remembered proofs.
    var remembered: Int { dated.count + nonced.count }

    /// The nonce that proofs must hold from `now` on; nil if nonces are optional.
    public func nonce(at now: Instant) -> String? {
        policy.nonce == .required ? nonces.current(at: now) : nil
    }

    /// The nonce with which a proof refused for `problem` would be accepted; nil if no nonce would help.
    public func nonce(curing problem: DPoPError, at now: Instant) -> String? {
        problem.isCuredByNonce ? nonces.current(at: now) : nil
    }

    /// Parses and checks a proof for the expected request (RFC 9449 section 4.3). The check remembers nothing; a replay is
    /// detected when the proof is used.
    public func check(
        _ text: String, for occasion: ExpectedRequest, at now: Instant
    ) throws(DPoPError) -> ProofOfPossession {
        guard let proof = try? DPoPProof(text) else { throw .malformed }
        guard proof.method == occasion.method else { throw .otherMethod }
        guard let target = proof.target, target == occasion.target else { throw .otherTarget }
        if let token = occasion.accessToken, proof.accessTokenHash != DPoPProof.hash(ofAccessToken: token) {
            throw .otherAccessToken
        }
        try checkTerms(of: proof, at: now)
        if let nonce = proof.nonce.flatMap(nonces.read) {
            // An expired server nonce is refused whatever `iat` says, because `iat` alone would admit the proof a second time.
            guard nonce.isGood(at: now) else { throw .nonceMissing }
            return proof.rememberedWhenUsed(
                in: nonced, until: nonce.end, at: now, by: occasion, hasNonce: true, forgotten: .nonceMissing,
                crowdedOut: .nonceMissing)
        }
        if policy.nonce == .required { throw .nonceMissing }
        try checkIssue(of: proof, at: now)
        let end = Instant(secondsSinceEpoch: proof.issuedAt) + policy.age + .seconds(1)
        return proof.rememberedWhenUsed(
            in: dated, until: end, at: now, by: occasion, hasNonce: false, forgotten: .tooOld, crowdedOut: .tooEarly)
    }

    /// Checks `iat` by the client's clock. The check adds nothing to the number in the proof, because any 64-bit number can
    /// stand there.
    private func checkIssue(of proof: DPoPProof, at now: Instant) throws(DPoPError) {
        let now = now.secondsSinceEpoch
        guard proof.issuedAt <= now + policy.lead.wholeSeconds else { throw .tooEarly }
        guard proof.issuedAt >= now - policy.age.wholeSeconds else { throw .tooOld }
    }

    /// Checks `exp` and `nbf` (RFC 7519 sections 4.1.4 and 4.1.5), which hold for a proof with a nonce as well.
    private func checkTerms(of proof: DPoPProof, at now: Instant) throws(DPoPError) {
        let now = now.secondsSinceEpoch
        if let notBefore = proof.notBefore, notBefore > now + policy.lead.wholeSeconds { throw .untimely }
        if let expiry = proof.expiry, expiry <= now - policy.lead.wholeSeconds { throw .untimely }
    }
}

extension DPoPError {
    /// True if a proof with a server nonce would be accepted instead (RFC 9449 sections 8 and 11.1).
    public var isCuredByNonce: Bool {
        switch self {
        case .nonceMissing, .tooOld, .tooEarly: true
        case .malformed, .otherMethod, .otherTarget, .otherAccessToken, .untimely, .repeated: false
        }
    }
}

extension DPoPProof {
    /// The proof of possession, which `replays` remembers until `end` when it is used.
    fileprivate func rememberedWhenUsed(
        in replays: ReplayCache, until end: Instant, at now: Instant, by request: ExpectedRequest, hasNonce: Bool,
        forgotten: DPoPError, crowdedOut: DPoPError
    ) -> ProofOfPossession {
        let repeatable = request.repeatable
        return ProofOfPossession(of: keyThumbprint, hasNonce: hasNonce) { [id, keyThumbprint] () throws(DPoPError) in
            let hash = repeatable.map(ExpectedRequest.hash) ?? 0
            switch replays.present(id, of: keyThumbprint, until: end, at: now, by: hash) {
            case .fresh: return .first
            case .repeatedRequest: return .repetition
            case .repeated: throw .repeated
            case .forgotten: throw forgotten
            case .crowdedOut: throw crowdedOut
            }
        }
    }
}
