/// The reason for which a session has ended. The tombstone of the session keeps it, so that it can be shown later. The raw
/// values are on the wire and in the database.
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
    /// The identity provider of the login no longer confirms the user.
    case revokedByProvider = "revoked_by_provider"
    /// The identity provider cannot be asked about the session any more, and its last confirmation is too old.
    case recheckLost = "recheck_lost"
    /// The authorization code that started the session was presented again (RFC 6749 section 4.1.2).
    case codeReused = "code_reused"
    /// The session of the phone that let it in ended.
    case parentEnded = "parent_ended"
    /// The phone that let it in did not answer in time.
    case presenceLost = "presence_lost"
    /// The user has said that another person logged in.
    case notMe = "not_me"

    /// Whether an end for this reason goes to every session of the phone login that let the session in. All others end this
    /// session alone.
    var endsLogin: Bool {
        switch self {
        case .notMe, .parentEnded, .presenceLost, .revokedByAdmin: true
        case .loggedOut, .replaced, .revokedByUser, .passwordChanged, .idleExpired, .maxLifetimeReached,
            .refreshTokenReused, .userDeleted, .revokedByProvider, .recheckLost, .codeReused:
            false
        }
    }
}
