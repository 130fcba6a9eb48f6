/// Why a call of the domain came to nothing. A closed set, so that the mapping to wire errors is one exhaustive switch.
/// The texts are constant or name what the caller sent; they never hold a secret, nor say which of several secret facts
/// was wrong.
public enum ServiceError: Error, Hashable, Sendable {
    /// The store could not answer. Nobody is logged out by this: try again.
    case store(StoreError)
    /// Too much waits to be done. Nobody is logged out by this: try again.
    case overloaded
    /// Too many tries. Nobody is logged out by this: try again after that long.
    case tooManyRequests(retryAfter: Duration)
    /// A refresh was refused.
    case refused(RefusalReason)
    /// The session goes on only after the user has shown to be there (RFC 9470). Nobody is logged out by this.
    case userAbsent(PresenceRequirement)
    /// Unknown user or wrong password: the same answer, equally slow.
    case invalidCredentials
    /// The password that came with a good token of a session is wrong; what would do. Nobody is logged out by this.
    case wrongPassword(PresenceRequirement)
    /// An ID token that is not taken, and why: nothing of it is secret from who holds it.
    case identityRefused(IdentityRefusal)
    /// The identity provider does not answer, and what is remembered of it does not suffice. Try again.
    case identityProviderUnavailable
    /// The right password, but logins are off.
    case loginRefused(RefusalReason)
    /// A rolling token that is not accepted (RFC 6750 section 3.1), and why, where the reason may be told.
    case invalidToken(RefusalReason?)
    /// The client asks for nothing without a proof of possession of a key (RFC 9449 section 5).
    case proofMissing
    /// The proof of possession was good, and cannot be used any more: it was used before, or so many others were that nobody can tell.
    case unproven(DPoPError)
    /// The client is unknown or failed to authenticate (RFC 6749 section 5.2).
    case invalidClient
    /// The client may not do this (RFC 6749 section 5.2).
    case unauthorizedClient
    /// The client may not go on with its sessions in this way any more (RFC 6749 section 5.2), and whether logging in again would
    /// help. The session is kept.
    case grantClosed(reauthenticate: Bool)
    /// The scope is malformed, unknown, or exceeds what was granted (RFC 6749 section 5.2).
    case invalidScope
    /// The resource is unknown, or not to be had by the client (RFC 8707 section 2).
    case invalidTarget
    /// A member of the request is missing or impossible.
    case invalid(member: String, detail: String)
    /// The named thing does not exist.
    case notFound(String)
    /// The request contradicts what is there.
    case conflict(code: String, detail: String)
}
