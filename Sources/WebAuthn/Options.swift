internal import Cryptography
public import JSON

extension RelyingParty {
    /// How long a client may take for a ceremony.
    public static let timeout = Duration.seconds(300)

    /// The argument of `PublicKeyCredential.parseCreationOptionsFromJSON` (section 5.1.8) for a discoverable credential that
    /// verifies its user.
    ///
    /// - Parameters:
    ///   - userHandle: what the authenticator keeps and returns of the user, 1 to 64 bytes, of no meaning to others.
    ///   - excluding: the credentials of the user, because an authenticator makes no second one beside one of these.
    public func creationOptions(
        challenge: [UInt8], userHandle: [UInt8], userName: String, displayName: String,
        excluding credentials: [(id: [UInt8], transports: [String])]
    ) -> JSONValue {
        .object([
            "rp": .object(["id": .string(id), "name": .string(name)]),
            "user": .object([
                "id": .string(Base64URL.encode(userHandle)), "name": .string(userName),
                "displayName": .string(displayName),
            ]),
            "challenge": .string(Base64URL.encode(challenge)),
            "pubKeyCredParams": .array(
                COSEAlgorithm.offered.map { .object(["type": .string("public-key"), "alg": .integer($0.rawValue)]) }),
            "timeout": .integer(Self.timeout.components.seconds * 1000),
            "excludeCredentials": .array(credentials.map(Self.descriptor)),
            "authenticatorSelection": .object([
                "residentKey": .string("required"), "requireResidentKey": .bool(true),
                "userVerification": .string("required"),
            ]),
            "attestation": .string("none"),
            "extensions": .object(["credProps": .bool(true)]),
        ])
    }

    /// The argument of `PublicKeyCredential.parseRequestOptionsFromJSON` (section 5.1.9).
    ///
    /// - Parameter allowing: the credentials that may sign; none: any discoverable one of this relying party.
    public func requestOptions(
        challenge: [UInt8], allowing credentials: [(id: [UInt8], transports: [String])] = []
    ) -> JSONValue {
        .object([
            "rpId": .string(id),
            "challenge": .string(Base64URL.encode(challenge)),
            "timeout": .integer(Self.timeout.components.seconds * 1000),
            "allowCredentials": .array(credentials.map(Self.descriptor)),
            "userVerification": .string("required"),
        ])
    }

    private static func descriptor(of credential: (id: [UInt8], transports: [String])) -> JSONValue {
        .object([
            "type": .string("public-key"), "id": .string(Base64URL.encode(credential.id)),
            "transports": .array(credential.transports.map { .string($0) }),
        ])
    }
}
