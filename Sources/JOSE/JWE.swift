public import Cryptography
internal import JSON

/// Encrypted messages in the compact form (RFC 7516 §7.1): a key agreed by ECDH-ES on P-256 (RFC 7518 §4.6), and A256GCM
/// (RFC 7518 §5.3). Only the holder of the private key reads them, and nothing proves their sender.
public enum JWE {
    private static let nonceCount = 12
    private static let tagCount = 16

    /// The header (RFC 7516 §4). `typ` is that of any compact message, so that it tells nothing of the content.
    private struct Header: Encodable {
        let alg = "ECDH-ES"
        let enc = "A256GCM"
        let epk: JWK
        let kid: String
        let typ = "JOSE"
    }

    /// Encrypts `plaintext` to `key`. The `kid` is the thumbprint of the key. Returns nil unless the key is on P-256.
    ///
    /// - Parameter ephemeral: the sender's key, which must be new for each message.
    public static func encrypt(
        _ plaintext: [UInt8], to key: VerificationKey, ephemeral: AgreementKey = .generate(),
        random: RandomSource = .system
    ) -> String? {
        guard let secret = ephemeral.agree(with: key) else { return nil }
        let header = Header(epk: JWK(ephemeral.publicKey), kid: JWK(key).thumbprint)
        guard let json = JSONText.compact(header) else { return nil }
        let info = agreementInfo(algorithm: "A256GCM", keyBits: 256)
        guard let contentKey = SecretKey(concatKDF(secret: secret, info: info, count: SecretKey.count)) else {
            return nil
        }
        let head = Base64URL.encode(json)
        let sealed = AES256GCM(key: contentKey).seal(plaintext, associatedData: Array(head.utf8), random: random)
        let parts = [
            sealed.prefix(nonceCount), sealed.dropFirst(nonceCount).dropLast(tagCount), sealed.suffix(tagCount),
        ]
        // The second part is empty, because the agreed key encrypts the content itself (RFC 7518 §4.6).
        return ([head, ""] + parts.map { Base64URL.encode(Array($0)) }).joined(separator: ".")
    }

    /// What the derivation of a key takes in beside the secret (`OtherInfo`, RFC 7518 §4.6.2).
    ///
    /// - Parameters:
    ///   - algorithm: `enc` for ECDH-ES.
    ///   - producer: the bytes of `apu`.
    ///   - consumer: the bytes of `apv`.
    static func agreementInfo(
        algorithm: String, producer: [UInt8] = [], consumer: [UInt8] = [], keyBits: UInt32
    ) -> [UInt8] {
        [Array(algorithm.utf8), producer, consumer].flatMap { bigEndian(UInt32($0.count)) + $0 } + bigEndian(keyBits)
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
