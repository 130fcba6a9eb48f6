/// The result of a token introspection (RFC 7662 §2.2). An inactive token has no other member.
public struct IntrospectionResponse: Codable, Hashable, Sendable {
    /// True if the token would be accepted now.
    public var active: Bool
    /// The scope of the token.
    public var scope: String?
    /// The client that the token was issued to.
    public var clientID: String?
    /// True for an anonymous user, else absent.
    public var anonymous: Bool?
    /// The username of the user; absent for an anonymous user.
    public var username: String?
    /// `Bearer` or `DPoP` for an access token; absent for a refresh token, so that it cannot be mistaken for an access
    /// token.
    public var tokenType: String?
    /// The Unix second from which the token is invalid.
    public var exp: Int64?
    /// The Unix second in which the token was issued.
    public var iat: Int64?
    /// The user, or the client that got the token for itself.
    public var sub: String?
    /// The audience of an access token.
    public var aud: Audience?
    /// The issuer.
    public var iss: String?
    /// The session ID.
    public var sid: String?
    /// The device ID.
    public var deviceID: String?
    /// The Unix second of the interactive login, or of the last proof of the user's presence.
    public var authTime: Int64?
    /// The authentication context of the user since the login (RFC 9470 §6.2).
    public var acr: String?
    /// The verdict of the operator's own attestation of app and device.
    public var attestation: String?

    /// The key that the token is bound to (RFC 9449 §6.2).
    public var cnf: Confirmation?

    /// The confirmation of a bound token (RFC 7800).
    public struct Confirmation: Codable, Hashable, Sendable {
        /// The thumbprint of the key (RFC 9449 §6.1).
        public var jkt: String

        /// Creates the confirmation for a key's thumbprint.
        public init(jkt: String) { self.jkt = jkt }
    }

    /// An audience: one name as a string, several as an array (RFC 7519 §4.1.3).
    public struct Audience: Codable, Hashable, Sendable {
        /// The names.
        public var names: [String]

        /// Creates an audience.
        public init(_ names: [String]) { self.names = names }

        /// Decodes a string, or an array of strings.
        public init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let name = try? value.decode(String.self) {
                names = [name]
            } else {
                names = try value.decode([String].self)
            }
        }

        /// Encodes a string, or an array of strings.
        public func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            if names.count == 1 { try value.encode(names[0]) } else { try value.encode(names) }
        }
    }

    /// Creates a response with `active` only.
    public init(active: Bool) { self.active = active }

    enum CodingKeys: String, CodingKey {
        case active, scope
        case clientID = "client_id"
        case username
        case tokenType = "token_type"
        case exp, iat, sub, aud, iss, sid
        case deviceID = "device_id"
        case authTime = "auth_time"
        case acr, anonymous, attestation, cnf
    }
}
