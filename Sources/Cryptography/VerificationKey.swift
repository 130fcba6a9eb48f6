internal import COpenSSL

/// The algorithms that can be verified, by their JOSE names: ES256 and EdDSA, with which this server signs, and those
/// of other servers.
public enum VerificationAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256 (RFC 7518 §3.4).
    case es256 = "ES256"
    /// Ed25519 (RFC 8037 §3.1).
    case eddsa = "EdDSA"
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3).
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384 (RFC 7518 §3.3).
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512 (RFC 7518 §3.3).
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256, in MGF1 too, and a salt as long as the digest (RFC 7518 §3.5).
    case ps256 = "PS256"
    /// RSASSA-PSS with SHA-384, in MGF1 too, and a salt as long as the digest (RFC 7518 §3.5).
    case ps384 = "PS384"
    /// RSASSA-PSS with SHA-512, in MGF1 too, and a salt as long as the digest (RFC 7518 §3.5).
    case ps512 = "PS512"
    /// ECDSA on P-384 with SHA-384 (RFC 7518 §3.4).
    case es384 = "ES384"
    /// ECDSA on P-521 with SHA-512 (RFC 7518 §3.4).
    case es512 = "ES512"

    /// The libcrypto name of the hash function.
    fileprivate var digest: String {
        switch self {
        case .es256, .rs256, .ps256: "SHA256"
        case .es384, .rs384, .ps384: "SHA384"
        case .es512, .rs512, .ps512, .eddsa: "SHA512"
        }
    }
}

extension SignatureAlgorithm {
    /// The algorithm that verifies signatures of this one.
    public var verification: VerificationAlgorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        case .rs256: .rs256
        }
    }
}

/// A public key that verifies with the algorithms of its kind, or with one of them; from any thread.
public struct VerificationKey: Sendable {
    /// The public numbers, as a JWK has them.
    public enum Coordinates: Sendable, Hashable {
        /// A point on P-256, 32 bytes each (RFC 7518 §6.2.1).
        case p256(x: [UInt8], y: [UInt8])
        /// A point on P-384, 48 bytes each.
        case p384(x: [UInt8], y: [UInt8])
        /// A point on P-521, 66 bytes each.
        case p521(x: [UInt8], y: [UInt8])
        /// An Ed25519 public key, 32 bytes (RFC 8037 §2).
        case ed25519(x: [UInt8])
        /// An RSA modulus and exponent, big-endian without leading zeros (RFC 7518 §6.3.1).
        case rsa(n: [UInt8], e: [UInt8])
    }

    /// The algorithms that this key verifies. There is one, except for an RSA key without a stated algorithm.
    public private(set) var algorithms: [VerificationAlgorithm]
    /// The public numbers.
    public let coordinates: Coordinates

    private let key: LibraryObject

    /// Creates a key from the numbers of a JWK. Returns nil if a length is wrong, if the point is not on its curve, or
    /// if an RSA key does not have 2048 to 8192 bits with an odd exponent of at least 65537 (NIST SP 800-131A, FIPS
    /// 186-5 §5.1).
    public init?(_ coordinates: Coordinates) {
        let parsed: OpaquePointer?
        switch coordinates {
        case .p256(let x, let y):
            unsafe parsed = Self.point("P-256", x, y, length: 32)
            algorithms = [.es256]
        case .p384(let x, let y):
            unsafe parsed = Self.point("P-384", x, y, length: 48)
            algorithms = [.es384]
        case .p521(let x, let y):
            unsafe parsed = Self.point("P-521", x, y, length: 66)
            algorithms = [.es512]
        case .ed25519(let x):
            guard x.count == 32 else { return nil }
            unsafe parsed = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, x, x.count)
            algorithms = [.eddsa]
        case .rsa(let n, let e):
            guard RSA.isAcceptable(n: n, e: e) else { return nil }
            unsafe parsed = COpenSSL_RSA_public_key(n, n.count, e, e.count)
            algorithms = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        }
        guard let parsed = unsafe parsed else {
            ERR_clear_error()
            return nil
        }
        key = unsafe LibraryObject(parsed) { unsafe EVP_PKEY_free($0) }
        self.coordinates = coordinates
    }

    private static func point(_ curve: String, _ x: [UInt8], _ y: [UInt8], length: Int) -> OpaquePointer? {
        guard x.count == length, y.count == length else { return nil }
        let point = [4] + x + y
        return unsafe COpenSSL_EC_public_key(curve, point, point.count)
    }

    init(_ algorithm: SignatureAlgorithm, _ key: LibraryObject) {
        algorithms = [algorithm.verification]
        self.key = key
        coordinates =
            switch algorithm {
            case .es256: .p256(x: Self.coordinate("qx", of: key), y: Self.coordinate("qy", of: key))
            case .eddsa: .ed25519(x: Self.rawPublicKey(of: key))
            case .rs256: .rsa(n: Self.number("n", of: key), e: Self.number("e", of: key))
            }
    }

    /// The first of its algorithms: the only one, or for RSA the most common one.
    public var algorithm: VerificationAlgorithm { algorithms[0] }

    /// Returns this key restricted to one algorithm; nil if the key does not support it.
    public func restricted(to algorithm: VerificationAlgorithm) -> VerificationKey? {
        guard algorithms.contains(algorithm) else { return nil }
        var key = self
        key.algorithms = [algorithm]
        return key
    }

    /// Returns true if `signature` is valid for `message` by `algorithm`, or by the first algorithm of the key. The
    /// form is JOSE's r and s, or as many bytes as an RSA modulus has.
    public func isValidSignature(
        _ signature: [UInt8], for message: [UInt8], by algorithm: VerificationAlgorithm? = nil
    ) -> Bool {
        let algorithm = algorithm ?? self.algorithm
        guard algorithms.contains(algorithm), signature.count == signatureLength else { return false }
        let isValid =
            switch algorithm {
            case .es256: verifyES256(signature, sha256(message))
            case .eddsa: verifyEdDSA(signature, message)
            case .es384, .es512: verify(ECDSASignature.der(signature), message, algorithm)
            case .rs256, .rs384, .rs512: verify(signature, message, algorithm)
            case .ps256, .ps384, .ps512: verify(signature, message, algorithm, isPSS: true)
            }
        return isValid || refused(false)
    }

    /// Returns true if `signature` is valid for `message` by the first algorithm of the key. The form is that of X.509 and
    /// WebAuthn (section 6.5.5): DER for ECDSA, the same as JOSE's for the others.
    public func isValidASN1Signature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        switch coordinates {
        case .ed25519, .rsa: return isValidSignature(signature, for: message)
        case .p256, .p384, .p521:
            // libcrypto refuses an encoding that is not DER.
            guard signature.count <= ECDSASignature.longestDER else { return false }
            return verify(signature, message, algorithm) || refused(false)
        }
    }

    private var signatureLength: Int {
        switch coordinates {
        case .p256, .ed25519: 64
        case .p384: 96
        case .p521: 132
        case .rsa(let n, _): n.count
        }
    }

    /// Hashes and verifies in one call, for the less frequent algorithms.
    private func verify(
        _ signature: [UInt8], _ message: [UInt8], _ algorithm: VerificationAlgorithm, isPSS: Bool = false
    ) -> Bool {
        let context = unsafe orStop(EVP_MD_CTX_new())
        defer { unsafe EVP_MD_CTX_free(context) }
        // The context of the key belongs to that of the digest.
        var keyContext: OpaquePointer?
        unsafe mustSucceed(
            EVP_DigestVerifyInit_ex(context, &keyContext, algorithm.digest, nil, nil, key.pointer, nil))
        if case .rsa = coordinates {
            unsafe mustSucceed(
                EVP_PKEY_CTX_set_rsa_padding(keyContext, isPSS ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING))
        }
        if isPSS { unsafe mustSucceed(EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST)) }
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
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

    /// A number of an RSA key, big-endian without leading zeros.
    private static func number(_ name: String, of key: LibraryObject) -> [UInt8] {
        var number: OpaquePointer?
        unsafe mustSucceed(EVP_PKEY_get_bn_param(key.pointer, name, &number))
        defer { unsafe BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: unsafe (Int(BN_num_bits(number)) + 7) / 8)
        let count = Int32(bytes.count)
        unsafe mustSucceed(BN_bn2binpad(number, &bytes, count) == count ? 1 : 0)
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
    /// Compares the public numbers and the algorithms.
    public static func == (left: VerificationKey, right: VerificationKey) -> Bool {
        left.coordinates == right.coordinates && left.algorithms == right.algorithms
    }

    /// Hashes the public numbers.
    public func hash(into hasher: inout Hasher) { hasher.combine(coordinates) }
}

/// Converts between libcrypto's DER form of an ECDSA signature and JOSE's form, in which r and s follow each other,
/// each as long as a coordinate.
enum ECDSASignature {
    /// The longest DER form, on P-521: two integers of 66 bytes with a sign byte each, and their headers.
    static let longestDER = 141

    /// Returns the 64 bytes of the DER signature on P-256 that `sign` writes into the buffer; `sign` returns its
    /// length. The form is SEQUENCE { INTEGER r, INTEGER s }, where a leading zero only keeps an integer positive.
    static func raw(_ sign: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> [UInt8] {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestDER) { der in
            let count = unsafe sign(der)
            var raw = [UInt8](repeating: 0, count: 64)
            var start = 2
            for end in [32, 64] {
                let valueEnd = unsafe start + 2 + Int(der[start + 1])
                let significant = min(32, valueEnd - start - 2)
                for place in 1...significant { raw[end - place] = unsafe der[valueEnd - place] }
                start = valueEnd
            }
            mustSucceed(start == count ? 1 : 0)
            return raw
        }
    }

    /// Returns the DER form of r and s. libcrypto refuses r or s outside 1..<n when it verifies.
    static func der(_ signature: [UInt8]) -> [UInt8] {
        let numbers = unsafe orStop(ECDSA_SIG_new())
        defer { unsafe ECDSA_SIG_free(numbers) }
        unsafe signature.withUnsafeBufferPointer { bytes in
            let half = bytes.count / 2
            let r = unsafe orStop(BN_bin2bn(bytes.baseAddress, Int32(half), nil))
            let s = unsafe orStop(BN_bin2bn(bytes.baseAddress.map { unsafe $0 + half }, Int32(half), nil))
            unsafe mustSucceed(ECDSA_SIG_set0(numbers, r, s))
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: longestDER) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = unsafe Int(i2d_ECDSA_SIG(numbers, &cursor))
        }
    }
}
