/// The reason for which a refresh was refused: the `reason` beside `invalid_grant` (RFC 6749 section 5.2).
public enum RefusalReason: Hashable, Sendable {
    /// Not a refresh token of this server: wrong format, or wrong authentication tag.
    case malformed
    /// A genuine token of an unknown session, which was never stored or has no tombstone any more.
    case unknownSession
    /// The session has ended, for this reason.
    case ended(EndReason)
    /// The user has disabled logins. The session is kept.
    case loginDisabledByUser
    /// An admin has disabled the user's logins. The session is kept.
    case loginDisabledByAdmin
    /// The request names another device than the session's. The session is kept.
    case deviceMismatch
    /// The token belongs to another client, or the proof of the session's key is missing or wrong. The session is kept.
    case bindingMismatch

    /// The assertion is not signed by the session's key for this server just now, or was used before. The session is kept.
    case invalidAssertion
    /// The session's mode requires a proof of the user's presence (RFC 9470). The session is kept.
    case insufficientUserAuthentication

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
        case .insufficientUserAuthentication: "insufficient_user_authentication"
        }
    }

    /// Whether a new login would help: false where the session is kept, or where no login can succeed.
    public var reauthenticate: Bool {
        switch self {
        case .malformed, .unknownSession: true
        case .ended(let reason): reason != .userDeleted
        case .loginDisabledByUser, .loginDisabledByAdmin, .deviceMismatch, .bindingMismatch, .invalidAssertion,
            .insufficientUserAuthentication:
            false
        }
    }

    /// Every reason, for tables and metrics.
    public static var allCases: [RefusalReason] {
        [.malformed, .unknownSession] + EndReason.allCases.map(RefusalReason.ended) + [
            .loginDisabledByUser, .loginDisabledByAdmin, .deviceMismatch, .bindingMismatch, .invalidAssertion,
            .insufficientUserAuthentication,
        ]
    }
}
