/// The values of `grant_type`.
public enum GrantType: String, CaseIterable, Sendable {
    /// RFC 6749 section 6.
    case refreshToken = "refresh_token"
    /// RFC 6749 section 4.4.
    case clientCredentials = "client_credentials"
    /// RFC 6749 section 4.3; RFC 9700 section 2.4 says why a client has to be allowed it by name.
    case password
    /// RFC 7523 section 2.1.
    case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// RFC 8693 section 2.1.
    case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
}
