internal import COpenSSL

/// Reads and writes private keys as PKCS#8 `PrivateKeyInfo` (RFC 5958), unencrypted.
enum PrivateKeyInfo {
    /// The key. Returns nil unless `der` is exactly one valid private key.
    static func read(_ der: [UInt8]) -> LibraryObject? {
        let parsed = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, buffer.count) else { return nil }
            defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
            guard let start = buffer.baseAddress, let end = unsafe cursor, unsafe end - start == der.count
            else { return nil }
            return unsafe EVP_PKCS82PKEY(info)
        }
        guard let parsed = unsafe parsed else { return refused(nil) }
        let key = unsafe LibraryObject(parsed) { unsafe EVP_PKEY_free($0) }
        return isSound(key) ? key : refused(nil)
    }

    /// The bytes of a key.
    static func write(_ key: LibraryObject) -> [UInt8] {
        let info = unsafe orStop(EVP_PKEY2PKCS8(key.pointer))
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        let count = unsafe Int(i2d_PKCS8_PRIV_KEY_INFO(info, nil))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = unsafe Int(i2d_PKCS8_PRIV_KEY_INFO(info, &cursor))
        }
    }

    private static func isSound(_ key: LibraryObject) -> Bool {
        let context = unsafe orStop(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil))
        defer { unsafe EVP_PKEY_CTX_free(context) }
        // Of an RSA key the check proves both factors prime, which takes as long as making one: 0.1 s at each start of a server.
        return unsafe EVP_PKEY_is_a(key.pointer, "RSA") == 1
            ? verifiesItself(key, context) : EVP_PKEY_pairwise_check(context) == 1
    }

    /// Whether the public half accepts what the private half signs.
    private static func verifiesItself(_ key: LibraryObject, _ context: OpaquePointer) -> Bool {
        let digest = [UInt8](repeating: 0x5a, count: 32)
        var signature = unsafe [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key.pointer)))
        var count = signature.count
        return unsafe EVP_PKEY_sign_init(context) == 1
            && EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1
            && EVP_PKEY_verify_init(context) == 1
            && EVP_PKEY_verify(context, signature, count, digest, digest.count) == 1
    }
}
