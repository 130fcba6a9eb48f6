/// An ID token as the wire brought it.
public struct IdentityToken: Sendable {
    /// Whose it is said to be, by the provider's name in the configuration; nil: whichever provider its issuer is.
    public var provider: String?
    /// The token.
    public var text: String
    /// What the app had the provider put into it.
    public var nonce: String?

    /// A token.
    public init(provider: String?, text: String, nonce: String? = nil) {
        self.provider = provider
        self.text = text
        self.nonce = nonce
    }
}

/// Whom an identity provider has authenticated, as far as its configuration takes its word.
public struct ExternalIdentity: Sendable {
    /// Who it is.
    public let key: Identity.Key
    /// What a new user is to be called; nil: nothing that may be taken.
    public var username: String?
    /// What is said of the user. What cannot be in a profile is left out.
    public var profile: User.Profile
    /// The e-mail address, if the provider says that it was proven, and is believed to link users by that.
    public var linkingEmail: String?
    /// How the provider says that it authenticated the user (RFC 8176); empty: it does not.
    public var authenticationMethods: [String]
    /// What is the same exactly for the same token: a hash of all that it says.
    public let tokenID: String
    /// From when the token is refused for its age.
    public let goodUntil: Instant
    /// The id that the app has at the provider: for whom the token was made.
    public let clientID: String
    /// How often the provider is asked again; nil: it is not.
    public var recheck: RecheckTerms?

    /// An identity that a token has proved.
    public init(
        _ key: Identity.Key, username: String? = nil, profile: User.Profile = User.Profile(),
        linkingEmail: String? = nil,
        authenticationMethods: [String] = [], tokenID: String, goodUntil: Instant,
        clientID: String, recheck: RecheckTerms? = nil
    ) {
        self.key = key
        self.username = username
        self.profile = profile
        self.linkingEmail = linkingEmail
        self.authenticationMethods = authenticationMethods
        self.tokenID = tokenID
        self.goodUntil = goodUntil
        self.clientID = clientID
        self.recheck = recheck
    }
}

/// Tells whom an ID token is about: what the domain needs of the providers, whose keys come over the network.
public protocol IdentityVerifier: Sendable {
    /// Checks everything but whether the token was used before.
    func verify(_ token: IdentityToken) async throws(ServiceError) -> ExternalIdentity
    /// The providers whose tokens it takes, by their names in the configuration.
    var providerNames: Set<String> { get }
}

/// Why an ID token is not taken. The raw values are on the wire, in the log and in metrics.
public enum IdentityRefusal: String, CaseIterable, Sendable {
    /// It is no signed token that can be read in one way, or brings its own key.
    case malformed
    /// No provider of the configuration has this name or issuer.
    case unknownProvider = "unknown_provider"
    /// Signed with an algorithm that is not taken from this provider.
    case algorithm
    /// The provider has no such key.
    case unknownKey = "unknown_key"
    /// The signature is not that of the provider's key.
    case signature
    /// Another provider's.
    case issuer
    /// For another app.
    case audience
    /// `exp` has passed.
    case expired
    /// Issued too long ago.
    case tooOld = "too_old"
    /// Not good yet: `nbf` or `iat` lie ahead.
    case notYet = "not_yet"
    /// The nonce is missing, or another one.
    case nonce
    /// It has no subject that can be one.
    case subject
    /// It was used before.
    case replayed
}
