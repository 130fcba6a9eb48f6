/// A question to an identity provider about one session.
public struct ProviderQuestion: Sendable {
    /// The provider's name in the configuration.
    public let provider: String
    /// The subject that the answer has to name.
    public let subject: String
    /// The app's client id at the provider.
    public let clientID: String
    /// The provider's refresh token.
    public let refreshToken: String

    /// Creates a question.
    public init(provider: String, subject: String, clientID: String, refreshToken: String) {
        self.provider = provider
        self.subject = subject
        self.clientID = clientID
        self.refreshToken = refreshToken
    }
}

/// The result of a question.
public enum ProviderAnswer: Hashable, Sendable {
    /// The provider confirms the user. `refreshToken` is the token for the next question, if it is a new one.
    case confirmed(refreshToken: String?)
    /// The provider refuses: the token is no longer valid, or the user has to authenticate there first.
    case rejected
    /// The answer names another subject.
    case otherSubject
    /// The answer has tokens but does not show their subject. `refreshToken` is the token for the next question, if it is a new
    /// one.
    case unproven(refreshToken: String?)
    /// There is no trustworthy answer. `mayHaveArrived` is true if the provider may have marked the token as used.
    case failed(mayHaveArrived: Bool)
}

/// Asks identity providers. The domain needs this protocol, because the providers are reached over the network.
public protocol ProviderAsker: Sendable {
    /// Asks once, within half a minute.
    func ask(_ question: ProviderQuestion) async -> ProviderAnswer
}

extension ProviderAnswer {
    /// The token for the next question, if the answer has a new one.
    var newToken: String? {
        switch self {
        case .confirmed(let token), .unproven(let token): token
        case .rejected, .otherSubject, .failed: nil
        }
    }
}

/// The result of a check. The raw values are in metrics.
public enum RecheckOutcome: String, CaseIterable, Sendable {
    /// The session continues.
    case confirmed
    /// The session has ended, because the provider refused.
    case rejected
    /// The result is unknown, and the provider is asked again.
    case failed
    /// The provider does not know the token after a lost answer, so that no further question is possible.
    case lost
    /// Another node has decided in the meantime, or the session had ended.
    case superseded
}

extension ProviderCheckChange {
    /// The shortest and the longest time until a provider without an answer is asked again.
    static let retryDelays = (shortest: Duration.seconds(15), longest: Duration.seconds(900))

    /// Applies `answer` to the check and the session. This function is pure.
    ///
    /// - Parameters:
    ///   - asked: the check when this node took it over.
    ///   - sealed: the new token, sealed, if the answer has one.
    ///   - now: the time of the question.
    ///   - jitter: from 0 to 1, to spread the checks of sessions that began together.
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
        case .rejected, .otherSubject:
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

    /// Applies the lack of a token to ask with. A token sealed under an unknown root key may be readable by another node, so
    /// that the check fails and is repeated while there is time.
    mutating func settleUnopened(
        _ asked: ProviderCheck, _ terms: RecheckTerms, at now: Instant, jitter: Double
    ) -> RecheckOutcome {
        guard check?.revision == asked.revision else { return .superseded }
        if asked.sealedToken == nil || now >= lastEnd(terms) { return settleLost(terms, at: now) }
        return settle(.failed(mayHaveArrived: false), of: asked, sealed: nil, terms, at: now, jitter: jitter)
    }

    /// The end of the time for which the last confirmation suffices.
    private func lastEnd(_ terms: RecheckTerms) -> Instant {
        (session.confirmation?.at ?? session.startedAt) + terms.limit
    }

    /// Ends a session without a usable provider token when its last confirmation has expired, and not before.
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
    /// The time of the next check: up to a tenth of the interval early, never late.
    func nextCheck(after now: Instant, jitter: Double) -> Instant {
        now + .seconds(interval.wholeSeconds - Int64(Double(interval.wholeSeconds) * jitter / 10))
    }
}
