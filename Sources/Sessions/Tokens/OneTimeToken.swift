internal import Cryptography

/// A token that is accepted once, by any node: an ID token or an assertion; or one that is accepted no more, because its client
/// has revoked it. The store remembers it until it would be refused for its age. Only tokens that passed all other checks may be stored, so that strangers cannot fill the store.
public struct OneTimeToken: Hashable, Sendable {
    /// The kind of token. Tokens of different kinds never collide.
    public enum Kind: String, Sendable {
        /// Starts a session of the user that an identity provider has authenticated, or sets the user's switch for logins.
        case identityToken = "id_token"
        /// The challenge of a registration of a passkey, or of a login by one.
        case passkeyChallenge = "passkey_challenge"
        /// Authenticates a client (RFC 7523 section 2.2).
        case clientAssertion = "client_assertion"
        /// Resumes a session (RFC 7523 section 2.1).
        case deviceAssertion = "device_assertion"
        /// Answers a pushed authorization request (RFC 9126 section 7.3).
        case pushedRequest = "pushed_request"
        /// Does what a form of the account pages says, after the login that it needs.
        case pendingForm = "pending_form"
        /// Proves the user's presence.
        case presenceAssertion = "presence_assertion"
        /// Is an access token that a client got for itself and has revoked (RFC 7009).
        case clientToken = "client_token"
    }

    /// The number of bytes of a digest.
    public static let digestCount = 32

    /// SHA-256 of kind, owner and id.
    public let digest: [UInt8]
    /// The time from which the token is refused for its age. Another token may have its id from then on.
    public let goodUntil: Instant
    /// The time at which it is presented.
    public let at: Instant

    /// Creates the token `id` of `owner`, which must not contain NUL.
    public init(_ kind: Kind, of owner: String, id: String, goodUntil: Instant, at now: Instant) {
        digest = sha256(Array("\(kind.rawValue)\0\(owner)\0\(id)".utf8))
        self.goodUntil = goodUntil
        at = now
    }

    /// Creates a used token from its stored or exported values; `digest` has 32 bytes.
    public init(digest: [UInt8], goodUntil: Instant, at now: Instant) {
        (self.digest, self.goodUntil, at) = (digest, goodUntil, now)
    }
}
