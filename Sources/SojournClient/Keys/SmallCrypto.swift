#if canImport(CryptoKit)
    internal import CommonCrypto
    internal import CryptoKit
    internal import Foundation
#else
    internal import Cryptography
#endif

/// The few algorithms that the SDK needs: CryptoKit on Apple platforms, `Cryptography` elsewhere.
package enum SmallCrypto {
    /// Makes the algorithms ready, so that a task in the background can use them while the process ends. To be called before
    /// the first `URLSession` is made, because that one uses the same library on Linux.
    static func prepare() {
        #if !canImport(CryptoKit)
            keepLibraryDuringExit()
        #endif
    }

    /// The SHA-256 digest (FIPS 180-4): 32 bytes.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        #if canImport(CryptoKit)
            Array(SHA256.hash(data: message))
        #else
            Cryptography.sha256(message)
        #endif
    }

    /// The HMAC-SHA-256 of `message` (RFC 2104): 32 bytes. `key` must not be empty.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        #if canImport(CryptoKit)
            Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        #else
            HMACSHA256Key(key).authenticate(message)
        #endif
    }

    /// The key of a password by PBKDF2 with HMAC-SHA-256 (RFC 8018 section 5.2): 32 bytes. Nil if the library refuses it.
    package static func stretch(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8]? {
        #if canImport(CryptoKit)
            var derived = [UInt8](repeating: 0, count: 32)
            let status = password.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer { characters in
                CCKeyDerivationPBKDF(
                    CCPBKDFAlgorithm(kCCPBKDF2), characters.baseAddress, characters.count, salt, salt.count,
                    CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), UInt32(iterations), &derived, derived.count)
            }
            return Int(status) == kCCSuccess ? derived : nil
        #else
            return PBKDF2Hash.sha256Key(password, salt: salt, iterations: iterations)
        #endif
    }

    /// Unpredictable bytes of the operating system.
    package static func randomBytes(count: Int) -> [UInt8] {
        #if canImport(CryptoKit)
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        #else
            Cryptography.randomBytes(count: count)
        #endif
    }

    /// `plaintext` under AES-256-GCM (NIST SP 800-38D): nonce (12 bytes), ciphertext, tag (16 bytes). `associatedData` is
    /// authenticated too. Nil unless `key` has 32 bytes.
    package static func seal(_ plaintext: [UInt8], key: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        guard key.count == 32 else { return nil }
        #if canImport(CryptoKit)
            let box = try? AES.GCM.seal(plaintext, using: SymmetricKey(data: key), authenticating: associatedData)
            return box?.combined.map { Array($0) }
        #else
            return SecretKey(key).map { AES256GCM(key: $0).seal(plaintext, associatedData: associatedData) }
        #endif
    }

    /// The plaintext of `sealed`; nil if the bytes, the associated data or the key are not those of `seal`.
    package static func open(_ sealed: [UInt8], key: [UInt8], associatedData: [UInt8]) -> [UInt8]? {
        guard key.count == 32 else { return nil }
        #if canImport(CryptoKit)
            guard let box = try? AES.GCM.SealedBox(combined: sealed) else { return nil }
            return (try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: associatedData))
                .map { Array($0) }
        #else
            return SecretKey(key).flatMap { AES256GCM(key: $0).open(sealed, associatedData: associatedData) }
        #endif
    }
}
