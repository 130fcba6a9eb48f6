public import Cryptography
internal import JOSE

/// The public key on P-256 to which messages to a device are encrypted. The private key never leaves the device.
public struct EncryptionKey: Hashable, Sendable {
    private static let prefix = "P-256."

    /// The validated key.
    public let key: VerificationKey

    /// Creates an encryption key; nil unless `key` is on P-256.
    public init?(_ key: VerificationKey) {
        guard case .p256 = key.coordinates else { return nil }
        self.key = key
    }

    /// Parses a key: the curve, a dot, and the coordinates in base64url.
    public init?(text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64URL.decode(text.dropFirst(Self.prefix.count)),
            bytes.count == 64,
            let key = VerificationKey(.p256(x: Array(bytes.prefix(32)), y: Array(bytes.suffix(32))))
        else { return nil }
        self.key = key
    }

    /// The key in its stored form.
    public var text: String {
        guard case .p256(let x, let y) = key.coordinates else { return "" }
        return Self.prefix + Base64URL.encode(x + y)
    }

    /// The thumbprint (RFC 7638), by which a message names its key.
    public var thumbprint: String { JWK(key).thumbprint }
}
