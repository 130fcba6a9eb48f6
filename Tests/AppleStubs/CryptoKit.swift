// Stands in for `CryptoKit`, so that the compiler checks the code for Apple platforms here. It declares what that code uses, and
// does nothing. Keys are not `Sendable`, as in the oldest of the SDKs.
@_exported import Foundation
import LocalAuthentication
import Security

public enum CryptoKitError: Error { case incorrectKeySize, authenticationFailure }

public protocol HashFunction { associatedtype Digest: Sequence<UInt8> }
public struct SHA256: HashFunction {
    public typealias Digest = SHA256Digest
    public static func hash(data: some DataProtocol) -> SHA256Digest { SHA256Digest() }
}
public struct SHA256Digest: Sequence {
    public func makeIterator() -> Array<UInt8>.Iterator { [UInt8]().makeIterator() }
}

public struct SymmetricKey { public init(data: some ContiguousBytes) {} }

public struct HMAC<H: HashFunction> {
    public struct MAC: Sequence {
        public func makeIterator() -> Array<UInt8>.Iterator { [UInt8]().makeIterator() }
    }
    public static func authenticationCode(for data: some DataProtocol, using key: SymmetricKey) -> MAC { MAC() }
}

public enum AES {
    public enum GCM {
        public struct Nonce: Sendable { public init() {} }
        public struct SealedBox {
            public let combined: Data?
            public init(combined: some DataProtocol) throws { self.combined = nil }
        }
        public static func seal(
            _ message: some DataProtocol, using key: SymmetricKey, nonce: Nonce? = nil,
            authenticating data: some DataProtocol
        ) throws -> SealedBox { throw CryptoKitError.incorrectKeySize }
        public static func open(
            _ box: SealedBox, using key: SymmetricKey, authenticating data: some DataProtocol
        ) throws -> Data { throw CryptoKitError.authenticationFailure }
    }
}

public enum P256 {
    public enum Signing {
        public struct ECDSASignature { public var rawRepresentation: Data { Data() } }
        public struct PublicKey { public var rawRepresentation: Data { Data() } }
        public struct PrivateKey {
            public init(compactRepresentable: Bool = true) {}
            public init(rawRepresentation: some ContiguousBytes) throws {}
            public init(derRepresentation: some RandomAccessCollection<UInt8>) throws {}
            public var rawRepresentation: Data { Data() }
            public var derRepresentation: Data { Data() }
            public var publicKey: PublicKey { PublicKey() }
            public func signature(for data: some DataProtocol) throws -> ECDSASignature { ECDSASignature() }
        }
    }
    public enum KeyAgreement {
        public struct PublicKey {
            fileprivate init() {}
            public init(rawRepresentation: some ContiguousBytes) throws {}
            public var rawRepresentation: Data { Data() }
        }
        public struct PrivateKey {
            public init(compactRepresentable: Bool = true) {}
            public init(rawRepresentation: some ContiguousBytes) throws {}
            public init(derRepresentation: some RandomAccessCollection<UInt8>) throws {}
            public var rawRepresentation: Data { Data() }
            public var publicKey: PublicKey { PublicKey() }
            public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
                SharedSecret()
            }
        }
    }
}

public struct SharedSecret: ContiguousBytes {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

public enum SecureEnclave {
    public static var isAvailable: Bool { false }
    public enum P256 {
        public enum Signing {
            public struct PrivateKey {
                public init(
                    compactRepresentable: Bool = true, accessControl: SecAccessControl,
                    authenticationContext: LAContext? = nil
                ) throws {}
                public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {}
                public var dataRepresentation: Data { Data() }
                public var publicKey: CryptoKit.P256.Signing.PublicKey { CryptoKit.P256.Signing.PublicKey() }
                public func signature(for data: some DataProtocol) throws -> CryptoKit.P256.Signing.ECDSASignature {
                    CryptoKit.P256.Signing.ECDSASignature()
                }
            }
        }
        public enum KeyAgreement {
            public struct PrivateKey {
                public init(
                    compactRepresentable: Bool = true, accessControl: SecAccessControl,
                    authenticationContext: LAContext? = nil
                ) throws {}
                public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {}
                public var dataRepresentation: Data { Data() }
                public var publicKey: CryptoKit.P256.KeyAgreement.PublicKey {
                    CryptoKit.P256.KeyAgreement.PrivateKey().publicKey
                }
                public func sharedSecretFromKeyAgreement(
                    with publicKeyShare: CryptoKit.P256.KeyAgreement.PublicKey
                ) throws -> SharedSecret { SharedSecret() }
            }
        }
    }
}
