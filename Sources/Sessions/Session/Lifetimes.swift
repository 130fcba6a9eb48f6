/// The lifetimes of a session of one user in one client today, from the settings, the client, the user and the configuration.
///
/// Computed at each check and never stored, so that a changed setting acts on every active session at once.
public struct Lifetimes: Hashable, Sendable {
    /// The session ends when it is not refreshed for this long.
    public let idle: Duration
    /// The session ends this long after its start, however often it is refreshed.
    public let maximum: Duration
    /// The maximum lifetime of an access token.
    public let accessToken: Duration
    /// The age from which a client should renew its access token.
    public let refreshAfter: Duration
    /// The restores of the database, which begin idle times anew.
    private let restores: [Settings.Restore]

    /// The lifetimes from the settings, a client and a user, under the maximum that the configuration file sets.
    /// A positive value of the client or the user always applies; zero or none inherits.
    public init(
        settings: SessionSettings, client: Client?, user: User?, absoluteMaximum: Duration,
        restores: [Settings.Restore] = []
    ) {
        self.restores = restores
        idle = client?.offlineSessionIdle?.ifPositive ?? settings.offlineSessionIdle
        var maximum = absoluteMaximum
        if settings.offlineSessionMaxLimited { maximum = min(maximum, settings.offlineSessionMax) }
        if let own = client?.offlineSessionMax?.ifPositive { maximum = min(maximum, own) }
        if let own = user?.offlineSessionMax?.ifPositive { maximum = min(maximum, own) }
        if client?.staysLoggedIn ?? true {
            self.maximum = maximum
            accessToken = min(client?.accessTokenLifetime?.ifPositive ?? idle, idle)
            refreshAfter = min(Self.refreshAfter(settings, client, within: accessToken), accessToken)
        } else {
            // The session ends with its one access token.
            accessToken = min(client?.accessTokenLifetime?.ifPositive ?? Client.shortAccessTokenLifetime, idle)
            self.maximum = min(maximum, accessToken)
            refreshAfter = min(client?.refreshAfter?.ifPositive ?? settings.refreshAfter, accessToken)
        }
    }

    /// The client's own `refresh_after`, or else that of the settings. Where the client has chosen a shorter life of its access
    /// tokens, the inherited value is half of this life, because it would come too late.
    private static func refreshAfter(
        _ settings: SessionSettings, _ client: Client?, within accessToken: Duration
    ) -> Duration {
        guard let client else { return settings.refreshAfter }
        if let own = client.refreshAfter?.ifPositive { return own }
        let choosesLife = client.accessTokenLifetime?.ifPositive != nil || client.offlineSessionIdle?.ifPositive != nil
        guard choosesLife, settings.refreshAfter >= accessToken else { return settings.refreshAfter }
        return .seconds(accessToken.wholeSeconds / 2)
    }

    /// The lifetime of a token that `client` gets for itself. No session limits it.
    public func ownToken(of client: Client) -> Duration {
        min(client.accessTokenLifetime?.ifPositive ?? Client.shortAccessTokenLifetime, idle)
    }

    /// The instant from which the idle time of the session counts.
    public func idleStart(of session: Session) -> Instant { restores.idleStart(session.renewedAt, idle) }

    /// The first instant at which the session has ended for lack of a refresh: the end of its rolling window.
    public func idleEnd(of session: Session) -> Instant { idleStart(of: session) + idle }

    /// The first instant at which the session has ended however often it was refreshed.
    public func finalEnd(of session: Session) -> Instant { session.startedAt + maximum }

    /// The first instant at which an access token issued at `now` is no longer valid.
    public func accessTokenEnd(of session: Session, issuedAt now: Instant) -> Instant {
        min(now + accessToken, idleEnd(of: session), finalEnd(of: session))
    }

    /// Whether sessions end earlier by these lifetimes than by `others`.
    public func endsBefore(_ others: Lifetimes) -> Bool { idle < others.idle || maximum < others.maximum }

    /// The ending that the clock has brought, if any: the idle time is checked first.
    public func ending(of session: Session, at now: Instant) -> Session.Ending? {
        if now >= idleEnd(of: session) { return Session.Ending(reason: .idleExpired, at: idleEnd(of: session)) }
        if now >= finalEnd(of: session) {
            return Session.Ending(reason: .maxLifetimeReached, at: finalEnd(of: session))
        }
        return nil
    }
}

extension Lifetimes {
    /// The error in `settings` and `clients`, in one sentence; nil if they satisfy
    /// `refresh_after` < `access_token_lifetime` ≤ `offline_session_idle` ≤ `absolute_max_lifetime`, and
    /// `rotation_interval` ≤ `offline_session_idle` / 2, for the settings alone and for each client.
    public static func problem(
        settings: SessionSettings, clients: [Client], absoluteMaximum: Duration
    ) -> String? {
        if settings.offlineSessionIdle <= .zero { return "offline_session_idle must be at least one second" }
        if settings.offlineSessionMax <= .zero { return "offline_session_max must be at least one second" }
        if settings.refreshAfter < .zero { return "refresh_after must not be negative" }
        if settings.rotationInterval < .zero { return "rotation_interval must not be negative" }
        if settings.offlineSessionMax > absoluteMaximum {
            return "offline_session_max must not exceed absolute_max_lifetime (\(absoluteMaximum.wholeSeconds))"
        }
        if let problem = problem(settings: settings, client: nil, absoluteMaximum: absoluteMaximum) { return problem }
        for client in clients {
            if let problem = problem(settings: settings, client: client, absoluteMaximum: absoluteMaximum) {
                return "client \(client.id): \(problem)"
            }
        }
        return nil
    }

    /// The error in `settings` for `client`.
    private static func problem(
        settings: SessionSettings, client: Client?, absoluteMaximum: Duration
    ) -> String? {
        let idle = client?.offlineSessionIdle?.ifPositive ?? settings.offlineSessionIdle
        let accessToken = client?.accessTokenLifetime?.ifPositive ?? idle
        let refreshAfter = refreshAfter(settings, client, within: accessToken)
        if idle > absoluteMaximum {
            return "offline_session_idle must not exceed absolute_max_lifetime (\(absoluteMaximum.wholeSeconds))"
        }
        if accessToken > idle { return "access_token_lifetime must not exceed offline_session_idle" }
        if client?.hasSessions ?? true, client?.staysLoggedIn ?? true, refreshAfter >= accessToken {
            return "refresh_after must be less than access_token_lifetime "
                + "(\(refreshAfter.wholeSeconds) is not less than \(accessToken.wholeSeconds))"
        }
        if settings.rotationInterval * 2 > idle {
            return "rotation_interval must not exceed half of offline_session_idle"
        }
        if let maximum = client?.offlineSessionMax, maximum > absoluteMaximum {
            return "offline_session_max must not exceed absolute_max_lifetime (\(absoluteMaximum.wholeSeconds))"
        }
        return nil
    }
}

extension Client {
    /// False if the client gets tokens for itself and does nothing else, so that it has nothing to refresh.
    fileprivate var hasSessions: Bool { grantTypes != [.clientCredentials] }
}

extension Duration {
    /// The duration if it is positive, because zero means "inherit".
    var ifPositive: Duration? { self > .zero ? self : nil }
}
