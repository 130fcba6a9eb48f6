internal import Cryptography

/// Wrong passwords in a row, as all nodes together have counted them.
public struct FailedAttempts: Hashable, Sendable {
    /// How many.
    public var count: Int
    /// When the last one came.
    public var lastAt: Instant

    /// So many wrong passwords.
    public init(count: Int, lastAt: Instant) {
        self.count = count
        self.lastAt = lastAt
    }
}

/// What all nodes count wrong passwords for together. Only who holds a session's token, or knows the id of a device on which the
/// user has a session, can have one counted: a stranger fills nothing.
public struct LockoutTarget: Hashable, Sendable {
    /// SHA-256 of what it is.
    public let digest: [UInt8]
    /// Whose password is guessed.
    public let userID: Identifier<User>

    private init(_ kind: String, _ id: String, _ userID: Identifier<User>) {
        digest = sha256(Array("\(kind)\0\(userID)\0\(id)".utf8))
        self.userID = userID
    }

    /// The passwords that come with tokens of a session.
    public static func session(_ id: Identifier<Session>, of userID: Identifier<User>) -> Self {
        Self("session", id.description, userID)
    }

    /// The logins of a user from a device.
    public static func device(_ id: String, of userID: Identifier<User>) -> Self { Self("device", id, userID) }
}

/// A change of what is counted for one target, inside a transaction: edit `failedAttempts`, record `events`.
public struct FailedAttemptsChange: Sendable {
    /// Nil: none. What differs at the end is written.
    public var failedAttempts: FailedAttempts?
    /// What the audit trail gets, in the same transaction.
    public var events: [AuditEvent] = []

    /// The change of `failedAttempts`.
    public init(_ failedAttempts: FailedAttempts?) { self.failedAttempts = failedAttempts }
}
