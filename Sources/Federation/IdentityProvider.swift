public import Cryptography
public import HTTPClient
public import Sessions

/// An identity provider, and how far its word is taken: one entry of the configuration.
public struct IdentityProvider: Hashable, Sendable {
    /// What is asked of `nonce`.
    public enum NonceRequirement: String, CaseIterable, Sendable {
        /// It stands in the token exactly if the app sends one, and is the same.
        case optional
        /// The app sends it with every token.
        case required
        /// It is not looked at: for SDKs that put one in without telling the app.
        case ignored
    }

    /// How the app's nonce stands in the token.
    public enum NonceForm: String, CaseIterable, Sendable {
        /// As it is.
        case plain
        /// As the hexadecimal SHA-256 of it: what apps hand to the native SDKs of Apple and Google.
        case sha256
    }

    /// How the app proves itself to the provider when it asks (RFC 6749 section 2.3).
    public enum ClientAuthentication: String, CaseIterable, Sendable {
        /// By HTTP Basic.
        case basic = "client_secret_basic"
        /// In the form.
        case post = "client_secret_post"
    }

    /// How the provider is asked again whether it stands by a user.
    public struct Recheck: Hashable, Sendable {
        /// How often, and how long its outages are bridged.
        public var terms: RecheckTerms
        /// Where its token endpoint is; nil: where the discovery document says.
        public var tokenURL: OutboundURL?
        /// The id of a confidential client there; nil: that of the app for whom the ID token was made.
        public var clientID: String?
        /// The file with that client's secret.
        public var clientSecretFile: String?
        /// That client's secret; nil: it has none. Read at the start.
        public var clientSecret: String?
        /// How that client proves itself.
        public var clientAuthentication = ClientAuthentication.basic
        /// Whether an answer without an ID token is believed, though it does not say whose the token is.
        public var takesNoIDToken = false
        /// How many questions a node may have open.
        public var concurrency = 8
        /// How many questions a node asks in a second.
        public var rate = 20
        /// How long an answer may take: less than the lease of the check that waits for it.
        public var deadline = Duration.seconds(10)

        /// A provider that is asked by these terms.
        public init(terms: RecheckTerms) { self.terms = terms }
    }

    /// The claims that become a user's profile at the first login; nil: none does.
    public struct ClaimNames: Hashable, Sendable {
        /// The username. An e-mail address is taken only if it was proven.
        public var username: String? = "email"
        /// The e-mail address.
        public var email: String? = "email"
        /// The telephone number.
        public var phoneNumber: String? = "phone_number"
        /// The name to show.
        public var displayName: String? = "name"
        /// The country, if it is two capital letters.
        public var country: String?

        /// The names that OpenID Connect Core section 5.1 gives.
        public init() {}
    }

    /// What requests and the database call it.
    public var name: String
    /// The `iss` of its tokens, character by character.
    public var issuer: String
    /// The ids that our apps have there: the `aud` of tokens for us.
    public var audiences: [String]
    /// Where its keys are; nil: where the discovery document says.
    public var keysURL: OutboundURL?
    /// Where the discovery document is.
    public var discoveryURL: OutboundURL?
    /// What it may sign with.
    public var algorithms: [VerificationAlgorithm] = [.rs256, .es256]
    /// What is asked of `nonce`.
    public var nonce = NonceRequirement.optional
    /// How the nonce stands in the token.
    public var nonceForm = NonceForm.plain
    /// How long after it was issued a token is taken.
    public var tokenAge = Duration.seconds(600)
    /// How long keys are used before they are fetched again.
    public var keyLifetime = Duration.seconds(3600)
    /// How long keys are used beyond that while the provider does not answer.
    public var staleKeyLifetime = Duration.seconds(86400)
    /// The file with the authorities that sign its certificate; nil: those of the system.
    public var authorities: String?
    /// Whether a proven e-mail address links a new identity to the user with that username.
    public var linksByProvenEmail = false
    /// How it is asked again; nil: it is not.
    public var recheck: Recheck?
    /// Which claims become the profile.
    public var claims = ClaimNames()

    /// How far clocks may differ.
    static let leeway: Int64 = 60
    /// How long after one fetch of keys the next one may begin: unknown names of keys cost the provider no more than that.
    static let fetchInterval: Int64 = 30

    /// A provider with what each must have.
    public init(name: String, issuer: String, audiences: [String]) {
        self.name = name
        self.issuer = issuer
        self.audiences = audiences
    }
}
