public import Cryptography
public import JSON

/// An authenticator with one credential, and the client between it and the relying party. Every member can be changed before
/// the next ceremony, so that a test says what is wrong, and everything else is right and signed.
public struct SoftAuthenticator: Sendable {
    /// UP, UV, BE and BS.
    public static let synced: UInt8 = 0x1D
    /// UP and UV.
    public static let deviceBound: UInt8 = 0x05

    /// The credential's key.
    public var key: SigningKey
    /// The credential ID.
    public var credentialID: [UInt8]
    /// The user handle.
    public var userHandle: [UInt8]?
    /// The RP ID in the authenticator data.
    public var rpID: String
    /// The flags without AT and ED.
    public var flags: UInt8 = synced
    /// The signature counter.
    public var signCount: UInt32 = 0
    /// The model.
    public var aaguid = [UInt8](repeating: 7, count: 16)
    /// The origin in the client data.
    public var origin: String
    /// More members of the client data, as JSON, each with a comma in front.
    public var moreClientData = #","crossOrigin":false"#
    /// The type in the client data; nil: the right one.
    public var type: String?
    /// The attestation format and its statement; a packed one of the credential itself is signed rightly.
    public var format = "none"
    /// The encoded statement; nil: an empty map.
    public var statement: [UInt8]?
    /// The COSE key; nil: that of `key`.
    public var publicKey: [UInt8]?
    /// What follows the credential in the authenticator data, behind the flag ED.
    public var extensions: [UInt8]?
    /// Bytes behind the end of the authenticator data.
    public var trailer: [UInt8] = []
    /// Edits the signature after it is made.
    public var editSignature: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    /// An authenticator.
    public init(
        _ algorithm: SignatureAlgorithm = .es256, rpID: String = "example.org",
        origin: String = "https://example.org", credentialID: [UInt8] = Array(1...16), userHandle: [UInt8]? = nil
    ) {
        key = SigningKey.generate(algorithm)
        self.rpID = rpID
        self.origin = origin
        self.credentialID = credentialID
        self.userHandle = userHandle
    }

    /// The key as COSE has it.
    public static func coseKey(_ key: VerificationKey) -> [UInt8] {
        let number = EncodedCBOR.integer
        switch key.coordinates {
        case .p256(let x, let y):
            return EncodedCBOR.map([
                (number(1), number(2)), (number(3), number(-7)), (number(-1), number(1)),
                (number(-2), EncodedCBOR.bytes(x)), (number(-3), EncodedCBOR.bytes(y)),
            ])
        case .ed25519(let x):
            return EncodedCBOR.map([
                (number(1), number(1)), (number(3), number(-8)), (number(-1), number(6)),
                (number(-2), EncodedCBOR.bytes(x)),
            ])
        default: return []
        }
    }

    /// The client data of a ceremony.
    public func clientData(_ type: String, _ challenge: [UInt8]) -> [UInt8] {
        Array(
            #"{"type":"\#(self.type ?? type)","challenge":"\#(Base64URL.encode(challenge))","origin":"\#(origin)"\#(moreClientData)}"#
                .utf8)
    }

    /// The authenticator data, with the credential if `isNew`.
    public func authenticatorData(isNew: Bool) -> [UInt8] {
        let more: UInt8 = (isNew ? 0x40 : 0) | (extensions == nil ? 0 : 0x80)
        let count = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: signCount >> UInt32($0)) }
        let length = [UInt8(credentialID.count >> 8), UInt8(credentialID.count & 0xFF)]
        let credential =
            isNew ? aaguid + length + credentialID + (publicKey ?? Self.coseKey(key.publicKey)) : []
        return sha256(Array(rpID.utf8)) + [flags | more] + count + credential + (extensions ?? []) + trailer
    }

    /// A registration as JSON.
    public func register(_ challenge: [UInt8]) -> [String: JSONValue] {
        let object = EncodedCBOR.map([
            (EncodedCBOR.text("fmt"), EncodedCBOR.text(format)),
            (EncodedCBOR.text("attStmt"), statement ?? EncodedCBOR.map([])),
            (EncodedCBOR.text("authData"), EncodedCBOR.bytes(authenticatorData(isNew: true))),
        ])
        return credential([
            "clientDataJSON": .string(Base64URL.encode(clientData("webauthn.create", challenge))),
            "attestationObject": .string(Base64URL.encode(object)),
            "transports": .array([.string("internal"), .string("hybrid"), .string("telepathy")]),
        ])
    }

    /// An assertion as JSON.
    public func assert(_ challenge: [UInt8]) -> [String: JSONValue] {
        let (data, clientData) = (authenticatorData(isNew: false), clientData("webauthn.get", challenge))
        let raw = key.sign(data + sha256(clientData))
        let signature = editSignature(key.algorithm == .es256 ? Self.der(raw) : raw)
        return credential([
            "clientDataJSON": .string(Base64URL.encode(clientData)),
            "authenticatorData": .string(Base64URL.encode(data)),
            "signature": .string(Base64URL.encode(signature)),
            "userHandle": userHandle.map { .string(Base64URL.encode($0)) } ?? .null,
        ])
    }

    private func credential(_ response: [String: JSONValue]) -> [String: JSONValue] {
        let id = JSONValue.string(Base64URL.encode(credentialID))
        return [
            "id": id, "rawId": id, "type": .string("public-key"), "response": .object(response),
            "authenticatorAttachment": .string("platform"), "clientExtensionResults": .object([:]),
        ]
    }

    /// The DER form of r and s.
    public static func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let significant = bytes.drop { $0 == 0 }
            let positive = (significant.first ?? 0) >= 0x80 ? [0] + significant : Array(significant)
            return [2, UInt8(positive.count)] + positive
        }
        let numbers = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }
}
