/// The parameters of a token exchange (RFC 8693 section 2.1).
public struct TokenExchangeParameters: Sendable {
    /// The types of tokens (RFC 8693 section 3) that have a part in it.
    public enum TokenType: String, CaseIterable, Sendable {
        /// An access token.
        case accessToken = "urn:ietf:params:oauth:token-type:access_token"
        /// A refresh token.
        case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"
        /// An ID token.
        case idToken = "urn:ietf:params:oauth:token-type:id_token"
    }

    /// `subject_token`: who it is about.
    public let subjectToken: String?
    /// `subject_token_type`.
    public let subjectTokenType: String?
    /// `requested_token_type`.
    public let requestedTokenType: String?
    /// `audience`: the names of those whom the token is for.
    public let audiences: [String]
    static let audienceName = "audience"
    /// `actor_token`: who acts for the subject.
    public let actorToken: String?
    /// `actor_token_type`.
    public let actorTokenType: String?
    /// `nonce`: the one in the ID token, as the app knows it. Not of the RFC.
    public let nonce: String?
    /// `provider_refresh_token`: by which the identity provider can be asked again. Not of the RFC.
    public let providerRefreshToken: String?

    init(_ parameters: FormParameters) {
        subjectToken = parameters["subject_token"]
        subjectTokenType = parameters["subject_token_type"]
        requestedTokenType = parameters["requested_token_type"]
        audiences = parameters.all(Self.audienceName)
        actorToken = parameters["actor_token"]
        actorTokenType = parameters["actor_token_type"]
        nonce = parameters["nonce"]
        providerRefreshToken = parameters["provider_refresh_token"]
    }
}
