/// The session settings that an admin changes at run time, with the names of Keycloak and KOBIL. A change affects active
/// sessions at once, because both ends of a session are computed when they are checked.
public struct SessionSettings: Hashable, Sendable {
    /// The rolling window: a session ends if it is not refreshed for this long.
    public var offlineSessionIdle: Duration
    /// True if `offlineSessionMax` applies.
    public var offlineSessionMaxLimited: Bool
    /// The maximum lifetime of a session, from the interactive login.
    public var offlineSessionMax: Duration
    /// The age from which a client should renew its access token.
    public var refreshAfter: Duration
    /// The rotation interval (`W`), in which a new refresh token and its parent are answered with that token again. Zero means
    /// strict rotation.
    public var rotationInterval: Duration

    /// The values of the first start: two weeks, half a year, one hour, two minutes.
    public static let defaults = SessionSettings(
        offlineSessionIdle: .seconds(1_209_600), offlineSessionMaxLimited: true,
        offlineSessionMax: .seconds(15_552_000), refreshAfter: .seconds(3600), rotationInterval: .seconds(120))

    /// Creates settings. `Lifetimes.problem` checks that the values are consistent.
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

/// The settings that the store keeps once: the session settings, and the epoch that can end all sessions in one write.
public struct Settings: Hashable, Sendable {
    /// The session settings.
    public var sessions: SessionSettings
    /// The epoch, which increases with every "revoke all" and every new client. A session records its value at the start.
    public var epoch: Int64
    /// The last "revoke all"; nil if there was none. It ended all sessions of an earlier epoch.
    public var revokedBefore: RevokedBefore?
    /// The latest expiry of access tokens that were issued before their lifetime was shortened; nil if it never was.
    public var earlierTokensEnd: Instant?
    /// The absolute maximum in the configuration file of the server that started last; nil: none has said so yet. No node lets
    /// a session live longer.
    public var servedMaximum: Duration?
    /// The restores of the database from backups, in order.
    public var restores: [Restore] = []
    /// When logins ask for a second factor.
    public var secondFactorPolicy = SecondFactorPolicy.ifEnrolled
    /// What pages and mails show of the service.
    public var branding = Branding()

    /// A restore of the database from a backup. What happened between is unknown, so that idle times begin anew.
    public struct Restore: Hashable, Sendable {
        /// The time of the backup.
        public var from: Instant
        /// The time of the restore.
        public var at: Instant

        /// A restore at `at` of a backup that was taken at `from`.
        public init(from: Instant, at: Instant) {
            self.from = from
            self.at = at
        }
    }

    /// A "revoke all".
    public struct RevokedBefore: Hashable, Sendable {
        /// Sessions with a smaller epoch have ended.
        public var epoch: Int64
        /// The time of their end.
        public var at: Instant

        /// Creates a "revoke all" at `at`.
        public init(epoch: Int64, at: Instant) {
            self.epoch = epoch
            self.at = at
        }
    }

    /// Creates the settings of a new database.
    public init(sessions: SessionSettings = .defaults, epoch: Int64 = 1, revokedBefore: RevokedBefore? = nil) {
        self.sessions = sessions
        self.epoch = epoch
        self.revokedBefore = revokedBefore
    }
}

extension [Settings.Restore] {
    /// The instant from which an idle time counts that began at `instant`. A restore begins it anew, unless it was over when the
    /// backup was taken.
    public func idleStart(_ instant: Instant, _ idle: Duration) -> Instant {
        var start = instant
        for restore in self where start < restore.at && start + idle > restore.from { start = restore.at }
        return start
    }

    /// The text of a settings row: `FROM:AT`, in seconds since 1970, for each restore.
    public init?(text: String) {
        self = []
        for word in text.split(separator: " ") {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
            guard parts.count == 2, let from = parts[0], let at = parts[1] else { return nil }
            append(.init(from: Instant(secondsSinceEpoch: from), at: Instant(secondsSinceEpoch: at)))
        }
    }

    /// See `init(text:)`; nil if there was no restore.
    public var text: String? {
        if isEmpty { return nil }
        return map { "\($0.from.secondsSinceEpoch):\($0.at.secondsSinceEpoch)" }.joined(separator: " ")
    }
}
