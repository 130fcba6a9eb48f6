public import JOSE

/// What proofs of possession have to be like (RFC 9449), as the operator decides.
public struct ProofPolicy: Hashable, Sendable {
    /// Whether a proof must hold a nonce of the server.
    public enum NonceDemand: String, CaseIterable, Sendable {
        /// No; one that is there is not looked at.
        case off
        /// Yes: whoever has none gets one, and tries again.
        case required
    }

    /// How long after it was made a proof is taken.
    public var age: Duration
    /// How far the clock of its maker may be ahead.
    public var lead: Duration
    /// Whether it must hold a nonce of the server.
    public var nonce: NonceDemand
    /// How many proofs are remembered, so that none is taken twice: 48 bytes each, or a little more.
    public var memory: Int

    /// A policy; left out: the defaults.
    public init(
        age: Duration = .seconds(60), lead: Duration = .seconds(15), nonce: NonceDemand = .off, memory: Int = 100_000
    ) {
        self.age = age
        self.lead = lead
        self.nonce = nonce
        self.memory = memory
    }
}

/// The request that a proof must have been made for.
public struct ProofOccasion: Sendable {
    /// The method of the request.
    public let method: String
    /// Its target; nil fits no proof.
    public let target: DPoPTarget?
    /// The access token that it holds, if it does.
    public let accessToken: String?

    /// A request.
    public init(method: String, target: DPoPTarget?, accessToken: String? = nil) {
        self.method = method
        self.target = target
        self.accessToken = accessToken
    }
}

/// Why a proof is not taken. The raw value is a stable code for the log.
public enum ProofProblem: String, Error, Hashable, Sendable, CaseIterable {
    /// It cannot be read, has not all claims, or its key has not signed it.
    case malformed
    /// It was made for another method.
    case otherMethod = "other_method"
    /// It was made for another target.
    case otherTarget = "other_target"
    /// It goes with another access token, or with none.
    case otherAccessToken = "other_access_token"
    /// It was made too long ago, or has expired.
    case tooOld = "too_old"
    /// It was made in a future that no honest clock shows, or ahead of the time while too many others were.
    case tooEarly = "too_early"
    /// It was presented before.
    case repeated
    /// It holds no nonce that the server gave out a moment ago: with the one of the answer it would be taken.
    case nonceMissing = "nonce_missing"
}

/// Takes proofs of possession, each at most once.
public struct ProofJudge: Sendable {
    let policy: ProofPolicy
    private let nonces: ProofNonces
    private let replays: ReplayCache

    init(_ policy: ProofPolicy, rootKeys: RootKeys) {
        self.policy = policy
        nonces = ProofNonces(rootKeys: rootKeys)
        replays = ReplayCache(
            capacity: policy.memory, longest: policy.age + policy.lead + .seconds(1), lead: policy.lead)
    }

    /// The nonce that proofs are to hold from `now` on; nil when they need none.
    public func nonce(at now: Instant) -> String? {
        policy.nonce == .required ? nonces.current(at: now) : nil
    }

    /// The thumbprint of the key that `text` is a good proof of, for this request, at `now` (RFC 9449 section 4.3).
    public func keyThumbprint(
        provenBy text: String, for occasion: ProofOccasion, at now: Instant
    ) throws(ProofProblem) -> String {
        guard let proof = try? DPoPProof(text) else { throw .malformed }
        guard proof.method == occasion.method else { throw .otherMethod }
        guard let target = proof.target, target == occasion.target else { throw .otherTarget }
        if let token = occasion.accessToken, proof.accessTokenHash != DPoPProof.hash(ofAccessToken: token) {
            throw .otherAccessToken
        }
        try checkTime(of: proof, at: now)
        if policy.nonce == .required, proof.nonce.map({ nonces.accepts($0, at: now) }) != true { throw .nonceMissing }
        // Last of all, so that only what would be taken takes memory.
        let end = Instant(secondsSinceEpoch: proof.issuedAt) + policy.age + .seconds(1)
        switch replays.present(proof.id, of: proof.keyThumbprint, until: end, at: now) {
        case .fresh: return proof.keyThumbprint
        case .repeated: throw .repeated
        case .forgotten: throw .tooOld
        case .crowdedOut: throw .tooEarly
        }
    }

    private func checkTime(of proof: DPoPProof, at now: Instant) throws(ProofProblem) {
        let now = now.secondsSinceEpoch
        // In this order, and no sum with what the proof says: a number of 64 bits can be in it.
        guard proof.issuedAt <= now + policy.lead.wholeSeconds else { throw .tooEarly }
        guard proof.issuedAt >= now - policy.age.wholeSeconds else { throw .tooOld }
        if let notBefore = proof.notBefore, notBefore > now + policy.lead.wholeSeconds { throw .tooEarly }
        if let expiry = proof.expiry, expiry <= now - policy.lead.wholeSeconds { throw .tooOld }
    }
}
