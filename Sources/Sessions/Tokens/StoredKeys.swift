/// A signing key as the store keeps it: the private part encrypted with the root key.
public struct StoredSigningKey: Hashable, Sendable {
    /// The key's RFC 7638 thumbprint: its `kid`.
    public var id: String
    /// `ES256` or `EdDSA`.
    public var algorithm: String
    /// PKCS #8, sealed with AES-256-GCM under a key derived from the root key, bound to `id`.
    public var sealedPrivateKey: [UInt8]
    /// When it was made and published.
    public var createdAt: Instant
    /// From when it signs: a day after it was published, so that every verifier has it.
    public var activeFrom: Instant
    /// Until when it stays published: when the last token that it can have signed has ended; nil while it signs.
    public var retiredAt: Instant?

    /// A key as it stands in the store.
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

/// A key that opens the admin calls. Only its hash is kept: the key is random, so a fast hash is enough.
public struct AdminKey: Hashable, Sendable, Identifiable {
    /// What a key may do. Each may do what the ones before may.
    public enum Scope: String, CaseIterable, Comparable, Sendable {
        /// Follow the feed of revocations, and nothing else: for resource servers.
        case feed
        /// Look at everything that is no secret.
        case read
        /// Help people: end sessions, switch logins off and on, unlock.
        case support
        /// Everything.
        case owner

        /// Whether it may do less.
        public static func < (one: Scope, other: Scope) -> Bool { one.rank < other.rank }

        private var rank: Int {
            switch self {
            case .feed: 0
            case .read: 1
            case .support: 2
            case .owner: 3
            }
        }
    }

    /// A short random name, safe to log.
    public var id: String
    /// What it is for.
    public var name: String
    /// SHA-256 of the key.
    public var hash: [UInt8]
    /// When it was made.
    public var createdAt: Instant
    /// What it may do.
    public var scope: Scope
    /// The first instant at which it opens nothing; nil: never.
    public var expiresAt: Instant?
    /// When it was last used, to the hour; nil: not yet.
    public var lastUsedAt: Instant?

    /// An admin key as it stands in the store.
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
