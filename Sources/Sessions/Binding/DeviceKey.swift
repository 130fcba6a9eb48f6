public import Cryptography

/// The public key with which a device resumes its session without a stored token. The private key never leaves the device.
public struct DeviceKey: Hashable, Sendable {
    /// The validated key.
    public let key: VerificationKey

    /// Creates a device key.
    public init(_ key: VerificationKey) { self.key = key }

    /// Parses a key: the algorithm, a dot, and the coordinates in base64url.
    public init?(text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let bytes = Base64URL.decode(parts[1]) else { return nil }
        let key: VerificationKey?
        switch (SignatureAlgorithm(rawValue: String(parts[0])), bytes.count) {
        case (.es256, 64): key = VerificationKey(.p256(x: Array(bytes[..<32]), y: Array(bytes[32...])))
        case (.eddsa, 32): key = VerificationKey(.ed25519(x: bytes))
        default: key = nil
        }
        guard let key else { return nil }
        self.key = key
    }

    /// The key in its stored form.
    public var text: String {
        let coordinates =
            switch key.coordinates {
            case .p256(let x, let y): x + y
            case .ed25519(let x): x
            // These kinds never occur, because the registration accepts only P-256 and Ed25519.
            case .p384(let x, _), .p521(let x, _): x
            case .rsa(let n, _): n
            }
        return "\(key.algorithm.rawValue).\(Base64URL.encode(coordinates))"
    }
}
