// Cryptography owns every call into libcrypto: random bytes, digests, MACs, key derivation, authenticated encryption,
// signatures and password hashes, and the two text forms in which such bytes travel (base64url, hexadecimal).
// It must not know tokens, JSON, users or the store. No other module but TLS sees OpenSSL; what both need to hold its
// objects is `package` here.
//
// Nothing here is an algorithm of our own: each function arranges its arguments and calls libcrypto, or libcrypt for the
// bcrypt hashes of other systems.
// What an input can cause is answered by nil, false or a typed error. What only exhausted memory or a broken
// random generator can cause stops the process: carrying on would mean weak keys.
//
// Reading order: RandomSource, Digests, SecretKey, AES256GCM, SigningKey, VerificationKey, Scrypt, ForeignPasswordHash,
// Base64URL.

internal import COpenSSL

/// Owns one reference to an object of OpenSSL and gives it back at the end.
// Sendable: the pointer never changes, and it is only ever given to functions which read the object or count its
// references atomically (`SSL_new`, `X509_up_ref`, getters). A context that a call would change is made, used and freed inside
// one function, or is lent to one thread at a time by a `ContextPool`.
@safe package final class LibraryObject: @unchecked Sendable {
    /// Good as long as this object is.
    package let pointer: OpaquePointer
    private let free: @Sendable (OpaquePointer) -> Void

    /// Takes over a reference; nil means that memory is exhausted.
    package init(_ pointer: OpaquePointer?, free: @escaping @Sendable (OpaquePointer) -> Void) {
        unsafe self.pointer = unsafe orStop(pointer)
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}

/// The algorithms, looked up once: a look-up by name costs more than a short digest.
enum Algorithms {
    static let sha256 = unsafe LibraryObject(EVP_MD_fetch(nil, "SHA256", nil)) { unsafe EVP_MD_free($0) }
    static let hmac = unsafe LibraryObject(EVP_MAC_fetch(nil, "HMAC", nil)) { unsafe EVP_MAC_free($0) }
    static let hkdf = unsafe LibraryObject(EVP_KDF_fetch(nil, "HKDF", nil)) { unsafe EVP_KDF_free($0) }
    static let aes256GCM = unsafe LibraryObject(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)) {
        unsafe EVP_CIPHER_free($0)
    }
}

/// A value that only exhausted memory can deny.
package func orStop<T>(_ value: T?) -> T {
    guard let value else { stop() }
    return value
}

/// A success (1) that only exhausted memory or a broken random generator can deny.
package func mustSucceed(_ result: Int32) {
    if result != 1 { stop() }
}

private func stop() -> Never {
    fatalError("OpenSSL failed without an input to blame: memory or randomness is exhausted")
}

/// Empties this thread's queue of libcrypto errors, so that a refused input is not blamed on a later call.
func refused<T>(_ answer: T) -> T {
    ERR_clear_error()
    return answer
}
