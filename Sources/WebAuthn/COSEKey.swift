public import Cryptography

/// The signature algorithms of credentials, by their numbers in the registry of COSE (RFC 9053, RFC 8812).
public enum COSEAlgorithm: Int64, CaseIterable, Sendable {
    /// ECDSA on P-256 with SHA-256.
    case es256 = -7
    /// EdDSA; WebAuthn allows Ed25519 only (section 5.8.5).
    case eddsa = -8
    /// ECDSA on P-384 with SHA-384.
    case es384 = -35
    /// ECDSA on P-521 with SHA-512.
    case es512 = -36
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = -257

    /// The algorithms that registrations are offered, the preferred one first.
    public static let offered: [COSEAlgorithm] = [.es256, .eddsa, .rs256]

    /// The algorithm by its JOSE name.
    public var verification: VerificationAlgorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        case .es384: .es384
        case .es512: .es512
        case .rs256: .rs256
        }
    }
}

/// The public key of a credential, in the form in which the authenticator sends it (RFC 9052 section 7, RFC 9053 section 7.1
/// and 7.2, RFC 8230 section 4). Parameters beyond the required ones are ignored.
public struct COSEKey: Hashable, Sendable {
    /// The longest key that is decoded: an RSA key of 8192 bits has about 1050 bytes.
    public static let lengthMax = 2048

    /// The bytes of the key, as the authenticator sent them; what a server keeps.
    public let bytes: [UInt8]
    /// The algorithm by which the credential signs.
    public let algorithm: COSEAlgorithm
    /// The key itself, restricted to `algorithm`. A point of ECDSA is known to be on its curve. Of Ed25519 only the length is
    /// checked, as OpenSSL does: a weak key harms the account alone that registers it.
    public let key: VerificationKey

    /// Reads a key that takes up all of `bytes`.
    public init(_ bytes: [UInt8]) throws(WebAuthnError) {
        let (key, end) = try Self.prefix(of: bytes[...])
        guard end == bytes.endIndex else { throw .malformedKey }
        self = key
    }

    /// Reads the key with which `bytes` begins. Returns it with the index of the first byte after it.
    static func prefix(of bytes: ArraySlice<UInt8>) throws(WebAuthnError) -> (key: COSEKey, end: Int) {
        let (value, end) = try CBOR.decodePrefix(bytes)
        guard case .map(let members) = value, end - bytes.startIndex <= lengthMax else { throw .malformedKey }
        return (try COSEKey(members, bytes: Array(bytes[..<end])), end)
    }

    private init(_ members: [CBOR.Key: CBOR], bytes: [UInt8]) throws(WebAuthnError) {
        guard let number = members[.integer(3)]?.integer, let type = members[.integer(1)]?.integer else {
            throw .malformedKey
        }
        guard let algorithm = COSEAlgorithm(rawValue: number) else { throw .unsupportedAlgorithm }
        guard let coordinates = Self.coordinates(type: type, members, algorithm),
            let key = VerificationKey(coordinates)?.restricted(to: algorithm.verification)
        else { throw .malformedKey }
        self.bytes = bytes
        self.algorithm = algorithm
        self.key = key
    }

    /// The numbers of a key whose type and curve fit its algorithm (section 5.8.5).
    private static func coordinates(
        type: Int64, _ members: [CBOR.Key: CBOR], _ algorithm: COSEAlgorithm
    ) -> VerificationKey.Coordinates? {
        let curve = members[.integer(-1)]?.integer
        let (x, y) = (members[.integer(-2)]?.bytes, members[.integer(-3)]?.bytes)
        switch (algorithm, type, curve) {
        case (.es256, 2, 1): return x.flatMap { x in y.map { .p256(x: x, y: $0) } }
        case (.es384, 2, 2): return x.flatMap { x in y.map { .p384(x: x, y: $0) } }
        case (.es512, 2, 3): return x.flatMap { x in y.map { .p521(x: x, y: $0) } }
        case (.eddsa, 1, 6): return x.map { .ed25519(x: $0) }
        case (.rs256, 3, nil):
            guard let modulus = members[.integer(-1)]?.bytes, let exponent = x else { return nil }
            return .rsa(n: modulus, e: exponent)
        default: return nil
        }
    }

    /// Compares the bytes.
    public static func == (left: COSEKey, right: COSEKey) -> Bool { left.bytes == right.bytes }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
