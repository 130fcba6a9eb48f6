internal import COpenSSL

/// A private key on P-256 that agrees with a public key on a secret (ECDH, NIST SP 800-56A), from any thread.
public struct AgreementKey: Sendable, Redacted {
    /// The public half, which the other side needs.
    public let publicKey: VerificationKey

    private let key: LibraryObject

    /// Creates a new key.
    public static func generate() -> AgreementKey {
        AgreementKey(unsafe LibraryObject(COpenSSL_P256_generate()) { unsafe EVP_PKEY_free($0) })
    }

    /// Parses an unencrypted PKCS#8 `PrivateKeyInfo` (RFC 5958). Returns nil unless it is exactly one valid P-256 key.
    public init?(pkcs8DER der: [UInt8]) {
        guard let key = PrivateKeyInfo.read(der) else { return nil }
        guard SignatureAlgorithm(of: key) == .es256 else {
            ERR_clear_error()
            return nil
        }
        self.init(key)
    }

    private init(_ key: LibraryObject) {
        self.key = key
        publicKey = VerificationKey(.es256, key)
    }

    /// The PKCS#8 `PrivateKeyInfo` (RFC 5958), unencrypted.
    public var pkcs8DER: [UInt8] { PrivateKeyInfo.write(key) }

    /// The secret of this key and `other`: the x coordinate of the common point, 32 bytes. Returns nil unless `other` is on
    /// P-256. The secret is no key by itself: `concatKDF` makes one of it.
    public func agree(with other: VerificationKey) -> [UInt8]? {
        guard case .p256(let x, let y) = other.coordinates else { return nil }
        let point = [4] + x + y
        guard let parsed = unsafe COpenSSL_EC_public_key("P-256", point, point.count) else { return refused(nil) }
        let peer = unsafe LibraryObject(parsed) { unsafe EVP_PKEY_free($0) }
        let context = unsafe orStop(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil))
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe mustSucceed(EVP_PKEY_derive_init(context))
        guard unsafe EVP_PKEY_derive_set_peer(context, peer.pointer) == 1 else { return refused(nil) }
        var (secret, count) = ([UInt8](repeating: 0, count: 32), 32)
        guard unsafe EVP_PKEY_derive(context, &secret, &count) == 1, count == 32 else { return refused(nil) }
        return secret
    }
}

/// Derives `count` bytes from an agreed secret with SHA-256 (NIST SP 800-56C, one step; RFC 7518 section 4.6.2). `info` is
/// what both sides know of the key's purpose.
public func concatKDF(secret: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
    precondition(!secret.isEmpty && !info.isEmpty && (1...255 * 32).contains(count), "a derivation needs a secret")
    let context = unsafe orStop(EVP_KDF_CTX_new(Algorithms.sskdf.pointer))
    defer { unsafe EVP_KDF_CTX_free(context) }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
        unsafe mustSucceed(
            COpenSSL_SSKDF_SHA256(
                context, secret, secret.count, info, info.count, output.baseAddress, count))
        initialized = count
    }
}
