internal import WebAuthn

/// A login, inside a transaction: `start` sets `session`. The active session on the same device is ended as replaced.
public struct SessionOpening: Sendable {
    /// How the login found its user.
    public enum Arrival: Hashable, Sendable {
        /// The user existed, with the identity of the login, if it has one.
        case known
        /// The user existed, and gets the identity of the login with the session.
        case linked
        /// The user is made, with the identity of the login, with the session.
        case new
    }

    /// The user.
    public private(set) var user: User
    /// How the login found its user. New rows are written only if the session is set.
    public let arrival: Arrival
    /// Whether the one-time token of the login was used before, at any node. If not, it is used up when the session is set.
    public let isReplay: Bool
    /// The one-time token of the login, if it has one.
    public let token: OneTimeToken?
    /// The passkey of the login, if it is by one; written together with the session.
    public var passkey: Passkey?
    /// Nil when there is no such client.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// The session on the same (user, client, device) without a recorded end, if there is one.
    public let previous: Session?
    /// The second factors of the user. What their check changes is written with the session; a wrong code in any case.
    public var factors: EnrolledFactors
    /// The new session; left nil when the login is refused, or continues `previous`.
    public var session: Session?
    /// `previous` as it goes on after the login, which then starts no session; nil: it does not go on.
    public var continued: Session?
    /// Whether the user has had a session on the device before.
    public var isPlaceKnown = false
    /// When the user is deleted, as the user has wished; nil: never.
    public var deletesAt: Instant?
    /// Whether the login keeps an account that is to be deleted: the switch and the time go, with the session.
    public private(set) var keepsAccount = false
    /// The check by which the provider of the session is asked later, written together with it; nil: the provider is not asked
    /// because of this login.
    public var providerCheck: ProviderCheck?
    /// The audit events of the same transaction.
    public var events: [AuditEvent] = []

    /// A login of `user`.
    public init(
        user: User, arrival: Arrival = .known, isReplay: Bool = false, token: OneTimeToken? = nil,
        passkey: Passkey? = nil, client: Client?, settings: Settings, previous: Session?,
        factors: EnrolledFactors? = nil
    ) {
        self.factors = factors ?? EnrolledFactors(details: UserDetails(userID: user.id))
        self.user = user
        self.arrival = arrival
        self.isReplay = isReplay
        self.token = token
        self.passkey = passkey
        self.client = client
        self.settings = settings
        self.previous = previous
    }

    /// Lets the user of a deleted account log in, if the request keeps it. Returns why the user cannot; nil: the user can.
    mutating func refusal(keepingAccount cancels: Bool) -> ServiceError? {
        guard let refusal = user.loginRefusal else { return nil }
        guard refusal == .loginDisabledByUser, deletesAt != nil else { return .loginRefused(refusal) }
        guard cancels else { return AccountService.deletionPending }
        user.disabledByUser = nil
        keepsAccount = true
        return nil
    }

    /// The events of an account that a login keeps.
    func keepingEvents(at now: Instant, by origin: Origin) -> [AuditEvent] {
        guard keepsAccount else { return [] }
        var event = AuditEvent(.loginsEnabled, at: now, by: origin, userID: user.id)
        event.revokes = .userUnblocked
        return [event, AuditEvent(.deletionCancelled, at: now, by: origin, userID: user.id)]
    }

    /// Whether an identity provider has authenticated the user for this login.
    var isByIdentity: Bool { token != nil && passkey == nil }

    /// The error of a login whose one-time token was used before.
    var replayError: ServiceError { passkey == nil ? .identityRefused(.replayed) : .passkeyRefused(.wrongChallenge) }
}
