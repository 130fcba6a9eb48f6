/// A login, inside a transaction: set `session` to start it. The living session on the same device is ended as replaced.
public struct SessionOpening: Sendable {
    /// How the user came to be who logs in.
    public enum Arrival: Hashable, Sendable {
        /// They were before.
        case known
        /// They were, and get the identity of the login with the session.
        case linked
        /// They come into being, with the identity of the login, with the session.
        case new
    }

    /// The user.
    public let user: User
    /// Whether the user was there before; what was not is written only if the session is set.
    public let arrival: Arrival
    /// Whether the one-time token of the login was used before, by whatever node. If not, it is used up when the session is set.
    public let isReplay: Bool
    /// Nil when there is no such client.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// The session on the same (user, client, device) without a recorded end, if there is one.
    public let previous: Session?
    /// The new session; left nil when the login is refused.
    public var session: Session?
    /// What the provider of the new session is asked with later, written together with it; nil: it is not asked.
    public var providerCheck: ProviderCheck?
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// A login of `user`.
    public init(
        user: User, arrival: Arrival = .known, isReplay: Bool = false, client: Client?, settings: Settings,
        previous: Session?
    ) {
        self.user = user
        self.arrival = arrival
        self.isReplay = isReplay
        self.client = client
        self.settings = settings
        self.previous = previous
    }
}
