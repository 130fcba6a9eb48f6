internal import FoundationEssentials

/// The identity that a provider has confirmed, while the browser asks for the second factor. It has what the login of a user needs
/// that exists: a new user has no second factor.
struct CarriedIdentity: Codable, Hashable, Sendable {
    let provider: String
    let subject: String
    let linkingEmail: String?
    let methods: [String]
    let authenticatedAt: Int64?
    let hasAuthenticationTime: Bool
    let tokenID: String
    let goodUntil: Int64
    let clientID: String
    let deviceID: String

    init(_ identity: ExternalIdentity, in deviceID: String, until end: Instant) {
        (provider, subject) = (identity.key.provider, identity.key.subject)
        (linkingEmail, methods) = (identity.linkingEmail, identity.authenticationMethods)
        authenticatedAt = identity.authenticatedAt?.secondsSinceEpoch
        hasAuthenticationTime = identity.hasAuthenticationTime
        (tokenID, clientID, self.deviceID) = (identity.tokenID, identity.clientID, deviceID)
        goodUntil = min(identity.goodUntil, end).secondsSinceEpoch
    }

    /// The identity, good for as long as its ID token and the second step.
    var identity: ExternalIdentity? {
        guard let key = Identity.Key(provider: provider, subject: subject) else { return nil }
        var identity = ExternalIdentity(
            key, linkingEmail: linkingEmail,
            authenticationMethods: methods, tokenID: tokenID, goodUntil: Instant(secondsSinceEpoch: goodUntil),
            clientID: clientID)
        identity.authenticatedAt = authenticatedAt.map(Instant.init(secondsSinceEpoch:))
        identity.hasAuthenticationTime = hasAuthenticationTime
        return identity
    }
}
