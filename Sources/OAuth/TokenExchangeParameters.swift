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
    public var subjectToken: String? { parameters["subject_token"] }
    /// `subject_token_type`.
    public var subjectTokenType: String? { parameters["subject_token_type"] }
    /// `requested_token_type`.
    public var requestedTokenType: String? { parameters["requested_token_type"] }
    /// `audience`: the names of those whom the token is for.
    public var audiences: [String] { parameters.all(Self.audienceName) }
    static let audienceName = "audience"
    /// `actor_token`: who acts for the subject.
    public var actorToken: String? { parameters["actor_token"] }
    /// `actor_token_type`.
    public var actorTokenType: String? { parameters["actor_token_type"] }
    /// `nonce`: the one in the ID token, as the app knows it. Not of the RFC.
    public var nonce: String? { parameters["nonce"] }
    /// `provider_refresh_token`: by which the identity provider can be asked again. Not of the RFC.
    public var providerRefreshToken: String? { parameters["provider_refresh_token"] }

    private let parameters: FormParameters

    init(_ parameters: FormParameters) { self.parameters = parameters }
}
