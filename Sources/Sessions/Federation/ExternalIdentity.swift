/// An ID token as the request sent it.
public struct IdentityToken: Sendable {
    /// The provider's name in the configuration; nil selects the provider by the token's issuer.
    public var provider: String?
    /// The token as a JWT.
    public var text: String
    /// The nonce that the app sent to the provider for the token; nil without one.
    public var nonce: String?

    /// Creates a token.
    public init(provider: String?, text: String, nonce: String? = nil) {
        self.provider = provider
        self.text = text
        self.nonce = nonce
    }
}

/// The verified claims of an ID token, as far as the configuration trusts the provider.
public struct ExternalIdentity: Sendable {
    /// The provider and subject.
    public let key: Identity.Key
    /// The username for a new user; nil if the token has none that may be used.
    public var username: String?
    /// The profile. Values that a profile cannot hold are left out.
    public var profile: User.Profile
    /// The e-mail address, if the provider says that it is verified and may link users by it.
    public var linkingEmail: String?
    /// The authentication methods that the provider names (RFC 8176); empty if it names none.
    public var authenticationMethods: [String]
    /// When the user authenticated at the provider (`auth_time`); without that claim the time of issue, if the token has the
    /// nonce of the app's request; else nil.
    public var authenticatedAt: Instant?
    /// Whether the provider's word that it has asked for two factors counts here, and was given.
    public var isMultiFactor = false
    /// Whether the token has `auth_time`.
    public var hasAuthenticationTime = false
    /// A hash of all claims, equal for equal tokens only.
    public let tokenID: String
    /// The time from which the token is refused for its age.
    public let goodUntil: Instant
    /// The app's client id at the provider, which is the audience of the token.
    public let clientID: String
    /// The terms of later checks with the provider; nil if it is not asked.
    public var recheck: RecheckTerms?

    /// Creates the result of a verified token.
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

extension ExternalIdentity {
    /// The authentication methods of a session. Words of the provider that only this server gives a meaning are left out, and those
    /// of a passkey, unless the provider's word for two factors counts.
    func sessionMethods(at now: Instant) -> [String] {
        let methods = authenticationMethods.withoutMarks.filter { $0 != "mfa" }
        return isMultiFactor
            ? methods + [SecondFactorMark.multiFactor.word(at: now)]
            : methods.filter { !AuthenticationContext.passkeyMethods.contains($0) }
    }
}

/// Verifies ID tokens. The domain needs this protocol, because the providers' keys come over the network.
public protocol IdentityVerifier: ProviderRedirects {
    /// Verifies a token, except whether it was used before. Throws `identityRefused` or `identityProviderUnavailable`.
    func verify(_ token: IdentityToken) async throws(ServiceError) -> ExternalIdentity
    /// The names of the accepted providers in the configuration.
    var providerNames: Set<String> { get }
}

/// The reason for which an ID token is refused. The raw values are on the wire, in the log and in metrics.
public enum IdentityRefusal: String, CaseIterable, Sendable {
    /// The token is no signed JWT with an unambiguous reading, or it brings its own key.
    case malformed
    /// No provider of the configuration has this name or issuer.
    case unknownProvider = "unknown_provider"
    /// The provider may not sign with this algorithm.
    case algorithm
    /// The provider does not publish this key.
    case unknownKey = "unknown_key"
    /// The signature does not match the provider's key.
    case signature
    /// The issuer is another one than the provider's.
    case issuer
    /// The audience is another app.
    case audience
    /// `exp` has passed.
    case expired
    /// The token was issued too long ago.
    case tooOld = "too_old"
    /// `nbf` or `iat` lies in the future.
    case notYet = "not_yet"
    /// The nonce is missing, or is another one.
    case nonce
    /// The subject is missing or invalid.
    case subject
    /// The token was used before.
    case replayed
    /// The identity is not one of the session's user. For tokens that prove a presence.
    case anotherUser = "another_user"
    /// The token does not say when the user authenticated. For tokens that prove a presence.
    case noAuthenticationTime = "no_auth_time"
    /// The user authenticated before the server asked for it. For logins by redirect.
    case providerDidNotAsk = "provider_did_not_ask"
    /// The provider has answered the browser with an error, as it does when the user has declined. For logins by redirect.
    case declined
    /// The provider does not exchange the code for tokens. For logins by redirect.
    case codeRefused = "code"
}
