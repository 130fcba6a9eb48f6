/// An identity provider's last confirmation of a session.
public struct ProviderConfirmation: Hashable, Sendable {
    /// The provider's name in the configuration.
    public let provider: String
    /// The time of the question that led to the confirmation: at the login, or later.
    public var at: Instant

    /// Creates a confirmation.
    public init(provider: String, at: Instant) {
        self.provider = provider
        self.at = at
    }
}

/// The terms of the checks with a provider.
public struct RecheckTerms: Hashable, Sendable {
    /// The time for which a confirmation suffices.
    public var interval: Duration
    /// The additional time for which it suffices while the provider gives no answer.
    public var outageBudget: Duration
    /// True if a login demands a provider refresh token.
    public var isRequired: Bool

    /// Creates the terms of one provider.
    public init(interval: Duration, outageBudget: Duration, isRequired: Bool = false) {
        self.interval = interval
        self.outageBudget = outageBudget
        self.isRequired = isRequired
    }

    /// The largest age of a confirmation by which a token may be issued.
    public var limit: Duration { interval + outageBudget }
}

/// The state of the checks of one session: the provider's refresh token, which serves only for this and is deleted when the
/// session ends.
///
/// A provider may rotate the token with each answer, and treat the old one as stolen when it is used again. The state therefore
/// records whether an answer may have been lost, because after a lost answer a refusal says nothing about the user.
public struct ProviderCheck: Hashable, Sendable {
    /// The session.
    public let sessionID: Identifier<Session>
    /// The provider's name in the configuration.
    public let provider: String
    /// The subject that answers have to name.
    public let subject: String
    /// The app's client id at the provider, to which the token was issued.
    public let clientID: String
    /// The provider's refresh token, sealed (`ProviderTokens`); nil if it was lost.
    public var sealedToken: [UInt8]?
    /// True if the provider rotates the token, as far as that is known.
    public var rotates: Bool
    /// The time of the next check. During a check, the time at which another node may take over.
    public var dueAt: Instant
    /// The time since which the provider has not answered about this session; nil if it has.
    public var failingSince: Instant?
    /// True if the provider was asked and may have answered, but no node has the answer.
    public var isInDoubt: Bool
    /// A counter of the nodes that took the check over. Only the node of the last count may write a result.
    public var revision: Int64

    /// Creates the state of the checks of a session.
    public init(
        sessionID: Identifier<Session>, provider: String, subject: String, clientID: String, sealedToken: [UInt8]?,
        rotates: Bool = true, dueAt: Instant, failingSince: Instant? = nil, isInDoubt: Bool = false, revision: Int64 = 1
    ) {
        self.sessionID = sessionID
        self.provider = provider
        self.subject = subject
        self.clientID = clientID
        self.sealedToken = sealedToken
        self.rotates = rotates
        self.dueAt = dueAt
        self.failingSince = failingSince
        self.isInDoubt = isInDoubt
        self.revision = revision
    }
}

/// A change of a session and its provider check, inside a transaction. Of the session, only the ending and the confirmation are
/// written.
public struct ProviderCheckChange: Sendable {
    /// The check; nil deletes it.
    public var check: ProviderCheck?
    /// The session.
    public var session: Session
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []

    /// Creates a change.
    public init(check: ProviderCheck?, session: Session) {
        self.check = check
        self.session = session
    }
}

extension RefreshPolicy {
    /// The time at which the session's confirmation expires, and with it the tokens; nil if no provider is asked.
    public func confirmationEnd(of session: Session) -> Instant? {
        guard let confirmation = session.confirmation, let terms = recheckTerms[confirmation.provider] else {
            return nil
        }
        return confirmation.at + terms.limit
    }

    /// Returns true if the session's confirmation has expired at `now`, so that no token may be issued.
    func isUnconfirmed(_ session: Session, at now: Instant) -> Bool {
        confirmationEnd(of: session).map { now >= $0 } ?? false
    }
}
