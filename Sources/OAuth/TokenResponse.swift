internal import JSON

/// The answer to a login or a refresh (RFC 6749 section 5.1), with what an app needs to plan the next refresh.
/// Times are Unix seconds.
public struct TokenResponse: Decodable, Hashable, Sendable {
    /// What the app shows and stores of the user.
    public struct User: Decodable, Hashable, Sendable {
        /// Stable and opaque; the `sub` of the tokens.
        public var userID: String
        /// The login name.
        public var username: String
        /// The e-mail address.
        public var email: String?
        /// The telephone number.
        public var phoneNumber: String?
        /// The name to show.
        public var displayName: String?
        /// ISO 3166-1 alpha-2.
        public var country: String?

        /// A user.
        public init(
            userID: String, username: String, email: String? = nil, phoneNumber: String? = nil,
            displayName: String? = nil, country: String? = nil
        ) {
            self.userID = userID
            self.username = username
            self.email = email
            self.phoneNumber = phoneNumber
            self.displayName = displayName
            self.country = country
        }

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case username, email
            case phoneNumber = "phone_number"
            case displayName = "display_name"
            case country
        }
    }

    /// The access token.
    public var accessToken: String
    /// `Bearer` (RFC 6750), or `DPoP` (RFC 9449) when it is bound to a key.
    public var tokenType = "Bearer"
    /// Seconds until the access token expires.
    public var expiresIn: Int64
    /// Absent for a client that keeps one string, and for one that got a token for itself.
    public var refreshToken: String?
    /// What the access token is good for; absent when that is nothing in particular.
    public var scope: String?
    /// The `iat` of the access token.
    public var issuedAt: Int64
    /// The `exp` of the access token.
    public var expiresAt: Int64
    /// What `access_token` is, in the answer to a token exchange (RFC 8693 section 2.2.1).
    public var issuedTokenType: String?
    /// From when the app should refresh.
    public var refreshAfter: Int64?
    /// The session.
    public var sessionID: String?
    /// The device, made up when the request named none.
    public var deviceID: String?
    /// When the session ends if it is not refreshed.
    public var sessionIdleExpiresAt: Int64?
    /// When the session ends however often it is refreshed.
    public var sessionExpiresAt: Int64?
    /// How the app guards the token on the device.
    public var authenticationMode: String?
    /// Whose session it is.
    public var user: User?

    /// An answer with what every token has; the rest is set as it applies.
    public init(accessToken: String, expiresIn: Int64, issuedAt: Int64, expiresAt: Int64) {
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case refreshToken = "refresh_token"
        case scope
        case issuedAt = "issued_at"
        case issuedTokenType = "issued_token_type"
        case expiresAt = "expires_at"
        case refreshAfter = "refresh_after"
        case sessionID = "session_id"
        case deviceID = "device_id"
        case sessionIdleExpiresAt = "session_idle_expires_at"
        case sessionExpiresAt = "session_expires_at"
        case authenticationMode = "authentication_mode"
        case user
    }
}

extension TokenResponse {
    /// The answer as JSON, in the order of the names.
    public var json: [UInt8] {
        var members = JSONObject(capacity: 1536)
        members.add("access_token", accessToken)
        members.add("authentication_mode", authenticationMode)
        members.add("device_id", deviceID)
        members.add("expires_at", expiresAt)
        members.add("expires_in", expiresIn)
        members.add("issued_at", issuedAt)
        members.add("issued_token_type", issuedTokenType)
        members.add("refresh_after", refreshAfter)
        members.add("refresh_token", refreshToken)
        members.add("scope", scope)
        members.add("session_expires_at", sessionExpiresAt)
        members.add("session_id", sessionID)
        members.add("session_idle_expires_at", sessionIdleExpiresAt)
        members.add("token_type", tokenType)
        members.add("user", user?.members)
        return members.encoded()
    }
}

extension TokenResponse.User {
    /// The user as JSON, in the order of the names.
    public var json: [UInt8] { members.encoded() }

    fileprivate var members: JSONObject {
        var members = JSONObject()
        members.add("country", country)
        members.add("display_name", displayName)
        members.add("email", email)
        members.add("phone_number", phoneNumber)
        members.add("user_id", userID)
        members.add("username", username)
        return members
    }
}
