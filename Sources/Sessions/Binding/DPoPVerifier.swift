public import JOSE

/// What proofs of possession have to be like (RFC 9449), as the operator decides.
public struct DPoPPolicy: Hashable, Sendable {
    /// Whether a proof must hold a nonce of the server.
    public enum NonceRequirement: String, CaseIterable, Sendable {
        /// No. Whoever has a wrong clock gets one all the same, and one of ours takes the place of the time.
        case off
        /// Yes: whoever has none gets one, and tries again.
        case required
    }

    /// How long after it was made a proof is taken.
    public var age: Duration
    /// How far the clock of its maker may be ahead.
    public var lead: Duration
    /// Whether it must hold a nonce of the server.
    public var nonce: NonceRequirement
    /// How many proofs are remembered, so that none is taken twice, and as many again that hold a nonce: 48 bytes each, or a little
    /// more.
    public var memory: Int

    /// A policy; left out: the defaults.
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

/// The request that a proof must have been made for.
public struct ExpectedRequest: Sendable {
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
public enum DPoPError: String, Error, Hashable, Sendable, CaseIterable {
    /// It cannot be read, has not all claims, or its key has not signed it.
    case malformed
    /// It was made for another method.
    case otherMethod = "other_method"
    /// It was made for another target.
    case otherTarget = "other_target"
    /// It goes with another access token, or with none.
    case otherAccessToken = "other_access_token"
    /// It was made too long ago, by its own clock: with a nonce of the server it would be taken.
    case tooOld = "too_old"
    /// It was made in a future that no right clock shows, or ahead of the time while too many others were: with a nonce of the
    /// server it would be taken.
    case tooEarly = "too_early"
    /// Its own `exp` has passed, or its `nbf` has not come.
    case untimely
    /// It was presented before.
    case repeated
    /// It holds no nonce that the server gave out a moment ago: with the one of the answer it would be taken.
    case nonceMissing = "nonce_missing"
}

/// Takes proofs of possession, each at most once.
///
/// That one was made just now is shown by a nonce of the server or, without one, by its `iat`. With a nonce the clock of its maker
/// does not matter (RFC 9449 section 11.1), and it is remembered for as long as the nonce is good.
public struct DPoPVerifier: Sendable {
    let policy: DPoPPolicy
    private let nonces: DPoPNonces
    /// Proofs that show their time by `iat`, until that is too long ago.
    private let dated: ReplayCache
    /// Proofs that hold a nonce, until that one is too old.
    private let nonced: ReplayCache

    init(_ policy: DPoPPolicy, rootKeys: RootKeys) {
        self.policy = policy
        nonces = DPoPNonces(rootKeys: rootKeys)
        dated = ReplayCache(
            capacity: policy.memory, longest: policy.age + policy.lead + .seconds(1), lead: policy.lead)
        // Nonces of one moment end at one moment: in buckets of a second none pushes out those of now, while they are in use.
        let longest = DPoPNonces.lifetime + DPoPNonces.lead
        nonced = ReplayCache(
            capacity: policy.memory, longest: longest, lead: DPoPNonces.lead, buckets: longest.wholeSeconds)
    }

    /// How many proofs are remembered.
    var remembered: Int { dated.count + nonced.count }

    /// The nonce that proofs are to hold from `now` on; nil when they need none.
    public func nonce(at now: Instant) -> String? {
        policy.nonce == .required ? nonces.current(at: now) : nil
    }

    /// The nonce with which a proof would be taken that was refused for `problem`; nil when none would help.
    public func nonce(curing problem: DPoPError, at now: Instant) -> String? {
        problem.isCuredByNonce ? nonces.current(at: now) : nil
    }

    /// Reads `text` as a proof for this request and checks it (RFC 9449 section 4.3). Whether it was used before shows when it is
    /// used: nothing is remembered until then.
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
            // Ours, and too old: its time is over, whatever `iat` says. By that it could come a second time.
            guard nonce.isGood(at: now) else { throw .nonceMissing }
            return proof.rememberedWhenUsed(
                in: nonced, until: nonce.end, at: now, forgotten: .nonceMissing, crowdedOut: .nonceMissing)
        }
        if policy.nonce == .required { throw .nonceMissing }
        try checkIssue(of: proof, at: now)
        let end = Instant(secondsSinceEpoch: proof.issuedAt) + policy.age + .seconds(1)
        return proof.rememberedWhenUsed(in: dated, until: end, at: now, forgotten: .tooOld, crowdedOut: .tooEarly)
    }

    /// When it was made, by its maker's clock. No sum with what the proof says: a number of 64 bits can be in it.
    private func checkIssue(of proof: DPoPProof, at now: Instant) throws(DPoPError) {
        let now = now.secondsSinceEpoch
        guard proof.issuedAt <= now + policy.lead.wholeSeconds else { throw .tooEarly }
        guard proof.issuedAt >= now - policy.age.wholeSeconds else { throw .tooOld }
    }

    /// What its maker may have said beside that (RFC 7519 sections 4.1.4 and 4.1.5), which no nonce takes back.
    private func checkTerms(of proof: DPoPProof, at now: Instant) throws(DPoPError) {
        let now = now.secondsSinceEpoch
        if let notBefore = proof.notBefore, notBefore > now + policy.lead.wholeSeconds { throw .untimely }
        if let expiry = proof.expiry, expiry <= now - policy.lead.wholeSeconds { throw .untimely }
    }
}

extension DPoPError {
    /// Whether a proof that holds a nonce of the server would be taken in its place (RFC 9449 sections 8 and 11.1).
    public var isCuredByNonce: Bool {
        switch self {
        case .nonceMissing, .tooOld, .tooEarly: true
        case .malformed, .otherMethod, .otherTarget, .otherAccessToken, .untimely, .repeated: false
        }
    }
}

extension DPoPProof {
    /// The proof, which can be presented until just before `end`, and is remembered in `replays` when it is used.
    fileprivate func rememberedWhenUsed(
        in replays: ReplayCache, until end: Instant, at now: Instant, forgotten: DPoPError, crowdedOut: DPoPError
    ) -> ProofOfPossession {
        ProofOfPossession(of: keyThumbprint) { [id, keyThumbprint] () throws(DPoPError) in
            switch replays.present(id, of: keyThumbprint, until: end, at: now) {
            case .fresh: break
            case .repeated: throw .repeated
            case .forgotten: throw forgotten
            case .crowdedOut: throw crowdedOut
            }
        }
    }
}
