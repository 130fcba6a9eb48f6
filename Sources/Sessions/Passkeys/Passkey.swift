public import WebAuthn

/// A passkey of a user: a discoverable WebAuthn credential that verifies its user by a PIN or biometry.
public struct Passkey: Hashable, Sendable {
    /// The credential ID, 1 to 1023 bytes.
    public let id: [UInt8]
    /// The user.
    public let userID: Identifier<User>
    /// The relying party that it was made for. A passkey of another one than the server's is kept and opens nothing.
    public let rpID: String
    /// The public key.
    public let publicKey: COSEKey
    /// The signature counter of the last ceremony; 0 if the authenticator has none.
    public var signCount: UInt32
    /// Whether the passkey can be backed up, so that other devices get it.
    public var isBackupEligible: Bool
    /// Whether the passkey is backed up.
    public var isBackedUp: Bool
    /// Whether the authenticator verified the user in the last ceremony.
    public var isUserVerified: Bool
    /// How clients reach the authenticator, such as `internal` and `hybrid`.
    public let transports: [String]
    /// The model of the authenticator, 16 bytes; nil if it does not say.
    public let aaguid: [UInt8]?
    /// The name that the user sees in lists.
    public var name: String
    /// The time of the registration.
    public let createdAt: Instant
    /// The time of the last login; nil before the first one.
    public var lastUsedAt: Instant?

    /// A passkey.
    public init(
        id: [UInt8], userID: Identifier<User>, rpID: String, publicKey: COSEKey, signCount: UInt32,
        isBackupEligible: Bool, isBackedUp: Bool, isUserVerified: Bool, transports: [String], aaguid: [UInt8]?,
        name: String, createdAt: Instant, lastUsedAt: Instant? = nil
    ) {
        self.id = id
        self.userID = userID
        self.rpID = rpID
        self.publicKey = publicKey
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
        self.isUserVerified = isUserVerified
        self.transports = transports
        self.aaguid = aaguid
        self.name = name
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
    }

    /// A passkey that a registration has made.
    init(_ new: NewCredential, of userID: Identifier<User>, rpID: String, name: String, at now: Instant) {
        self.init(
            id: new.id, userID: userID, rpID: rpID, publicKey: new.publicKey, signCount: new.signCount,
            isBackupEligible: new.isBackupEligible, isBackedUp: new.isBackedUp, isUserVerified: new.isUserVerified,
            transports: new.transports, aaguid: new.aaguid, name: name, createdAt: now)
    }

    /// The passkey as a ceremony compares it.
    var credential: StoredCredential { StoredCredential(id: id, userHandle: userID.bytes, publicKey: publicKey) }

    /// Takes over what an assertion says. The counter never decreases, so that a clone shows again. Returns what is odd.
    mutating func note(_ outcome: AssertionOutcome, at now: Instant) -> [AssertionOutcome.Oddity] {
        let oddities = outcome.oddities(afterCount: signCount, isBackupEligible: isBackupEligible)
        signCount = max(signCount, outcome.signCount)
        isBackupEligible = outcome.isBackupEligible
        isBackedUp = outcome.isBackedUp
        isUserVerified = outcome.isUserVerified
        lastUsedAt = now
        return oddities
    }
}

/// What the operator has decided about passkeys.
public struct PasskeyPolicy: Hashable, Sendable {
    /// The relying party.
    public let relyingParty: RelyingParty
    /// How many passkeys a user can have.
    public let countMax: Int

    /// The policy for the relying party `rpID`. Without origins, the only one is `https://` with the RP ID.
    public init(rpID: String, origins: [String] = [], countMax: Int = Self.defaultCountMax) {
        relyingParty = RelyingParty(id: rpID, name: rpID, origins: origins.isEmpty ? ["https://\(rpID)"] : origins)
        self.countMax = countMax
    }

    /// How many passkeys a user can have by default.
    public static let defaultCountMax = 20

    /// Whether a client can have that origin: a web origin with https, or with http on this machine; an Android app's
    /// `android:apk-key-hash:` with 43 characters of base64url; or an Apple app's id, the team's ten characters, a dot and the
    /// bundle id.
    public static func isOrigin(_ text: String) -> Bool {
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return false
        }
        func isWord(_ word: some StringProtocol) -> Bool {
            !word.isEmpty && word.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
        for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
            let parts = text.dropFirst(scheme.count).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let isHost = parts[0].split(separator: ".", omittingEmptySubsequences: false).allSatisfy(isWord)
            // A browser writes no capital letter, and makes passkeys without TLS on this machine alone.
            return isHost && text == text.lowercased() && (scheme == "https://" || parts[0] == "localhost")
                && (parts.count == 1 || UInt16(parts[1]).map { $0 > 0 } == true)
        }
        let android = "android:apk-key-hash:"
        if text.hasPrefix(android) {
            let hash = text.dropFirst(android.count)
            return hash.utf8.count == 43 && hash.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F }
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count >= 3 && parts[0].utf8.count == 10 && parts.allSatisfy(isWord)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
