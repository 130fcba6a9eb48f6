/// What a provider is asked about one session.
public struct ProviderQuestion: Sendable {
    /// The provider's name in the configuration.
    public let provider: String
    /// Whom it has to mean.
    public let subject: String
    /// The id that the app has there.
    public let clientID: String
    /// The provider's refresh token.
    public let refreshToken: String

    /// A question.
    public init(provider: String, subject: String, clientID: String, refreshToken: String) {
        self.provider = provider
        self.subject = subject
        self.clientID = clientID
        self.refreshToken = refreshToken
    }
}

/// What became of the question.
public enum ProviderAnswer: Hashable, Sendable {
    /// It stands by the user; with the token to ask with from now on, if that is another one.
    case confirmed(refreshToken: String?)
    /// No: the token is not good any more, or the provider wants to see the user first.
    case rejected
    /// The token is another user's.
    case somebodyElse
    /// Tokens, which do not show whose they are; with the token to ask with from now on, if that is another one.
    case unproven(refreshToken: String?)
    /// Nothing that can be believed came back. Whether the provider may have taken the token for used is told as well.
    case failed(mayHaveArrived: Bool)
}

/// Asks providers: what the domain needs of them, who are reached over the network.
public protocol ProviderAsker: Sendable {
    /// Asks once, and takes no longer than half a minute.
    func ask(_ question: ProviderQuestion) async -> ProviderAnswer
}

extension ProviderAnswer {
    /// The token to ask with from now on, if the answer has another one.
    var newToken: String? {
        switch self {
        case .confirmed(let token), .unproven(let token): token
        case .rejected, .somebodyElse, .failed: nil
        }
    }
}

/// What asking about a session came to. The raw values are in metrics.
public enum RecheckOutcome: String, CaseIterable, Sendable {
    /// The session goes on.
    case confirmed
    /// The session has ended: the provider said no.
    case rejected
    /// Nothing is known: the provider is asked again.
    case failed
    /// The provider does not know the token, after an answer that was lost: nobody can ask any more.
    case lost
    /// Somebody else has decided meanwhile, or the session was over.
    case superseded
}

extension ProviderCheckChange {
    /// How long it takes at least, and at most, until a provider that gave no answer is asked again.
    static let retryDelays = (shortest: Duration.seconds(15), longest: Duration.seconds(900))

    /// Does what follows from `answer`. Pure.
    ///
    /// - Parameters:
    ///   - asked: the check as it was when this node took it on.
    ///   - sealed: the new token, if the answer has one.
    ///   - now: when the provider was asked.
    ///   - jitter: from 0 to 1, so that sessions that began together are not asked about together.
    public mutating func settle(
        _ answer: ProviderAnswer, of asked: ProviderCheck, sealed: [UInt8]?, _ terms: RecheckTerms, at now: Instant,
        jitter: Double
    ) -> RecheckOutcome {
        guard var check, check.revision == asked.revision, session.ending == nil else { return .superseded }
        check.isInDoubt = false
        check.sealedToken = sealed ?? check.sealedToken
        switch answer {
        case .confirmed(let new):
            check.rotates = new != nil
            check.failingSince = nil
            check.dueAt = terms.nextCheck(after: now, jitter: jitter)
            session.confirmation = ProviderConfirmation(provider: check.provider, at: now)
            self.check = check
            return .confirmed
        case .rejected where asked.isInDoubt && asked.rotates:
            check.sealedToken = nil
            check.failingSince = check.failingSince ?? now
            self.check = check
            return settleLost(terms, at: now)
        case .rejected, .somebodyElse:
            end(.revokedByProvider, check, at: now)
            return .rejected
        case .failed, .unproven:
            if case .failed(let mayHaveArrived) = answer { check.isInDoubt = asked.isInDoubt || mayHaveArrived }
            let failing = now - (check.failingSince ?? now)
            check.failingSince = check.failingSince ?? now
            let delay = min(Self.retryDelays.longest, max(Self.retryDelays.shortest, failing / 2))
            check.dueAt = now + .seconds(delay.wholeSeconds + Int64(Double(delay.wholeSeconds) * jitter / 4))
            self.check = check
            return .failed
        }
    }

    /// Does what follows when this node has no token to ask with. One that is sealed under a root key that it does not list may be
    /// another node's to open, as long as there is time.
    mutating func settleUnopened(
        _ asked: ProviderCheck, _ terms: RecheckTerms, at now: Instant, jitter: Double
    ) -> RecheckOutcome {
        guard check?.revision == asked.revision else { return .superseded }
        if asked.sealedToken == nil || now >= lastEnd(terms) { return settleLost(terms, at: now) }
        return settle(.failed(mayHaveArrived: false), of: asked, sealed: nil, terms, at: now, jitter: jitter)
    }

    /// When the provider's last word is too old.
    private func lastEnd(_ terms: RecheckTerms) -> Instant {
        (session.confirmation?.at ?? session.startedAt) + terms.limit
    }

    /// A session that nobody can ask about ends when the provider's last word is too old, and not before.
    private mutating func settleLost(_ terms: RecheckTerms, at now: Instant) -> RecheckOutcome {
        guard var check, session.ending == nil else { return .superseded }
        let end = lastEnd(terms)
        if now >= end {
            self.end(.recheckLost, check, at: now)
        } else {
            check.dueAt = end
            self.check = check
        }
        return .lost
    }

    private mutating func end(_ reason: EndReason, _ check: ProviderCheck, at now: Instant) {
        session.end(reason, at: now)
        events.append(.ended(session, reason, at: now, by: Origin(actor: "provider:\(check.provider)")))
        self.check = nil
    }
}

extension RecheckTerms {
    /// Up to a tenth of the interval earlier than it demands, never later.
    func nextCheck(after now: Instant, jitter: Double) -> Instant {
        now + .seconds(interval.wholeSeconds - Int64(Double(interval.wholeSeconds) * jitter / 10))
    }
}
