internal import COpenSSL

/// The algorithms whose signatures can be verified, by their JOSE names: those of this server, and RSA for the keys of others.
public enum VerificationAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256 (RFC 7518 §3.4).
    case es256 = "ES256"
    /// Ed25519 (RFC 8037 §3.1).
    case eddsa = "EdDSA"
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3). Nothing here signs with it.
    case rs256 = "RS256"
}

extension SignatureAlgorithm {
    /// What verifies its signatures.
    public var verification: VerificationAlgorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        }
    }
}

/// A public key that verifies with one algorithm, from any thread.
public struct VerificationKey: Sendable {
    /// The public numbers, as a JWK carries them.
    public enum Coordinates: Sendable, Hashable {
        /// A point on P-256, 32 bytes each (RFC 7518 §6.2.1).
        case p256(x: [UInt8], y: [UInt8])
        /// An Ed25519 public key, 32 bytes (RFC 8037 §2).
        case ed25519(x: [UInt8])
        /// An RSA modulus and exponent, big-endian without leading zeros (RFC 7518 §6.3.1).
        case rsa(n: [UInt8], e: [UInt8])
    }

    /// The only algorithm this key verifies.
    public let algorithm: VerificationAlgorithm
    /// The public numbers.
    public let coordinates: Coordinates

    private let key: LibraryObject

    /// Takes the numbers of a JWK. Nil when a length is wrong, the P-256 point is not on its curve, or an RSA key is not of
    /// 2048 to 8192 bits with an odd exponent of 65537 or more (NIST SP 800-131A, FIPS 186-5 §5.1).
    public init?(_ coordinates: Coordinates) {
        let parsed: OpaquePointer?
        switch coordinates {
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32 else { return nil }
            unsafe parsed = COpenSSL_P256_public_key([4] + x + y)
            algorithm = .es256
        case .ed25519(let x):
            guard x.count == 32 else { return nil }
            unsafe parsed = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, x, x.count)
            algorithm = .eddsa
        case .rsa(let n, let e):
            guard RSA.isAcceptable(n: n, e: e) else { return nil }
            unsafe parsed = COpenSSL_RSA_public_key(n, n.count, e, e.count)
            algorithm = .rs256
        }
        guard let parsed = unsafe parsed else {
            ERR_clear_error()
            return nil
        }
        key = unsafe LibraryObject(parsed) { unsafe EVP_PKEY_free($0) }
        self.coordinates = coordinates
    }

    init(_ algorithm: SignatureAlgorithm, _ key: LibraryObject) {
        self.algorithm = algorithm.verification
        self.key = key
        coordinates =
            switch algorithm {
            case .es256: .p256(x: Self.coordinate("qx", of: key), y: Self.coordinate("qy", of: key))
            case .eddsa: .ed25519(x: Self.rawPublicKey(of: key))
            }
    }

    /// Whether `signature` is this key's over `message`: 64 bytes in JOSE's form, or as many as an RSA modulus has.
    public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == signatureLength else { return false }
        let isValid =
            switch algorithm {
            case .es256: verifyES256(signature, sha256(message))
            case .eddsa: verifyEdDSA(signature, message)
            case .rs256: verifyRS256(signature, sha256(message))
            }
        return isValid || refused(false)
    }

    private var signatureLength: Int {
        if case .rsa(let n, _) = coordinates { n.count } else { 64 }
    }

    private func verifyRS256(_ signature: [UInt8], _ digest: [UInt8]) -> Bool {
        let context = unsafe orStop(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil))
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe mustSucceed(EVP_PKEY_verify_init(context))
        unsafe mustSucceed(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING))
        unsafe mustSucceed(EVP_PKEY_CTX_set_signature_md(context, Algorithms.sha256.pointer))
        return unsafe EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1
    }

    private func verifyES256(_ signature: [UInt8], _ digest: [UInt8]) -> Bool {
        let context = unsafe orStop(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil))
        defer { unsafe EVP_PKEY_CTX_free(context) }
        unsafe mustSucceed(EVP_PKEY_verify_init(context))
        let der = ECDSASignature.der(signature)
        return unsafe EVP_PKEY_verify(context, der, der.count, digest, digest.count) == 1
    }

    private func verifyEdDSA(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        let context = unsafe orStop(EVP_MD_CTX_new())
        defer { unsafe EVP_MD_CTX_free(context) }
        unsafe mustSucceed(EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key.pointer, nil))
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    private static func coordinate(_ name: String, of key: LibraryObject) -> [UInt8] {
        var number: OpaquePointer?
        unsafe mustSucceed(EVP_PKEY_get_bn_param(key.pointer, name, &number))
        defer { unsafe BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: 32)
        unsafe mustSucceed(BN_bn2binpad(number, &bytes, 32) == 32 ? 1 : 0)
        return bytes
    }

    private static func rawPublicKey(of key: LibraryObject) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        unsafe mustSucceed(EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &count))
        return bytes
    }
}

extension VerificationKey: Hashable {
    /// The same public numbers.
    public static func == (left: VerificationKey, right: VerificationKey) -> Bool {
        left.coordinates == right.coordinates
    }

    /// Hashes the public numbers.
    public func hash(into hasher: inout Hasher) { hasher.combine(coordinates) }
}

/// Between the DER form that libcrypto speaks and the 64 bytes, r and s, that JOSE speaks.
enum ECDSASignature {
    /// No P-256 signature is longer: two integers of at most 33 bytes, and their headers.
    private static let longestDER = 72

    /// The 64 bytes of the DER signature that `sign` writes into the buffer; it returns how many bytes it wrote.
    static func raw(_ sign: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> [UInt8] {
        var der = [UInt8](repeating: 0, count: longestDER)
        return unsafe der.withUnsafeMutableBufferPointer { buffer in
            let count = unsafe sign(buffer)
            var cursor = unsafe UnsafePointer(buffer.baseAddress)
            let parsed = unsafe orStop(d2i_ECDSA_SIG(nil, &cursor, count))
            defer { unsafe ECDSA_SIG_free(parsed) }
            var raw = [UInt8](repeating: 0, count: 64)
            unsafe raw.withUnsafeMutableBufferPointer { bytes in
                unsafe mustSucceed(BN_bn2binpad(ECDSA_SIG_get0_r(parsed), bytes.baseAddress, 32) == 32 ? 1 : 0)
                unsafe mustSucceed(
                    BN_bn2binpad(ECDSA_SIG_get0_s(parsed), bytes.baseAddress.map { unsafe $0 + 32 }, 32) == 32 ? 1 : 0)
            }
            return raw
        }
    }

    /// The DER form of 64 bytes. libcrypto refuses r or s outside 1..<n when it verifies.
    static func der(_ signature: [UInt8]) -> [UInt8] {
        let numbers = unsafe orStop(ECDSA_SIG_new())
        defer { unsafe ECDSA_SIG_free(numbers) }
        unsafe signature.withUnsafeBufferPointer { bytes in
            let r = unsafe orStop(BN_bin2bn(bytes.baseAddress, 32, nil))
            let s = unsafe orStop(BN_bin2bn(bytes.baseAddress.map { unsafe $0 + 32 }, 32, nil))
            unsafe mustSucceed(ECDSA_SIG_set0(numbers, r, s))
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: longestDER) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = unsafe Int(i2d_ECDSA_SIG(numbers, &cursor))
        }
    }
}
