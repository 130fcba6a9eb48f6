internal import COpenSSL

/// Returns the SHA-256 digest (FIPS 180-4): 32 bytes.
public func sha256(_ message: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, initialized in
        unsafe mustSucceed(
            EVP_Digest(message, message.count, digest.baseAddress, nil, Algorithms.sha256.pointer, nil))
        initialized = 32
    }
}

/// Compares two values in a time that depends on their lengths only.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && (unsafe CRYPTO_memcmp(left, right, left.count)) == 0
}

/// HMAC-SHA-256 (RFC 2104) with one key. It may be used from any thread.
public struct HMACSHA256Key: Sendable, Redacted {
    private let key: [UInt8]
    private let contexts: ContextPool

    /// Creates a key from bytes of any length except zero; 32 bytes are usual.
    public init(_ key: [UInt8]) {
        precondition(!key.isEmpty, "an HMAC key must not be empty")
        self.key = key
        contexts = ContextPool { Self.context(key) }
    }

    /// Creates a key from a secret key.
    public init(_ key: SecretKey) { self.init(key.bytes) }

    private static func context(_ key: [UInt8]) -> LibraryObject {
        let context = unsafe LibraryObject(EVP_MAC_CTX_new(Algorithms.hmac.pointer)) { unsafe EVP_MAC_CTX_free($0) }
        unsafe mustSucceed(COpenSSL_HMAC_choose_SHA256(context.pointer))
        unsafe mustSucceed(EVP_MAC_init(context.pointer, key, key.count, nil))
        return context
    }

    /// True if a context can restart without the key, which it would otherwise hash again. Providers before OpenSSL
    /// 3.0.3 cannot, independently of the library's version.
    private static let keepsKey: Bool = {
        let context = Self.context([1])
        let tags = (0..<2).map { round -> [UInt8]? in
            var (tag, count) = ([UInt8](repeating: 0, count: 32), 0)
            let isGood =
                unsafe (round == 0 || EVP_MAC_init(context.pointer, nil, 0, nil) == 1)
                && EVP_MAC_update(context.pointer, [2], 1) == 1
                && EVP_MAC_final(context.pointer, &tag, &count, tag.count) == 1
            return isGood ? tag : nil
        }
        ERR_clear_error()
        return tags[0] != nil && tags[0] == tags[1]
    }()

    /// Returns the 32-byte tag of `message`.
    public func authenticate(_ message: [UInt8]) -> [UInt8] {
        unsafe contexts.withContext { context in
            if Self.keepsKey {
                unsafe mustSucceed(EVP_MAC_init(context, nil, 0, nil))
            } else {
                unsafe mustSucceed(EVP_MAC_init(context, key, key.count, nil))
            }
            unsafe mustSucceed(EVP_MAC_update(context, message, message.count))
            return unsafe [UInt8](unsafeUninitializedCapacity: 32) { tag, initialized in
                var count = 0
                unsafe mustSucceed(EVP_MAC_final(context, tag.baseAddress, &count, 32))
                initialized = 32
            }
        }
    }

    /// Returns true if `tag` is the tag of `message`. The comparison takes constant time.
    public func isValidTag(_ tag: [UInt8], for message: [UInt8]) -> Bool {
        constantTimeEqual(tag, authenticate(message))
    }
}

/// Derives `count` bytes, at most 8160, with HKDF-SHA-256, extract and expand (RFC 5869). `info` names the purpose.
public func hkdfSHA256(key: [UInt8], info: [UInt8], salt: [UInt8] = [], count: Int = 32) -> [UInt8] {
    precondition(!key.isEmpty && (1...255 * 32).contains(count), "HKDF needs a key and at most 255 blocks")
    let context = unsafe orStop(EVP_KDF_CTX_new(Algorithms.hkdf.pointer))
    defer { unsafe EVP_KDF_CTX_free(context) }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
        unsafe mustSucceed(
            COpenSSL_HKDF_SHA256(
                context, key, key.count, salt, salt.count, info, info.count, output.baseAddress, count))
        initialized = count
    }
}

/// Derives a key from `key` for the purpose that `info` names (RFC 5869).
public func hkdfSHA256(key: SecretKey, info: String) -> SecretKey {
    SecretKey(known: hkdfSHA256(key: key.bytes, info: Array(info.utf8), count: SecretKey.count))
}
