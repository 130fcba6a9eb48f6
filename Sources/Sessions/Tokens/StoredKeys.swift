/// A signing key as the store keeps it, with the private key encrypted under the root key.
public struct StoredSigningKey: Hashable, Sendable {
    /// What a key does at a time.
    public enum State: String, CaseIterable, Sendable {
        case signing
        /// It is published, and signs later.
        case next
        /// It signs no more, and is published while its tokens are valid.
        case retired
    }

    /// The `kid`: the key's JWK thumbprint (RFC 7638).
    public var id: String
    /// `ES256`, `EdDSA` or `RS256`.
    public var algorithm: String
    /// The private key as PKCS #8, sealed with AES-256-GCM under a key derived from the root key, bound to `id`.
    public var sealedPrivateKey: [UInt8]
    /// The time at which it was made and published.
    public var createdAt: Instant
    /// The time from which it signs: one day after its publication, so that every verifier has it.
    public var activeFrom: Instant
    /// The time until which it is published: the expiry of the last token that it can have signed; nil while it signs.
    public var retiredAt: Instant?

    /// Creates a key from its stored values.
    public init(
        id: String, algorithm: String, sealedPrivateKey: [UInt8], createdAt: Instant, activeFrom: Instant,
        retiredAt: Instant? = nil
    ) {
        self.id = id
        self.algorithm = algorithm
        self.sealedPrivateKey = sealedPrivateKey
        self.createdAt = createdAt
        self.activeFrom = activeFrom
        self.retiredAt = retiredAt
    }
}

/// An admin key. The store keeps only a hash. A fast hash suffices, because the key is random.
public struct AdminKey: Hashable, Sendable, Identifiable {
    /// The permissions of a key.
    public enum Scope: String, CaseIterable, Sendable {
        /// The feed of revocations alone, for resource servers.
        case feed
        /// Refusals of mailboxes alone, for a relay that reports them.
        case mail
        /// Reading all that is not secret.
        case read
        /// Sign-up: making users, changing their profiles, invitations, links for a new password.
        case users
        /// Support: ending sessions, disabling and enabling logins, removing locks.
        case support
        /// All calls.
        case owner

        /// Returns true if a key with this scope may do what `other` permits. `users` stands beside the others, because a
        /// sign-up backend must not read what support reads.
        public func includes(_ other: Scope) -> Bool {
            switch self {
            case .feed, .mail, .users: other == self
            case .read: other == .feed || other == .read
            case .support: ![.owner, .users, .mail].contains(other)
            case .owner: true
            }
        }
    }

    /// A short random id, safe to log.
    public var id: String
    /// The purpose, as named by its creator.
    public var name: String
    /// SHA-256 of the key.
    public var hash: [UInt8]
    /// The time of its creation.
    public var createdAt: Instant
    /// The permissions.
    public var scope: Scope
    /// The first instant at which it is refused; nil: never.
    public var expiresAt: Instant?
    /// The time of its last use, with a precision of one hour; nil before the first.
    public var lastUsedAt: Instant?

    /// Creates an admin key from its stored values.
    public init(
        id: String, name: String, hash: [UInt8], createdAt: Instant, scope: Scope = .owner, expiresAt: Instant? = nil,
        lastUsedAt: Instant? = nil
    ) {
        self.id = id
        self.name = name
        self.hash = hash
        self.createdAt = createdAt
        self.scope = scope
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
    }
}
