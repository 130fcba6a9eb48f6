/// An identity of a user at an identity provider.
public struct Identity: Hashable, Sendable {
    /// The key of an identity. The provider never reassigns a subject to another user (OpenID Connect Core section 2).
    public struct Key: Hashable, Sendable {
        /// The provider's name in the configuration.
        public let provider: String
        /// The `sub` of the provider's tokens, compared byte by byte.
        public let subject: String

        /// Creates a key; nil if a part is invalid. A provider's name has 1 to 64 lower-case letters, digits and hyphens, a
        /// subject 1 to 255 printable ASCII characters.
        public init?(provider: String, subject: String) {
            guard Self.isValid(provider: provider), (1...255).contains(subject.utf8.count),
                subject.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { return nil }
            self.provider = provider
            self.subject = subject
        }

        /// Returns true if a provider can have that name.
        public static func isValid(provider: String) -> Bool {
            (1...64).contains(provider.utf8.count)
                && provider.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
                }
        }
    }

    /// The provider and subject.
    public let key: Key
    /// The user.
    public let userID: Identifier<User>
    /// The time of the link.
    public let linkedAt: Instant

    /// Creates the identity `key` of a user.
    public init(_ key: Key, userID: Identifier<User>, linkedAt: Instant) {
        self.key = key
        self.userID = userID
        self.linkedAt = linkedAt
    }
}

/// An identity to insert in one transaction.
public struct IdentityInsertion: Sendable {
    /// The identity.
    public let identity: Identity
    /// The audit events to write if the identity is inserted.
    public let events: [AuditEvent]

    /// Creates an insertion of `identity`.
    public init(_ identity: Identity, events: [AuditEvent]) {
        self.identity = identity
        self.events = events
    }

    /// The result of the insertion.
    public enum Outcome: Hashable, Sendable {
        /// The identity was inserted.
        case inserted
        /// The identity belongs to that user already; nothing was written.
        case taken(by: Identifier<User>)
        /// The user does not exist; nothing was written.
        case unknownUser
    }
}
