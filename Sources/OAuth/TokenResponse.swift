internal import JSON

/// The response to a login or a refresh (RFC 6749 §5.1), with the members that an app needs to plan the next refresh.
/// Times are Unix seconds.
public struct TokenResponse: Decodable, Hashable, Sendable {
    /// The user's data that the app shows and stores.
    public struct User: Decodable, Hashable, Sendable {
        /// The user ID, stable and opaque; the `sub` of the tokens.
        public var userID: String
        /// The username; absent for an anonymous user.
        public var username: String?
        /// The e-mail address.
        public var email: String?
        /// The telephone number.
        public var phoneNumber: String?
        /// The display name.
        public var displayName: String?
        /// The given name.
        public var givenName: String?
        /// The family name.
        public var familyName: String?
        /// The country in ISO 3166-1 alpha-2.
        public var country: String?
        /// True for an anonymous user, else absent.
        public var anonymous: Bool?

        /// Creates a user.
        public init(
            userID: String, username: String?, email: String? = nil, phoneNumber: String? = nil,
            displayName: String? = nil, givenName: String? = nil, familyName: String? = nil, country: String? = nil
        ) {
            self.userID = userID
            self.username = username
            self.email = email
            self.phoneNumber = phoneNumber
            self.displayName = displayName
            self.givenName = givenName
            self.familyName = familyName
            self.country = country
        }

        enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case username, email
            case phoneNumber = "phone_number"
            case displayName = "display_name"
            case givenName = "given_name"
            case familyName = "family_name"
            case country, anonymous
        }
    }

    /// The access token.
    public var accessToken: String
    /// `Bearer` (RFC 6750), or `DPoP` (RFC 9449) if the token is bound to a key.
    public var tokenType = "Bearer"
    /// Seconds until the access token expires.
    public var expiresIn: Int64
    /// The refresh token. It is absent for clients that store a single string, and for clients that got a token for
    /// themselves.
    public var refreshToken: String?
    /// The ID token of a login on the server's page (OpenID Connect Core section 3.1.3.3).
    public var idToken: String?
    /// The scope of the access token; absent if it is empty.
    public var scope: String?
    /// The `iat` of the access token.
    public var issuedAt: Int64
    /// The `exp` of the access token.
    public var expiresAt: Int64
    /// The type of `access_token` in the response to a token exchange (RFC 8693 §2.2.1).
    public var issuedTokenType: String?
    /// The time from which the app should refresh.
    public var refreshAfter: Int64?
    /// Seconds for which the server gives the same refresh token again. A client waits for an answer no longer than half.
    public var rotationInterval: Int64?
    /// In the response to a login: how this client can renew its sessions, `refresh_token` and `device_key`.
    public var renewal: [String]?
    /// The session ID.
    public var sessionID: String?
    /// The device ID. The server generates one if the request has none.
    public var deviceID: String?
    /// The time at which the session ends if it is not refreshed.
    public var sessionIdleExpiresAt: Int64?
    /// The time at which the session ends however often it is refreshed.
    public var sessionExpiresAt: Int64?
    /// How the app guards the token on the device.
    public var authenticationMode: String?
    /// The user of the session.
    public var user: User?

    /// Creates a response with the required members.
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
        case idToken = "id_token"
        case refreshToken = "refresh_token"
        case scope
        case issuedAt = "issued_at"
        case issuedTokenType = "issued_token_type"
        case expiresAt = "expires_at"
        case refreshAfter = "refresh_after"
        case rotationInterval = "rotation_interval"
        case renewal
        case sessionID = "session_id"
        case deviceID = "device_id"
        case sessionIdleExpiresAt = "session_idle_expires_at"
        case sessionExpiresAt = "session_expires_at"
        case authenticationMode = "authentication_mode"
        case user
    }
}

extension TokenResponse {
    /// The response as JSON, with members sorted by name.
    public var json: [UInt8] {
        var members = JSONObject(capacity: 1536)
        members.add("access_token", accessToken)
        members.add("authentication_mode", authenticationMode)
        members.add("device_id", deviceID)
        members.add("expires_at", expiresAt)
        members.add("expires_in", expiresIn)
        members.add("id_token", idToken)
        members.add("issued_at", issuedAt)
        members.add("issued_token_type", issuedTokenType)
        members.add("refresh_after", refreshAfter)
        members.add("refresh_token", refreshToken)
        if let renewal { members.add("renewal", renewal) }
        members.add("rotation_interval", rotationInterval)
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
    /// The user as JSON, with members sorted by name.
    public var json: [UInt8] { members.encoded() }

    fileprivate var members: JSONObject {
        var members = JSONObject()
        members.add("anonymous", anonymous)
        members.add("country", country)
        members.add("display_name", displayName)
        members.add("email", email)
        members.add("family_name", familyName)
        members.add("given_name", givenName)
        members.add("phone_number", phoneNumber)
        members.add("user_id", userID)
        members.add("username", username)
        return members
    }
}
