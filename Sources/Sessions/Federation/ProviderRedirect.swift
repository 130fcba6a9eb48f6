/// An identity provider to which the login page leads.
public struct RedirectProvider: Hashable, Sendable {
    /// The provider's name in the configuration.
    public let name: String
    /// The name to show.
    public let title: String
    /// Whether the provider is told to ask the user, even if it has a session of its own; nil: as the client and the request
    /// demand.
    public let forcesLogin: Bool?

    /// A provider.
    public init(name: String, title: String, forcesLogin: Bool? = nil) {
        (self.name, self.title, self.forcesLogin) = (name, title, forcesLogin)
    }
}

/// A request to authenticate a user (OpenID Connect Core section 3.1.2.1), which a browser takes to a provider.
public struct ProviderRequest: Hashable, Sendable {
    /// The provider's name in the configuration.
    public var provider: String
    /// Where the provider sends the browser back.
    public var redirectURI: String
    /// What the provider repeats.
    public var state: String
    /// What the ID token repeats.
    public var nonce: String
    /// The PKCE challenge of the method `S256` (RFC 7636).
    public var codeChallenge: String
    /// Whether the provider has to ask the user.
    public var asksUser = false
    /// The longest time since the authentication, in seconds.
    public var maxAge: Int64?
    /// The username to begin with.
    public var loginHint: String?
    /// The languages of the pages, by preference.
    public var uiLocales: String?

    /// A request with the required members.
    public init(provider: String, redirectURI: String, state: String, nonce: String, codeChallenge: String) {
        self.provider = provider
        self.redirectURI = redirectURI
        self.state = state
        self.nonce = nonce
        self.codeChallenge = codeChallenge
    }
}

/// The answer of a provider that a browser has brought back (RFC 6749 section 4.1.2), with what the server knows of its request.
public struct ProviderCallback: Hashable, Sendable {
    /// The provider to which the browser was sent.
    public var provider: String
    /// The code; nil: the provider has answered with an error.
    public var code: String?
    /// The issuer of the answer (RFC 9207); nil: the answer names none.
    public var issuer: String?
    /// The verifier of the request's challenge.
    public var codeVerifier: String
    /// The redirect URI of the request.
    public var redirectURI: String
    /// The nonce of the request.
    public var nonce: String
    /// The earliest authentication that is accepted, if the ID token tells it; nil: any.
    public var authenticatedSince: Instant?

    /// An answer.
    public init(
        provider: String, code: String?, issuer: String?, codeVerifier: String, redirectURI: String, nonce: String,
        authenticatedSince: Instant? = nil
    ) {
        self.provider = provider
        self.code = code
        self.issuer = issuer
        self.codeVerifier = codeVerifier
        self.redirectURI = redirectURI
        self.nonce = nonce
        self.authenticatedSince = authenticatedSince
    }
}

/// Sends browsers to identity providers, and verifies what they bring back.
public protocol ProviderRedirects: Sendable {
    /// The providers to which the login page can lead.
    var redirectProviders: [RedirectProvider] { get }
    /// The URL of the provider for a request. Throws `identityProviderUnavailable`.
    func url(of request: ProviderRequest) async throws(ServiceError) -> String
    /// Exchanges the code of an answer, and verifies the ID token. Throws `identityRefused` with the reason, or
    /// `identityProviderUnavailable`.
    func identity(by callback: ProviderCallback) async throws(ServiceError) -> ExternalIdentity
}

/// A login at a provider that the browser carries there and back.
public struct CarriedProviderLogin: Codable, Hashable, Sendable {
    /// The authorization request, bound to the browser.
    public var carried: CarriedRequest
    /// The provider's name in the configuration.
    public var provider: String
    /// The nonce of the request.
    public var nonce: String
    /// The verifier of the request's PKCE challenge.
    public var codeVerifier: String
    /// The earliest authentication that is accepted, in Unix seconds; nil: any.
    public var authenticatedSince: Int64?

    /// A login.
    public init(
        _ carried: CarriedRequest, provider: String, nonce: String, codeVerifier: String, authenticatedSince: Int64?
    ) {
        self.carried = carried
        self.provider = provider
        self.nonce = nonce
        self.codeVerifier = codeVerifier
        self.authenticatedSince = authenticatedSince
    }

    enum CodingKeys: String, CodingKey {
        case carried
        case provider
        case nonce
        case codeVerifier = "code_verifier"
        case authenticatedSince = "since"
    }
}
