/// An authenticator app of a user (RFC 6238).
public struct TOTPFactor: Hashable, Sendable, Identifiable {
    /// The id.
    public let id: Identifier<TOTPFactor>
    /// The user.
    public let userID: Identifier<User>
    /// The name that the user has given.
    public var name: String
    /// The seed, encrypted by a root key.
    public var sealedSeed: [UInt8]
    /// The hash function of the HMAC: `SHA1`, `SHA256` or `SHA512`.
    public let algorithm: String
    /// The number of digits of a code.
    public let digits: Int
    /// The seconds of a time step.
    public let period: Int
    /// The newest time step of which a code was accepted.
    public var lastStep: Int64
    /// The time at which the user began to add it.
    public let createdAt: Instant
    /// The time at which the user has shown a code; nil: not yet.
    public var confirmedAt: Instant?
    /// The time of the last login by it.
    public var lastUsedAt: Instant?

    /// A factor with the values of a row.
    public init(
        id: Identifier<TOTPFactor>, userID: Identifier<User>, name: String, sealedSeed: [UInt8],
        algorithm: String = "SHA1", digits: Int = 6, period: Int = 30, lastStep: Int64 = 0, createdAt: Instant,
        confirmedAt: Instant? = nil, lastUsedAt: Instant? = nil
    ) {
        (self.id, self.userID, self.name, self.sealedSeed) = (id, userID, name, sealedSeed)
        (self.algorithm, self.digits, self.period, self.lastStep) = (algorithm, digits, period, lastStep)
        (self.createdAt, self.confirmedAt, self.lastUsedAt) = (createdAt, confirmedAt, lastUsedAt)
    }
}

/// A one-time code for a user without the authenticator.
public struct RecoveryCode: Hashable, Sendable {
    /// The user.
    public let userID: Identifier<User>
    /// SHA-256 of the code.
    public let hash: [UInt8]
    /// The time of its use; nil: it is unused.
    public var usedAt: Instant?

    /// A code with the values of a row.
    public init(userID: Identifier<User>, hash: [UInt8], usedAt: Instant? = nil) {
        (self.userID, self.hash, self.usedAt) = (userID, hash, usedAt)
    }
}

/// When a login asks for a second factor. The strictest of settings and client holds.
public enum SecondFactorPolicy: String, CaseIterable, Comparable, Sendable {
    /// Never.
    case off
    /// If the user has one.
    case ifEnrolled = "if_enrolled"
    /// Always; a user without one adds it first.
    case requiredAtLogin = "required_at_login"
    /// Always, and sessions that have begun without one ask for it at the next refresh.
    case required

    /// Orders by strictness.
    public static func < (left: Self, right: Self) -> Bool { left.strictness < right.strictness }

    private var strictness: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
