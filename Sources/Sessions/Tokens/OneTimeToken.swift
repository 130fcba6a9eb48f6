internal import Cryptography

/// A token that is taken once, by whatever node: an ID token, or an assertion. The store remembers which were used, until they
/// would be refused for their age anyway. Let only what was checked otherwise be one, so that a stranger fills nothing.
public struct OneTimeToken: Hashable, Sendable {
    /// What it is; those of one kind are never taken for those of another.
    public enum Kind: String, Sendable {
        /// Starts a session of whom an identity provider has authenticated, or switches their logins.
        case identityToken = "id_token"
        /// Shows which client asks (RFC 7523 section 2.2).
        case clientAssertion = "client_assertion"
        /// Resumes a session (RFC 7523 section 2.1).
        case deviceAssertion = "device_assertion"
        /// Shows that the user is there.
        case presenceAssertion = "presence_assertion"
    }

    /// The number of bytes of a digest.
    public static let digestCount = 32

    /// SHA-256 of what it is.
    public let digest: [UInt8]
    /// From when it is refused for its age. Its name is free for another one then.
    public let goodUntil: Instant
    /// When it is presented.
    public let at: Instant

    /// What its owner, whose name holds no NUL, calls `id`.
    public init(_ kind: Kind, of owner: String, id: String, goodUntil: Instant, at now: Instant) {
        digest = sha256(Array("\(kind.rawValue)\0\(owner)\0\(id)".utf8))
        self.goodUntil = goodUntil
        at = now
    }

    /// One that was used, as it stands in a store, or comes from another one; `digest` has 32 bytes.
    public init(digest: [UInt8], goodUntil: Instant, at now: Instant) {
        (self.digest, self.goodUntil, at) = (digest, goodUntil, now)
    }
}
