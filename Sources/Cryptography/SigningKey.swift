internal import COpenSSL

/// The signature algorithms of this server, by their JOSE names.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// The algorithms that can sign any token. `rs256` is for clients that know no other.
    public static let allCases: [SignatureAlgorithm] = [.es256, .eddsa]

    /// ECDSA on P-256 with SHA-256 (RFC 7518 §3.4).
    case es256 = "ES256"
    /// Ed25519 (RFC 8037 §3.1).
    case eddsa = "EdDSA"
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    case rs256 = "RS256"
}

/// A private key that signs with one algorithm, from any thread.
public struct SigningKey: Sendable {
    /// The only algorithm with which the key signs.
    public let algorithm: SignatureAlgorithm
    /// The public key.
    public let publicKey: VerificationKey

    private let key: LibraryObject
    /// Contexts that are ready to sign, for ES256.
    private let prepared: ContextPool?

    /// Creates a new key.
    public static func generate(_ algorithm: SignatureAlgorithm) -> SigningKey {
        let key =
            switch algorithm {
            case .es256: unsafe LibraryObject(COpenSSL_P256_generate()) { unsafe EVP_PKEY_free($0) }
            case .eddsa: unsafe LibraryObject(COpenSSL_Ed25519_generate()) { unsafe EVP_PKEY_free($0) }
            case .rs256: unsafe LibraryObject(COpenSSL_RSA_generate()) { unsafe EVP_PKEY_free($0) }
            }
        return SigningKey(algorithm, key)
    }

    /// Parses an unencrypted PKCS#8 `PrivateKeyInfo` (RFC 5958). Returns nil unless it is exactly one valid P-256 or
    /// Ed25519 key.
    public init?(pkcs8DER der: [UInt8]) {
        guard let key = PrivateKeyInfo.read(der) else { return nil }
        guard let algorithm = SignatureAlgorithm(of: key) else {
            ERR_clear_error()
            return nil
        }
        self = SigningKey(algorithm, key)
    }

    private init(_ algorithm: SignatureAlgorithm, _ key: LibraryObject) {
        self.algorithm = algorithm
        self.key = key
        publicKey = VerificationKey(algorithm, key)
        guard algorithm == .es256 else {
            prepared = nil
            return
        }
        prepared = ContextPool {
            let context = unsafe LibraryObject(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil)) {
                unsafe EVP_PKEY_CTX_free($0)
            }
            unsafe mustSucceed(EVP_PKEY_sign_init(context.pointer))
            return context
        }
    }

    /// The PKCS#8 `PrivateKeyInfo` (RFC 5958), unencrypted. Encrypt it before storing it.
    public var pkcs8DER: [UInt8] { PrivateKeyInfo.write(key) }

    /// Returns the signature in JOSE's form: 64 bytes with r and s for ES256 (RFC 7518 §3.4), 64 bytes with R and S for EdDSA
    /// (RFC 8032 §5.1.6), as many bytes as the modulus has for RS256 (RFC 7518 §3.3).
    public func sign(_ message: [UInt8]) -> [UInt8] {
        if let prepared { return signES256(sha256(message), prepared) }
        let context = unsafe orStop(EVP_MD_CTX_new())
        defer { unsafe EVP_MD_CTX_free(context) }
        // Padding PKCS #1 v1.5 is libcrypto's default for RSA.
        let digest = algorithm == .rs256 ? "SHA256" : nil
        unsafe mustSucceed(EVP_DigestSignInit_ex(context, nil, digest, nil, nil, key.pointer, nil))
        let capacity = unsafe Int(EVP_PKEY_get_size(key.pointer))
        return unsafe [UInt8](unsafeUninitializedCapacity: capacity) { signature, initialized in
            var count = capacity
            unsafe mustSucceed(EVP_DigestSign(context, signature.baseAddress, &count, message, message.count))
            initialized = count
        }
    }

    private func signES256(_ digest: [UInt8], _ prepared: ContextPool) -> [UInt8] {
        unsafe prepared.withContext { context in
            unsafe ECDSASignature.raw { der in
                var count = der.count
                unsafe mustSucceed(EVP_PKEY_sign(context, der.baseAddress, &count, digest, digest.count))
                return count
            }
        }
    }
}

extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The algorithm, without the private key.
    public var description: String { "SigningKey(\(algorithm.rawValue), redacted)" }
    /// The algorithm, without the private key.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension SignatureAlgorithm {
    /// Returns the algorithm of a key; nil if this server does not sign with it.
    init?(of key: LibraryObject) {
        if unsafe EVP_PKEY_is_a(key.pointer, "ED25519") == 1 {
            self = .eddsa
            return
        }
        if unsafe EVP_PKEY_is_a(key.pointer, "RSA") == 1, unsafe EVP_PKEY_get_bits(key.pointer) >= 2048 {
            self = .rs256
            return
        }
        guard unsafe EVP_PKEY_is_a(key.pointer, "EC") == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        guard unsafe EVP_PKEY_get_group_name(key.pointer, &name, name.count, nil) == 1,
            name.prefix(while: { $0 != 0 }).map({ UInt8(bitPattern: $0) }) == Array("prime256v1".utf8)
        else { return nil }
        self = .es256
    }
}
