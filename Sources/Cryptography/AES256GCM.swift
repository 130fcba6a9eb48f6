internal import COpenSSL

/// AES-256-GCM (NIST SP 800-38D) in the combined form: nonce (12 bytes), ciphertext, tag (16 bytes).
///
/// The nonces are random, so one key may encrypt about 2^32 messages.
public struct AES256GCM: Sendable {
    private static let nonceCount = 12
    private static let tagCount = 16

    private let key: SecretKey

    /// Creates a cipher with this key.
    public init(key: SecretKey) { self.key = key }

    /// Encrypts `plaintext` and authenticates `associatedData`, which `open` must get again.
    public func seal(
        _ plaintext: [UInt8], associatedData: [UInt8], random: RandomSource = .system
    ) -> [UInt8] {
        let nonce = random.bytes(Self.nonceCount)
        let context = unsafe orStop(EVP_CIPHER_CTX_new())
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        unsafe mustSucceed(EVP_EncryptInit_ex2(context, Algorithms.aes256GCM.pointer, key.bytes, nonce, nil))
        var count: Int32 = 0
        unsafe mustSucceed(EVP_EncryptUpdate(context, nil, &count, associatedData, Int32(associatedData.count)))
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
        unsafe mustSucceed(EVP_EncryptUpdate(context, &ciphertext, &count, plaintext, Int32(plaintext.count)))
        var tag = [UInt8](repeating: 0, count: Self.tagCount)
        unsafe mustSucceed(EVP_EncryptFinal_ex(context, &tag, &count))
        unsafe mustSucceed(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagCount), &tag))
        return nonce + ciphertext + tag
    }

    /// Decrypts `sealed`. Returns nil if the bytes, the associated data or the key are not those of `seal`.
    public func open(_ sealed: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        guard sealed.count >= Self.nonceCount + Self.tagCount else { return nil }
        let nonce = Array(sealed.prefix(Self.nonceCount))
        let ciphertext = Array(sealed.dropFirst(Self.nonceCount).dropLast(Self.tagCount))
        var tag = Array(sealed.suffix(Self.tagCount))
        let context = unsafe orStop(EVP_CIPHER_CTX_new())
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        unsafe mustSucceed(EVP_DecryptInit_ex2(context, Algorithms.aes256GCM.pointer, key.bytes, nonce, nil))
        var count: Int32 = 0
        unsafe mustSucceed(EVP_DecryptUpdate(context, nil, &count, associatedData, Int32(associatedData.count)))
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
        unsafe mustSucceed(EVP_DecryptUpdate(context, &plaintext, &count, ciphertext, Int32(ciphertext.count)))
        unsafe mustSucceed(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagCount), &tag))
        var end = [UInt8](repeating: 0, count: Self.tagCount)
        // The plaintext must not be used unless this call returns 1.
        guard unsafe EVP_DecryptFinal_ex(context, &end, &count) == 1 else { return refused(nil) }
        return plaintext
    }
}
