// Cryptography: every call into libcrypto.
//
// Owns: random bytes, digests, MACs, key derivation and agreement, authenticated encryption, signatures and password
// hashes, and the two text forms of such bytes (base64url, hexadecimal).
//
// Must not know: tokens, JSON, users, stores. Only this module and TLS see OpenSSL; the declarations that both need are
// `package` here.
//
// The module implements no algorithm itself. Each function arranges its arguments and calls libcrypto, or libcrypt for
// the bcrypt hashes of other systems. Failures that an input can cause give nil, false or a typed error. Failures that
// only exhausted memory or a broken random generator can cause stop the process, because continuing would mean weak
// keys.
//
// Reading order: RandomSource, Digests, SecretKey, AES256GCM, PrivateKeyInfo, SigningKey, VerificationKey, AgreementKey,
// Scrypt, ForeignPasswordHash, Base64URL.

internal import COpenSSL

/// Owns one reference to an object of OpenSSL and releases it at the end.
// Sendable: the pointer never changes, and it is passed only to functions that read the object or count its references
// atomically (`SSL_new`, `X509_up_ref`, getters). A context that a call would change is created, used and freed inside
// one function, or is used by one thread at a time through a `ContextPool`.
@safe package final class LibraryObject: @unchecked Sendable {
    /// Valid as long as this object lives.
    package let pointer: OpaquePointer
    private let free: @Sendable (OpaquePointer) -> Void

    /// Takes over a reference; nil means that memory is exhausted.
    package init(_ pointer: OpaquePointer?, free: @escaping @Sendable (OpaquePointer) -> Void) {
        unsafe self.pointer = unsafe orStop(pointer)
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}

/// The algorithms, looked up once, because a look-up by name costs more than a short digest.
enum Algorithms {
    static let sha256 = unsafe LibraryObject(EVP_MD_fetch(nil, "SHA256", nil)) { unsafe EVP_MD_free($0) }
    static let hmac = unsafe LibraryObject(EVP_MAC_fetch(nil, "HMAC", nil)) { unsafe EVP_MAC_free($0) }
    static let hkdf = unsafe LibraryObject(EVP_KDF_fetch(nil, "HKDF", nil)) { unsafe EVP_KDF_free($0) }
    static let sskdf = unsafe LibraryObject(EVP_KDF_fetch(nil, "SSKDF", nil)) { unsafe EVP_KDF_free($0) }
    static let aes256GCM = unsafe LibraryObject(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)) {
        unsafe EVP_CIPHER_free($0)
    }
}

/// Keeps libcrypto usable until the process is gone.
///
/// By default libcrypto frees everything in a handler of `exit`, and a thread that signs or hashes at that moment reads freed
/// memory. The first call into libcrypto decides whether there is such a handler, so that this has to come before any other,
/// those of libcurl included. `OPENSSL_init_crypto` may be called by several threads.
public func keepLibraryDuringExit() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}

/// Returns a value that is nil only if memory is exhausted; stops the process then.
package func orStop<T>(_ value: T?) -> T {
    guard let value else { stop() }
    return value
}

/// Stops the process unless the result is 1. Only exhausted memory or a broken random generator can cause a failure.
package func mustSucceed(_ result: Int32) {
    if result != 1 { stop() }
}

private func stop() -> Never {
    fatalError("OpenSSL failed without an input to blame: memory or randomness is exhausted")
}

/// Empties this thread's queue of libcrypto errors, so that a later call does not report the error of a refused input.
func refused<T>(_ answer: T) -> T {
    ERR_clear_error()
    return answer
}
