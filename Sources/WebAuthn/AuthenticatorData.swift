/// What the authenticator says and signs (section 6.1). Nothing is left over behind what the flags announce.
public struct AuthenticatorData: Sendable {
    /// The flags (section 6.1). The two reserved bits are ignored.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The byte.
        public let rawValue: UInt8

        /// Creates flags of the byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// UP: a user was present.
        public static let userPresent = Flags(rawValue: 0x01)
        /// UV: the authenticator verified the user, by a PIN or biometry.
        public static let userVerified = Flags(rawValue: 0x04)
        /// BE: the credential can be backed up, so that other devices get it.
        public static let backupEligible = Flags(rawValue: 0x08)
        /// BS: the credential is backed up.
        public static let backedUp = Flags(rawValue: 0x10)
        /// AT: a new credential follows.
        public static let attestedCredential = Flags(rawValue: 0x40)
        /// ED: extension outputs follow.
        public static let extensions = Flags(rawValue: 0x80)
    }

    /// A credential that was just made (section 6.5.1).
    public struct AttestedCredential: Hashable, Sendable {
        /// The model of the authenticator, 16 bytes; zeros if it does not say.
        public let aaguid: [UInt8]
        /// The credential ID, 1 to 1023 bytes.
        public let id: [UInt8]
        /// The public key.
        public let publicKey: COSEKey
    }

    /// The longest credential ID (section 4).
    public static let credentialIDMax = 1023

    /// SHA-256 of the RP ID, 32 bytes.
    public let rpIDHash: [UInt8]
    /// The flags.
    public let flags: Flags
    /// The signature counter; 0 if the authenticator has none.
    public let signCount: UInt32
    /// The new credential, if the flags announce one.
    public let credential: AttestedCredential?

    /// Reads authenticator data.
    public init(_ bytes: [UInt8]) throws(WebAuthnError) {
        guard bytes.count >= 37 else { throw .malformedAuthenticatorData }
        rpIDHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var position = 37
        credential =
            flags.contains(.attestedCredential) ? try Self.credential(bytes, at: &position) : nil
        if flags.contains(.extensions) {
            let (outputs, end) = try CBOR.decodePrefix(bytes[position...])
            guard case .map = outputs else { throw .malformedAuthenticatorData }
            position = end
        }
        guard position == bytes.count else { throw .malformedAuthenticatorData }
    }

    private static func credential(
        _ bytes: [UInt8], at position: inout Int
    ) throws(WebAuthnError) -> AttestedCredential {
        guard bytes.count >= position + 18 else { throw .malformedAuthenticatorData }
        let aaguid = Array(bytes[position..<position + 16])
        let count = Int(bytes[position + 16]) << 8 | Int(bytes[position + 17])
        let start = position + 18
        guard (1...credentialIDMax).contains(count), bytes.count >= start + count else {
            throw .malformedAuthenticatorData
        }
        let (key, end) = try COSEKey.prefix(of: bytes[(start + count)...])
        position = end
        return AttestedCredential(aaguid: aaguid, id: Array(bytes[start..<start + count]), publicKey: key)
    }
}
