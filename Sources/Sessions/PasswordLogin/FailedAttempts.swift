internal import Cryptography

/// Failed attempts in a row, as counted by all nodes together.
public struct FailedAttempts: Hashable, Sendable {
    /// The number of failed attempts.
    public var count: Int
    /// The time of the last one.
    public var lastAt: Instant

    /// Creates a count.
    public init(count: Int, lastAt: Instant) {
        self.count = count
        self.lastAt = lastAt
    }
}

/// The subject of failed attempts that all nodes count together. An attempt counts only with a session's token or the id of a
/// device with a session of the user, so that strangers cannot fill the table.
public struct LockoutTarget: Hashable, Sendable {
    /// SHA-256 of the kind, the user and the id.
    public let digest: [UInt8]
    /// The user with the attacked password.
    public let userID: Identifier<User>

    private init(_ kind: String, _ id: String, _ userID: Identifier<User>) {
        digest = sha256(Array("\(kind)\0\(userID)\0\(id)".utf8))
        self.userID = userID
    }

    /// The passwords that accompany tokens of a session.
    public static func session(_ id: Identifier<Session>, of userID: Identifier<User>) -> Self {
        Self("session", id.description, userID)
    }

    /// The logins of a user from a device.
    public static func device(_ id: String, of userID: Identifier<User>) -> Self { Self("device", id, userID) }
}

/// A change of the count for one target, inside a transaction.
public struct FailedAttemptsChange: Sendable {
    /// The count; nil if there is none. A difference at the end is written.
    public var failedAttempts: FailedAttempts?
    /// The audit events to write in the same transaction.
    public var events: [AuditEvent] = []

    /// Creates a change of `failedAttempts`.
    public init(_ failedAttempts: FailedAttempts?) { self.failedAttempts = failedAttempts }
}
