internal import Cryptography

/// The PIN of an app, by which its user approves logins with a phone. It proves that the user knows it beside the key of the
/// device, and no presence. It belongs to the session of the phone, and ends with it.
public struct PIN: Hashable, Sendable {
    /// What a device sends for a PIN: a MAC of it by a secret that does not leave the keyring of the device (RFC 2104).
    public struct MAC: Hashable, Sendable {
        /// The number of bytes of a MAC by HMAC-SHA-256.
        public static let byteCount = 32

        /// The SHA-256 of the MAC.
        let hash: [UInt8]

        /// The MAC of those bytes; nil unless there are 32.
        public init?(_ bytes: [UInt8]) {
            guard bytes.count == Self.byteCount else { return nil }
            hash = sha256(bytes)
        }
    }

    /// The reason of the event of a wrong PIN.
    public static let wrongReason = "wrong_pin"
    /// How many wrong PINs in a row lock the PIN.
    public static let wrongMax = 3

    /// The session of the phone.
    public let sessionID: Identifier<Session>
    /// Its user.
    public let userID: Identifier<User>
    /// The SHA-256 of the MAC.
    public var macHash: [UInt8]
    /// The SHA-256 of the MAC of the PIN by which this one was set; nil: it was set by another proof.
    public var replacedMACHash: [UInt8]?
    /// Wrong PINs since the last right factor, at all logins together.
    public var wrongCount: Int
    /// The time at which the first PIN of the session was set.
    public let createdAt: Instant
    /// The time at which this PIN was set.
    public var changedAt: Instant

    /// A PIN as it is stored.
    public init(
        sessionID: Identifier<Session>, userID: Identifier<User>, macHash: [UInt8], replacing replaced: [UInt8]? = nil,
        wrongCount: Int = 0, createdAt: Instant, changedAt: Instant
    ) {
        self.sessionID = sessionID
        self.userID = userID
        self.macHash = macHash
        replacedMACHash = replaced
        self.wrongCount = wrongCount
        self.createdAt = createdAt
        self.changedAt = changedAt
    }

    /// How many wrong PINs are left.
    public var attemptsLeft: Int { max(Self.wrongMax - wrongCount, 0) }

    /// Whether the PIN is accepted no more, until the user proves presence or sets it anew.
    public var isLocked: Bool { attemptsLeft == 0 }

    /// Why `mac` does not prove the PIN; nil: it does. A locked PIN is not compared.
    func refusal(of mac: MAC) -> PhoneLogin.Refusal? {
        if isLocked { return .pinLocked }
        if constantTimeEqual(mac.hash, macHash) { return nil }
        return attemptsLeft == 1 ? .pinLocked : .wrongPIN(attemptsLeft: attemptsLeft - 1)
    }

    /// Whether a change from `old` to `new` is the one by which this PIN was set, sent again after its answer was lost. Its sender
    /// has to know both PINs, so that nothing is learned by a guess.
    func isRepeated(byChangeFrom old: MAC, to new: MAC) -> Bool {
        guard let replacedMACHash, !isLocked else { return false }
        let isOld = constantTimeEqual(old.hash, replacedMACHash)
        return constantTimeEqual(new.hash, macHash) && isOld
    }
}

/// A change of the PIN of a session, inside a transaction.
public struct PINChange: Sendable {
    /// The session of the phone.
    public let record: SessionRecord
    /// The PIN; nil: there is none. A difference at the end is written.
    public var pin: PIN?
    /// The audit events of the same transaction.
    public var events: [AuditEvent] = []

    /// Counts a wrong PIN, and records it in the audit trail. The last one locks the PIN.
    mutating func countWrong(from origin: Origin, at now: Instant) {
        events += pin?.countWrong(in: record.session, from: origin, at: now) ?? []
    }
}

extension PIN {
    /// Counts a wrong PIN. Returns the events, one of which says if it has locked the PIN.
    mutating func countWrong(in session: Session, from origin: Origin, at now: Instant) -> [AuditEvent] {
        if isLocked { return [] }
        wrongCount += 1
        let failed = AuditEvent(.loginFailed, at: now, by: origin, session: session, reason: Self.wrongReason)
        return isLocked ? [failed, AuditEvent(.pinLocked, at: now, by: origin, session: session)] : [failed]
    }
}
