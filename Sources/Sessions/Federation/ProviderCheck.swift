/// That an identity provider stands by a session: which one, and when it last said so.
public struct ProviderConfirmation: Hashable, Sendable {
    /// The provider's name in the configuration.
    public let provider: String
    /// When it was asked for the word that is known: at the login, or later.
    public var at: Instant

    /// A provider's word of that moment.
    public init(provider: String, at: Instant) {
        self.provider = provider
        self.at = at
    }
}

/// How often a provider is asked whether it still stands by its users.
public struct RecheckTerms: Hashable, Sendable {
    /// How long its word is enough.
    public var interval: Duration
    /// How much longer it is enough while the provider gives no answer.
    public var outageBudget: Duration
    /// Whether nobody logs in without bringing along what it can be asked with.
    public var isRequired: Bool

    /// The terms of one provider.
    public init(interval: Duration, outageBudget: Duration, isRequired: Bool = false) {
        self.interval = interval
        self.outageBudget = outageBudget
        self.isRequired = isRequired
    }

    /// How old the provider's word may be for a token to be issued by it.
    public var limit: Duration { interval + outageBudget }
}

/// What an identity provider is asked with about one session: its own refresh token, which is kept for that alone and goes when
/// the session ends.
///
/// A provider may change the token with every answer and take the old one for stolen when it comes again. So a row says whether
/// an answer may have been lost: then a "no" does not show that the provider means the user.
public struct ProviderCheck: Hashable, Sendable {
    /// The session that the answer decides on.
    public let sessionID: Identifier<Session>
    /// The provider's name in the configuration.
    public let provider: String
    /// Whom the provider has to mean.
    public let subject: String
    /// The id that the app has at the provider, to whom the token was issued.
    public let clientID: String
    /// The provider's refresh token, sealed (`ProviderTokens`); nil: it was lost, and nobody can ask.
    public var sealedToken: [UInt8]?
    /// Whether the provider changes the token with its answers, as far as that is known.
    public var rotates: Bool
    /// When to ask. While a node asks: when another one may take over.
    public var dueAt: Instant
    /// Since when the provider has given no answer about this session.
    public var failingSince: Instant?
    /// Whether it was asked, and may have answered, without anybody here having the answer.
    public var isInDoubt: Bool
    /// Counts the nodes that took it on: who is not the last one has no say.
    public var revision: Int64

    /// What a provider is asked with.
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

/// A change of a session and of what its provider is asked with, inside a transaction. Of the session its ending and its
/// confirmation are written, and nothing else.
public struct ProviderCheckChange: Sendable {
    /// What the provider is asked with; set to nil, it goes.
    public var check: ProviderCheck?
    /// The session.
    public var session: Session
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of what was read together.
    public init(check: ProviderCheck?, session: Session) {
        self.check = check
        self.session = session
    }
}

extension RefreshPolicy {
    /// Until when tokens are issued by the last word of the session's provider, and live; nil: no provider is asked.
    public func confirmationEnd(of session: Session) -> Instant? {
        guard let confirmation = session.confirmation, let terms = recheckTerms[confirmation.provider] else {
            return nil
        }
        return confirmation.at + terms.limit
    }

    /// Whether the provider's last word is too old at `now` to issue a token by it.
    func isUnconfirmed(_ session: Session, at now: Instant) -> Bool {
        confirmationEnd(of: session).map { now >= $0 } ?? false
    }
}
