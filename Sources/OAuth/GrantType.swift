/// The values of `grant_type`.
public enum GrantType: String, CaseIterable, Sendable {
    /// RFC 6749 §4.1.
    case authorizationCode = "authorization_code"
    /// RFC 6749 §6.
    case refreshToken = "refresh_token"
    /// RFC 6749 §4.4.
    case clientCredentials = "client_credentials"
    /// RFC 6749 §4.3. RFC 9700 §2.4 explains why a client needs explicit permission for it.
    case password
    /// RFC 7523 §2.1.
    case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// RFC 8628 §3.4.
    case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    /// OpenID Connect CIBA §10.1.
    case backchannel = "urn:openid:params:grant-type:ciba"
    /// RFC 8693 §2.1.
    case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
}
