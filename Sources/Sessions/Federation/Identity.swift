/// A user, as an identity provider knows them.
public struct Identity: Hashable, Sendable {
    /// What names an identity: the subject is unique within its provider, and never given to somebody else
    /// (OpenID Connect Core section 2).
    public struct Key: Hashable, Sendable {
        /// The provider, by its name in the configuration.
        public let provider: String
        /// The `sub` of its tokens, compared byte by byte.
        public let subject: String

        /// Nil when a part is none: a provider's name has 1 to 64 lower-case letters, digits and hyphens, a subject 1 to 255
        /// printable ASCII characters.
        public init?(provider: String, subject: String) {
            guard Self.isValid(provider: provider), (1...255).contains(subject.utf8.count),
                subject.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { return nil }
            self.provider = provider
            self.subject = subject
        }

        /// Whether a provider can have that name.
        public static func isValid(provider: String) -> Bool {
            (1...64).contains(provider.utf8.count)
                && provider.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                }
        }
    }

    /// Its name.
    public let key: Key
    /// Whose it is.
    public let userID: Identifier<User>
    /// Since when.
    public let linkedAt: Instant

    /// The identity `key` of a user.
    public init(_ key: Key, userID: Identifier<User>, linkedAt: Instant) {
        self.key = key
        self.userID = userID
        self.linkedAt = linkedAt
    }
}

/// An identity that is to be added, in one transaction.
public struct IdentityInsertion: Sendable {
    /// The identity.
    public let identity: Identity
    /// What the audit trail gets if it is added.
    public let events: [AuditEvent]

    /// Adds `identity`.
    public init(_ identity: Identity, events: [AuditEvent]) {
        self.identity = identity
        self.events = events
    }

    /// What came of it.
    public enum Outcome: Hashable, Sendable {
        /// It was added.
        case inserted
        /// It is somebody's already; nothing was written.
        case taken(by: Identifier<User>)
        /// The user is not there; nothing was written.
        case unknownUser
    }
}
