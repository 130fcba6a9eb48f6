/// The reason why a call failed. Only `notSignedIn` and `ended` mean that the app shows the login.
public enum SojournError: Error, Hashable, Sendable {
    /// No user is signed in on this device.
    case notSignedIn
    /// The device is locked. Try again after it was unlocked; nothing is lost.
    case locked
    /// The store failed. The record is kept.
    case store(StoreError)
    /// The keyring failed. The keys are kept.
    case key(KeyError)
    /// The server has ended the session.
    case ended(EndReason)
    /// Logins are switched off; the tokens are kept.
    case suspended(Suspension)
    /// The server asks for the user's presence (RFC 9470).
    case presenceRequired(PresenceRequirement)
    /// The presence gate failed, or the user cancelled it. Nothing was sent, and nothing has changed.
    case presence(PresenceFailure)
    /// The first proof of a login was right, and the server asks for a second one. Nothing is stored yet: the value ends the login.
    case secondFactorRequired(SecondFactorLogin)
    /// The server refused the call. The session is not concerned.
    case refused(Refusal)
    /// No answer of the server: the network, 429, 5xx, or a page of a proxy.
    case unreachable(Unreachable)
    /// The caller's task was cancelled, the user closed the login page, or the session that the call was for has been replaced
    /// meanwhile.
    case cancelled
    /// The app is set up wrongly: the client, the URL, a mode that the server does not know. `detail` is the server's sentence
    /// about its word; nil: it has said none, or the SDK itself has found the fault.
    case misconfigured(String, detail: String? = nil)
}

/// Why a session has ended: the server's word, or the SDK's for its own key.
public struct EndReason: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The word, for example `idle_expired`. Words of later servers are possible.
    public var rawValue: String
    /// Creates a reason.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word.
    public var description: String { rawValue }

    /// The user logged out.
    public static let loggedOut = EndReason(rawValue: "logged_out")
    /// A later login on this device replaced the session.
    public static let replaced = EndReason(rawValue: "replaced")
    /// The user ended it from another device.
    public static let revokedByUser = EndReason(rawValue: "revoked_by_user")
    /// An admin ended it.
    public static let revokedByAdmin = EndReason(rawValue: "revoked_by_admin")
    /// The password was changed or reset.
    public static let passwordChanged = EndReason(rawValue: "password_changed")
    /// It was not renewed for too long.
    public static let idleExpired = EndReason(rawValue: "idle_expired")
    /// Its longest life is over.
    public static let maxLifetimeReached = EndReason(rawValue: "max_lifetime_reached")
    /// An old refresh token was presented, maybe by a thief.
    public static let refreshTokenReused = EndReason(rawValue: "refresh_token_reused")
    /// The server does not know it.
    public static let unknownSession = EndReason(rawValue: "unknown_session")
    /// The account is gone. No login helps.
    public static let userDeleted = EndReason(rawValue: "user_deleted")
    /// The session is bound to a key of this device that no longer exists.
    public static let keyLost = EndReason(rawValue: "key_lost")
}

/// Why a session rests without having ended: the server's word.
public struct Suspension: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// `login_disabled_by_user`, `login_disabled_by_admin`, `device_mismatch`, `binding_mismatch` and others.
    public var rawValue: String
    /// Creates a suspension.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word.
    public var description: String { rawValue }
}

/// What the server asks of the user (RFC 9470 §3).
public struct PresenceRequirement: Hashable, Sendable {
    /// The ways that are accepted: `presence`, `password`, and later ones.
    public var ways: [String]
    /// How many seconds ago the user may have proved to be present.
    public var maxAge: Int64?
    /// Creates a requirement.
    public init(ways: [String], maxAge: Int64?) {
        self.ways = ways
        self.maxAge = maxAge
    }
}

/// A refused call that says nothing about the session.
public struct Refusal: Hashable, Sendable {
    /// The status of the answer; 0 for what the browser of a login brought.
    public var status: Int
    /// The server's word, for example `invalid_credentials` or `username_taken`.
    public var code: String
    /// A sentence for developers.
    public var detail: String?
    /// The part of the request that is wrong.
    public var member: String?
    /// How many tries are left, where tries are counted.
    public var attemptsLeft: Int?
    /// Whether a wrong code of an authenticator app would have been right at another time, so that its clock is wrong.
    public var clockDiffers: Bool
    /// Creates a refusal.
    public init(
        status: Int, code: String, detail: String? = nil, member: String? = nil, attemptsLeft: Int? = nil,
        clockDiffers: Bool = false
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.member = member
        self.attemptsLeft = attemptsLeft
        self.clockDiffers = clockDiffers
    }
}

/// Why no usable answer came.
public struct Unreachable: Hashable, Sendable, CustomStringConvertible {
    /// What happened, for the log: no tokens and no content.
    public var detail: String
    /// The status of the answer, if there was one.
    public var status: Int?
    /// Seconds to wait, from the server.
    public var retryAfter: Int64?
    /// Creates a cause.
    public init(_ detail: String, status: Int? = nil, retryAfter: Int64? = nil) {
        self.detail = detail
        self.status = status
        self.retryAfter = retryAfter
    }

    /// What happened.
    public var description: String { detail }
}
