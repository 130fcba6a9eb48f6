/// The parameters of a token exchange (RFC 8693 §2.1).
public struct TokenExchangeParameters: Sendable {
    /// The token types (RFC 8693 §3) that this server uses.
    public enum TokenType: String, CaseIterable, Sendable {
        case accessToken = "urn:ietf:params:oauth:token-type:access_token"
        case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"
        case idToken = "urn:ietf:params:oauth:token-type:id_token"
    }

    /// `subject_token`, the token of the subject.
    public var subjectToken: String? { parameters["subject_token"] }
    /// `subject_token_type`.
    public var subjectTokenType: String? { parameters["subject_token_type"] }
    /// `requested_token_type`.
    public var requestedTokenType: String? { parameters["requested_token_type"] }
    /// `audience`, the names of the token's audiences.
    public var audiences: [String] { parameters.all(Self.audienceName) }
    static let audienceName = "audience"
    /// `actor_token`, the token of the party that acts for the subject.
    public var actorToken: String? { parameters["actor_token"] }
    /// `actor_token_type`.
    public var actorTokenType: String? { parameters["actor_token_type"] }
    /// `nonce`, the nonce of the ID token, as the app knows it. It is not part of RFC 8693.
    public var nonce: String? { parameters["nonce"] }
    /// `provider_refresh_token`, the refresh token for rechecks at the identity provider. It is not part of RFC 8693.
    public var providerRefreshToken: String? { parameters["provider_refresh_token"] }

    private let parameters: FormParameters

    init(_ parameters: FormParameters) { self.parameters = parameters }
}
