/// What a token is good for (RFC 7662 section 2.2). Of a token that is not active nothing else is said.
public struct IntrospectionResponse: Codable, Hashable, Sendable {
    /// Whether it would be accepted now.
    public var active: Bool
    /// What it is good for.
    public var scope: String?
    /// The client that it was issued to.
    public var clientID: String?
    /// The login name of the user.
    public var username: String?
    /// `Bearer` or `DPoP` for an access token; absent for a refresh token, so that none passes for an access token.
    public var tokenType: String?
    /// The Unix second from which it is no longer accepted.
    public var exp: Int64?
    /// The Unix second in which it was issued.
    public var iat: Int64?
    /// The user, or the client that got the token for itself.
    public var sub: String?
    /// Whom an access token is for.
    public var aud: Audience?
    /// Who issued it.
    public var iss: String?
    /// The session.
    public var sid: String?
    /// The device.
    public var deviceID: String?
    /// The Unix second of the interactive login, or of the last time that the user has shown to be there.
    public var authTime: Int64?
    /// How the user was authenticated since the login (RFC 9470 section 6.2).
    public var acr: String?

    /// The key that it is bound to (RFC 9449 section 6.2).
    public var cnf: Confirmation?

    /// How the holder of a bound token proves that it is theirs (RFC 7800).
    public struct Confirmation: Codable, Hashable, Sendable {
        /// The thumbprint of the key (RFC 9449 section 6.1).
        public var jkt: String

        /// Bound to the key with that thumbprint.
        public init(jkt: String) { self.jkt = jkt }
    }

    /// One name as a string, several as an array (RFC 7519 section 4.1.3).
    public struct Audience: Codable, Hashable, Sendable {
        /// The names.
        public var names: [String]

        /// Those.
        public init(_ names: [String]) { self.names = names }

        /// A string, or an array of strings.
        public init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let name = try? value.decode(String.self) {
                names = [name]
            } else {
                names = try value.decode([String].self)
            }
        }

        /// A string, or an array of strings.
        public func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            if names.count == 1 { try value.encode(names[0]) } else { try value.encode(names) }
        }
    }

    /// A token that is active, or not, of which nothing else is said yet.
    public init(active: Bool) { self.active = active }

    enum CodingKeys: String, CodingKey {
        case active, scope
        case clientID = "client_id"
        case username
        case tokenType = "token_type"
        case exp, iat, sub, aud, iss, sid
        case deviceID = "device_id"
        case authTime = "auth_time"
        case acr, cnf
    }
}
