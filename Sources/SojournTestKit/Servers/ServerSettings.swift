/// Settings of a server's sessions, in seconds; nil leaves a value as it is.
public struct ServerSettings: Hashable, Sendable {
    /// How long a refresh token and its parent are answered with the same child (`rotation_interval`, also called W).
    public var rotationInterval: Int64?
    /// The rolling window: the time without a refresh after which a session ends.
    public var idle: Int64?
    /// The maximum lifetime of a session.
    public var maximum: Int64?
    /// The age from which an app renews its access token.
    public var refreshAfter: Int64?

    /// Creates settings.
    public init(
        rotationInterval: Int64? = nil, idle: Int64? = nil, maximum: Int64? = nil, refreshAfter: Int64? = nil
    ) {
        self.rotationInterval = rotationInterval
        self.idle = idle
        self.maximum = maximum
        self.refreshAfter = refreshAfter
    }
}

/// Settings of the client `mobile`; nil leaves a value as it is.
public struct ClientSettings: Hashable, Sendable {
    /// Whether users stay logged in (`stay_logged_in`). Otherwise a login gives one access token, and the session ends with it.
    public var staysLoggedIn: Bool?
    /// How long an access token is valid (`access_token_lifetime`), in seconds.
    public var accessTokenLifetime: Int64?
    /// What a renewal does that does not name the platform of the login (`app_data`).
    public var appData: Rule?
    /// What a renewal does in a session without the verdict `genuine` (`attestation`).
    public var attestation: Rule?
    /// The names by which users log in with a password (`login_names`).
    public var loginNames: LoginNames?
    /// Whether strangers make accounts by the client (`sign_up`), if the server lets them.
    public var takesSignUps: Bool?
    /// When the client asks for a second factor (`second_factor_policy`).
    public var secondFactorPolicy: SecondFactorPolicy?

    /// What the server does about a renewal that it suspects.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// It is granted.
        case ignore
        /// It is granted, and is in the audit trail.
        case report
        /// It is refused as `device_mismatch`, and the session is kept.
        case refuse
    }

    /// The names by which users log in with a password.
    public enum LoginNames: String, Hashable, Sendable, CaseIterable {
        case username
        /// The verified e-mail address, if it is that of one user.
        case email
        /// Both. A username wins over an address.
        case both
    }

    /// When a client asks for a second factor.
    public enum SecondFactorPolicy: String, Hashable, Sendable, CaseIterable {
        /// Never.
        case off
        /// At logins of users that have one.
        case ifEnrolled = "if_enrolled"
        /// At every login. A user without one adds it then.
        case requiredAtLogin = "required_at_login"
        /// At every login, and at the next renewal of sessions that began without one.
        case required
    }

    /// Creates settings.
    public init(
        staysLoggedIn: Bool? = nil, accessTokenLifetime: Int64? = nil, appData: Rule? = nil, attestation: Rule? = nil,
        loginNames: LoginNames? = nil, takesSignUps: Bool? = nil, secondFactorPolicy: SecondFactorPolicy? = nil
    ) {
        self.staysLoggedIn = staysLoggedIn
        self.accessTokenLifetime = accessTokenLifetime
        self.appData = appData
        self.attestation = attestation
        self.loginNames = loginNames
        self.takesSignUps = takesSignUps
        self.secondFactorPolicy = secondFactorPolicy
    }
}

/// A call of an admin that the server refused.
public struct AdminRefusal: Error, Hashable, Sendable {
    /// The call, for example `POST /admin/v1/users`.
    public let call: String
    /// The status of the answer.
    public let status: Int
    /// The content of the answer.
    public let answer: String
}
