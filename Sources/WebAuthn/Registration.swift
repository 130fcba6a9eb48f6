internal import Cryptography
public import JSON

/// A new credential, as the client sends it: `PublicKeyCredential.toJSON()` with an attestation response (section 5.1).
public struct RegistrationResponse: Sendable {
    /// The credential ID.
    public let credentialID: [UInt8]
    /// The client data.
    public let clientData: ClientData
    /// The attestation object.
    public let attestationObject: [UInt8]
    /// How clients reach the authenticator; only the words of the specification are kept, each once.
    public let transports: [String]

    /// Reads the members of the JSON object. Members that are not needed are ignored.
    public init(_ credential: [String: JSONValue]) throws(WebAuthnError) {
        credentialID = try ResponseMembers.credentialID(credential)
        let response = try ResponseMembers(credential)
        clientData = try ClientData(try response.bytes("clientDataJSON", max: ClientData.lengthMax))
        attestationObject = try response.bytes("attestationObject", max: CBOR.lengthMax)
        transports = response.transports
    }
}

/// What a server keeps of a credential that it has accepted.
public struct NewCredential: Hashable, Sendable {
    /// The credential ID, 1 to 1023 bytes.
    public let id: [UInt8]
    /// The public key.
    public let publicKey: COSEKey
    /// The signature counter.
    public let signCount: UInt32
    /// Whether the credential can be backed up.
    public let isBackupEligible: Bool
    /// Whether the credential is backed up.
    public let isBackedUp: Bool
    /// Whether the authenticator verified the user.
    public let isUserVerified: Bool
    /// The model of the authenticator, 16 bytes; nil if it does not say.
    public let aaguid: [UInt8]?
    /// How clients reach the authenticator.
    public let transports: [String]
}

extension RelyingParty {
    /// Checks a registration (section 7.1) for the challenge that was given out. The caller sees to it that no user has the
    /// credential yet (step 26).
    public func register(
        _ response: RegistrationResponse, challenge: [UInt8], algorithms: [COSEAlgorithm] = COSEAlgorithm.offered,
        requiresUserVerification: Bool = true
    ) throws(WebAuthnError) -> NewCredential {
        try check(response.clientData, .registration, challenge: challenge)
        let data = try AuthenticatorData(AttestationObject(response.attestationObject).authenticatorData)
        try check(data, requiresUserVerification: requiresUserVerification)
        guard let credential = data.credential else { throw .malformedAuthenticatorData }
        guard credential.id == response.credentialID else { throw .credentialIDMismatch }
        guard algorithms.contains(credential.publicKey.algorithm) else { throw .unsupportedAlgorithm }
        return NewCredential(
            id: credential.id, publicKey: credential.publicKey, signCount: data.signCount,
            isBackupEligible: data.flags.contains(.backupEligible), isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified),
            aaguid: credential.aaguid.allSatisfy { $0 == 0 } ? nil : credential.aaguid,
            transports: response.transports)
    }
}

/// Reads the members that both responses have.
struct ResponseMembers {
    private static let transportWords = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"]
    private let members: [String: JSONValue]

    init(_ credential: [String: JSONValue]) throws(WebAuthnError) {
        guard case .object(let members)? = credential["response"] else { throw .malformedResponse }
        self.members = members
    }

    /// The credential ID, which `id` and `rawId` both name.
    static func credentialID(_ credential: [String: JSONValue]) throws(WebAuthnError) -> [UInt8] {
        guard credential["type"]?.string == "public-key", let text = credential["id"]?.string,
            let id = Base64URL.decode(text), !id.isEmpty
        else { throw .malformedResponse }
        guard id.count <= AuthenticatorData.credentialIDMax else { throw .tooLong }
        guard credential["rawId"]?.string == text else { throw .credentialIDMismatch }
        return id
    }

    func bytes(_ name: String, max: Int) throws(WebAuthnError) -> [UInt8] {
        guard let bytes = members[name]?.string.flatMap({ Base64URL.decode($0) }) else { throw .malformedResponse }
        guard bytes.count <= max else { throw .tooLong }
        return bytes
    }

    func optionalBytes(_ name: String, max: Int) throws(WebAuthnError) -> [UInt8]? {
        switch members[name] {
        case nil, .null: nil
        default: try bytes(name, max: max)
        }
    }

    var transports: [String] {
        let words = (members["transports"]?.elements ?? []).compactMap(\.string)
        return Self.transportWords.filter(words.contains)
    }
}
