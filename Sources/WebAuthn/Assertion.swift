internal import Cryptography
public import JSON

/// A signature by a credential, as the client sends it: `PublicKeyCredential.toJSON()` with an assertion response (section 5.1).
public struct AssertionResponse: Sendable {
    /// The longest signature: RSA with 8192 bits.
    static let signatureMax = 1024
    /// The longest user handle (section 5.4.3).
    static let userHandleMax = 64

    /// The credential ID.
    public let credentialID: [UInt8]
    /// The client data.
    public let clientData: ClientData
    /// The authenticator data.
    public let authenticatorData: [UInt8]
    /// The signature: DER for ECDSA (section 6.5.5).
    public let signature: [UInt8]
    /// The user handle that was given at the registration; nil if the authenticator does not keep it.
    public let userHandle: [UInt8]?

    /// Reads the members of the JSON object. Members that are not needed are ignored.
    public init(_ credential: [String: JSONValue]) throws(WebAuthnError) {
        credentialID = try ResponseMembers.credentialID(credential)
        let response = try ResponseMembers(credential)
        clientData = try ClientData(try response.bytes("clientDataJSON", max: ClientData.lengthMax))
        authenticatorData = try response.bytes("authenticatorData", max: CBOR.lengthMax)
        signature = try response.bytes("signature", max: Self.signatureMax)
        userHandle = try response.optionalBytes("userHandle", max: Self.userHandleMax)
    }
}

/// A credential as the server has kept it.
public struct StoredCredential: Sendable {
    /// The credential ID.
    public let id: [UInt8]
    /// The user handle of its owner.
    public let userHandle: [UInt8]
    /// The public key.
    public let publicKey: COSEKey

    /// A credential.
    public init(id: [UInt8], userHandle: [UInt8], publicKey: COSEKey) {
        self.id = id
        self.userHandle = userHandle
        self.publicKey = publicKey
    }
}

/// What an accepted assertion says; the server keeps it for the next one.
public struct AssertionOutcome: Hashable, Sendable {
    /// What is odd about an assertion that is accepted all the same.
    public enum Oddity: String, Hashable, Sendable, CaseIterable {
        /// The signature counter did not grow (section 6.1.1). The authenticator may have been cloned; more often, it counts
        /// badly. The specification calls it a signal and no proof, and a refusal would lock the user out.
        case counter
        /// The credential can be backed up now and could not before, or the other way round. Password managers do that when
        /// they import passkeys.
        case backup
    }

    /// The signature counter.
    public let signCount: UInt32
    /// Whether the credential can be backed up.
    public let isBackupEligible: Bool
    /// Whether the credential is backed up.
    public let isBackedUp: Bool
    /// Whether the authenticator verified the user.
    public let isUserVerified: Bool

    /// What is odd after a ceremony with that counter and that eligibility, in the order of the cases. The server asks when it
    /// writes, because another assertion may have come between.
    public func oddities(afterCount signCount: UInt32, isBackupEligible wasEligible: Bool) -> [Oddity] {
        let hasGrown = self.signCount > signCount || self.signCount == 0 && signCount == 0
        return (hasGrown ? [] : [.counter]) + (isBackupEligible == wasEligible ? [] : [.backup])
    }
}

extension RelyingParty {
    /// Checks an assertion (section 7.2) of `credential` for the challenge that was given out.
    ///
    /// - Parameter requiresUserHandle: whether the user was identified by the credential alone, so that the authenticator must
    ///   name its owner (step 6).
    public func authenticate(
        _ response: AssertionResponse, challenge: [UInt8], credential: StoredCredential,
        requiresUserVerification: Bool = true, requiresUserHandle: Bool = true
    ) throws(WebAuthnError) -> AssertionOutcome {
        guard response.credentialID == credential.id else { throw .credentialIDMismatch }
        try check(response.clientData, .assertion, challenge: challenge)
        let data = try AuthenticatorData(response.authenticatorData)
        try check(data, requiresUserVerification: requiresUserVerification)
        let signed = response.authenticatorData + response.clientData.hash
        guard credential.publicKey.key.isValidASN1Signature(response.signature, for: signed) else {
            throw .wrongSignature
        }
        // Last, so that no answer before it tells whether the server knows the credential.
        guard response.userHandle == credential.userHandle || response.userHandle == nil && !requiresUserHandle else {
            throw .wrongUser
        }
        return AssertionOutcome(
            signCount: data.signCount, isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp), isUserVerified: data.flags.contains(.userVerified))
    }
}
