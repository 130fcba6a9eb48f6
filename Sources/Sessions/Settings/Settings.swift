/// The session settings that an admin changes at run time, in Keycloak's and KOBIL's names. They act on every living
/// session at once, because both ends of a session are computed when they are checked.
public struct SessionSettings: Hashable, Sendable {
    /// The rolling window: a session that is not refreshed for this long is over.
    public var offlineSessionIdle: Duration
    /// Whether `offlineSessionMax` applies.
    public var offlineSessionMaxLimited: Bool
    /// The longest stay, from the interactive login.
    public var offlineSessionMax: Duration
    /// The age from which a client should renew its rolling token.
    public var refreshAfter: Duration
    /// How long a refresh token that was just issued is answered with itself, and its parent with it (`W`).
    /// Zero means strict rotation.
    public var rotationInterval: Duration

    /// What the first start sets: two weeks, half a year, an hour, two minutes.
    public static let defaults = SessionSettings(
        offlineSessionIdle: .seconds(1_209_600), offlineSessionMaxLimited: true,
        offlineSessionMax: .seconds(15_552_000), refreshAfter: .seconds(3600), rotationInterval: .seconds(120))

    /// Settings with those values; `Lifetimes.problem` says whether they go together.
    public init(
        offlineSessionIdle: Duration, offlineSessionMaxLimited: Bool, offlineSessionMax: Duration,
        refreshAfter: Duration, rotationInterval: Duration
    ) {
        self.offlineSessionIdle = offlineSessionIdle
        self.offlineSessionMaxLimited = offlineSessionMaxLimited
        self.offlineSessionMax = offlineSessionMax
        self.refreshAfter = refreshAfter
        self.rotationInterval = rotationInterval
    }
}

/// What the store keeps once: the session settings, and the counter by which all sessions can be ended in one write.
public struct Settings: Hashable, Sendable {
    /// Lifetimes and rotation.
    public var sessions: SessionSettings
    /// Counts up at every "revoke all" and at every new client; a session remembers the value at its start.
    public var epoch: Int64
    /// The last "revoke all", if there was one: sessions that started at an earlier epoch are over since then.
    public var revokedBefore: RevokedBefore?
    /// Until when rolling tokens may live that were issued before their life was shortened; nil: it never was.
    public var earlierTokensEnd: Instant?
    /// The absolute maximum in the configuration file of the server that started last; nil: none has said so yet. No node lets a
    /// session live longer.
    public var servedMaximum: Duration?

    /// A "revoke all".
    public struct RevokedBefore: Hashable, Sendable {
        /// Sessions with a smaller epoch are over.
        public var epoch: Int64
        /// Since when.
        public var at: Instant

        /// A "revoke all" at `at`.
        public init(epoch: Int64, at: Instant) {
            self.epoch = epoch
            self.at = at
        }
    }

    /// The settings of a new database.
    public init(sessions: SessionSettings = .defaults, epoch: Int64 = 1, revokedBefore: RevokedBefore? = nil) {
        self.sessions = sessions
        self.epoch = epoch
        self.revokedBefore = revokedBefore
    }
}
