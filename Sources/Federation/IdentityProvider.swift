public import Cryptography
public import HTTPClient
public import Sessions

/// An identity provider and the trust in it: one entry of the configuration.
public struct IdentityProvider: Hashable, Sendable {
    /// The requirement on `nonce`.
    public enum NonceRequirement: String, CaseIterable, Sendable {
        /// The token contains a nonce exactly if the app sends one, and both are equal.
        case optional
        /// The app sends a nonce with every token.
        case required
        /// The nonce is ignored, for SDKs that set one without telling the app.
        case ignored
    }

    /// The form of the app's nonce in the token.
    public enum NonceForm: String, CaseIterable, Sendable {
        /// Unchanged.
        case plain
        /// As its hexadecimal SHA-256, which apps pass to the native SDKs of Apple and Google.
        case sha256
    }

    /// The client authentication at the provider's token endpoint (RFC 6749 §2.3).
    public enum ClientAuthentication: String, CaseIterable, Sendable {
        /// By HTTP Basic.
        case basic = "client_secret_basic"
        /// In the form.
        case post = "client_secret_post"
    }

    /// The recheck: how the server asks the provider again whether a user is still valid.
    public struct Recheck: Hashable, Sendable {
        /// How often to ask, and how long the provider may be unavailable.
        public var terms: RecheckTerms
        /// The token endpoint; nil for the one of the discovery document.
        public var tokenURL: OutboundURL?
        /// The ID of a confidential client at the provider; nil for the client ID of the app that the ID token was
        /// issued to.
        public var clientID: String?
        /// The path of the file with that client's secret.
        public var clientSecretFile: String?
        /// That client's secret, read at the start; nil if it has none.
        public var clientSecret: String?
        /// The client authentication of that client.
        public var clientAuthentication = ClientAuthentication.basic
        /// True if a response without an ID token confirms the user, although it does not name the user.
        public var takesNoIDToken = false
        /// The number of rechecks that a node may have in progress.
        public var concurrency = 8
        /// The number of rechecks that a node starts per second.
        public var rate = 20
        /// The time for a response. It is less than the lease of the check that waits for it.
        public var deadline = Duration.seconds(10)

        /// Creates the recheck of a provider.
        public init(terms: RecheckTerms) { self.terms = terms }
    }

    /// The login by redirect: how the login page leads to the provider.
    public struct Redirect: Hashable, Sendable {
        /// The ID of this server's client at the provider, which is the audience of its ID tokens.
        public var clientID: String
        /// The name to show on the login page.
        public var title: String
        /// The authorization endpoint; nil for the one of the discovery document.
        public var authorizationURL: OutboundURL?
        /// The token endpoint; nil for the one of the discovery document.
        public var tokenURL: OutboundURL?
        /// The path of the file with the client's secret.
        public var clientSecretFile: String?
        /// The client's secret, read at the start; nil if it has none.
        public var clientSecret: String?
        /// The client authentication at the token endpoint.
        public var clientAuthentication = ClientAuthentication.basic
        /// The scopes to ask for.
        public var scope = "openid profile email"
        /// Whether the provider has to ask the user even if it has a session of its own; nil: as the client and the request
        /// demand.
        public var forcesLogin: Bool?
        /// Whether an ID token without `auth_time` is refused where the user has to be asked.
        public var requiresAuthenticationTime = false

        /// A login by that client of the provider.
        public init(clientID: String, title: String) { (self.clientID, self.title) = (clientID, title) }
    }

    /// The claims that become a user's profile at the first login; nil omits a member.
    public struct ClaimNames: Hashable, Sendable {
        /// The username. An e-mail address is accepted only if it is verified.
        public var username: String? = "email"
        /// The e-mail address.
        public var email: String? = "email"
        /// The telephone number.
        public var phoneNumber: String? = "phone_number"
        /// The name to show.
        public var displayName: String? = "name"
        /// The given name.
        public var givenName: String? = "given_name"
        /// The family name.
        public var familyName: String? = "family_name"
        /// The country, if it is two capital letters.
        public var country: String?

        /// Creates the names of OpenID Connect Core §5.1.
        public init() {}
    }

    /// The name of the provider in requests and in the database.
    public var name: String
    /// The `iss` of its tokens, compared exactly.
    public var issuer: String
    /// The client IDs of the operator's apps at the provider: the `aud` of accepted tokens.
    public var audiences: [String]
    /// The URL of its keys; nil for the one of the discovery document.
    public var keysURL: OutboundURL?
    /// The URL of the discovery document.
    public var discoveryURL: OutboundURL?
    /// The signature algorithms that are accepted from it.
    public var algorithms: [VerificationAlgorithm] = [.rs256, .es256]
    /// The requirement on `nonce`.
    public var nonce = NonceRequirement.optional
    /// The form of the nonce in the token.
    public var nonceForm = NonceForm.plain
    /// The time after its issue for which a token is accepted.
    public var tokenAge = Duration.seconds(600)
    /// The time after which keys are fetched again.
    public var keyLifetime = Duration.seconds(3600)
    /// The additional time for which keys are used while the provider does not answer.
    public var staleKeyLifetime = Duration.seconds(86400)
    /// The path of a file with the authorities of its TLS certificate; nil for the system's.
    public var authorities: String?
    /// True if a verified e-mail address links a new identity to the user with that username.
    public var linksByProvenEmail = false
    /// Whether `amr` with `mfa` counts as two factors here.
    public var trustsMFA = false
    /// The recheck; nil if the provider is not asked again.
    public var recheck: Recheck?
    /// The login by redirect; nil if the login page does not lead to the provider.
    public var redirect: Redirect?
    /// The claims that become the profile.
    public var claims = ClaimNames()

    /// The tolerated difference of clocks, in seconds.
    static let leeway: Int64 = 60
    /// The minimum time between two fetches of keys, in seconds, so that unknown key IDs cannot cause more load on the
    /// provider.
    static let fetchInterval: Int64 = 30

    /// Creates a provider with its required members.
    public init(name: String, issuer: String, audiences: [String]) {
        self.name = name
        self.issuer = issuer
        self.audiences = audiences
    }
}
