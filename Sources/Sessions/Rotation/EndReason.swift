/// Why a session is over. Recorded with the session and kept as a tombstone, so that "why was I logged out?" has an
/// answer; the raw values are on the wire and in the database.
public enum EndReason: String, CaseIterable, Sendable {
    case loggedOut = "logged_out"
    case replaced
    case revokedByUser = "revoked_by_user"
    case revokedByAdmin = "revoked_by_admin"
    case passwordChanged = "password_changed"
    case idleExpired = "idle_expired"
    case maxLifetimeReached = "max_lifetime_reached"
    case refreshTokenReused = "refresh_token_reused"
    case userDeleted = "user_deleted"
    /// The identity provider of the login does not stand by the user any more.
    case revokedByProvider = "revoked_by_provider"
    /// The identity provider cannot be asked about the session any more, and its last word is too old.
    case recheckLost = "recheck_lost"
}

/// Why a refresh was refused: the `reason` beside `invalid_grant` (RFC 6749 section 5.2).
public enum RefusalReason: Hashable, Sendable {
    /// Not a refresh token of ours: wrong shape, or its authentication tag does not fit.
    case malformed
    /// A genuine token whose session is not known, or no longer: its tombstone is gone.
    case unknownSession
    /// The session is over, for this reason.
    case ended(EndReason)
    /// The user has switched logins off. The session is kept.
    case loginDisabledByUser
    /// An admin has switched the user's logins off. The session is kept.
    case loginDisabledByAdmin
    /// The request names another device than the session's. The session is kept.
    case deviceMismatch
    /// The token belongs to another client, or the proof of the session's key is missing or wrong. The session is kept.
    case bindingMismatch

    /// The assertion is not one of the session's key, to this server, made just now, and used once. The session is kept.
    case invalidAssertion
    /// The session's mode asks for the user, who has not shown to be there (RFC 9470). The session is kept.
    case userAbsent

    /// The stable word on the wire.
    public var rawValue: String {
        switch self {
        case .malformed: "malformed"
        case .unknownSession: "unknown_session"
        case .ended(let reason): reason.rawValue
        case .loginDisabledByUser: "login_disabled_by_user"
        case .loginDisabledByAdmin: "login_disabled_by_admin"
        case .deviceMismatch: "device_mismatch"
        case .bindingMismatch: "binding_mismatch"
        case .invalidAssertion: "invalid_assertion"
        case .userAbsent: "insufficient_user_authentication"
        }
    }

    /// Whether logging in again would help: false where the session lives on, or where no login can succeed.
    public var reauthenticate: Bool {
        switch self {
        case .malformed, .unknownSession: true
        case .ended(let reason): reason != .userDeleted
        case .loginDisabledByUser, .loginDisabledByAdmin, .deviceMismatch, .bindingMismatch, .invalidAssertion,
            .userAbsent:
            false
        }
    }

    /// Every reason there is, for tables and metrics.
    public static var allCases: [RefusalReason] {
        [.malformed, .unknownSession] + EndReason.allCases.map(RefusalReason.ended) + [
            .loginDisabledByUser, .loginDisabledByAdmin, .deviceMismatch, .bindingMismatch, .invalidAssertion,
            .userAbsent,
        ]
    }
}
