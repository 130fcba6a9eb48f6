public import Foundation

#if canImport(CryptoKit)
    internal import CryptoKit
#else
    internal import Cryptography
#endif

/// Keeps keys in files: for Linux, for daemons and for tests.
///
/// The private key is in the file (PKCS#8, 0600), not in hardware. A program that can read the file has the key.
public struct SoftwareKeys: DeviceKeyring {
    private let keyring: any DeviceKeyring

    /// Keys in files `NAME.p8` of that folder, usually the one of the `FileStore`. The first key makes the folder (0700).
    public init(directory: URL) {
        keyring = BlobKeyring(blobs: FileBlobs(folder: directory.path), maker: SoftwareKeyMaker())
    }

    /// Keys that end with the process: for tests.
    public static func temporary() -> SoftwareKeys {
        SoftwareKeys(keyring: BlobKeyring(blobs: MemoryBlobs(), maker: SoftwareKeyMaker()))
    }

    private init(keyring: any DeviceKeyring) { self.keyring = keyring }

    /// The key of that name; nil if there is no file.
    public func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)? { try await keyring.key(name) }

    /// The key of that name; made, if there is none.
    public func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey { try await keyring.makeKey(name) }

    /// Deletes the file.
    public func deleteKey(_ name: KeyName) async throws(KeyError) { try await keyring.deleteKey(name) }
}

/// Makes keys on P-256 in software. It also restores keys on Ed25519 where `Cryptography` does it.
struct SoftwareKeyMaker: KeyMaker {
    func make(_ name: KeyName) throws(KeyError) -> [UInt8] {
        #if canImport(CryptoKit)
            Array(P256.Signing.PrivateKey().derRepresentation)
        #else
            SigningKey.generate(.es256).pkcs8DER
        #endif
    }

    func restore(_ blob: [UInt8]) throws(KeyError) -> any DeviceKey {
        #if canImport(CryptoKit)
            guard let key = try? P256.Signing.PrivateKey(derRepresentation: blob) else {
                throw .corrupted("no P-256 key in PKCS#8")
            }
        #else
            guard let key = SigningKey(pkcs8DER: blob) else { throw .corrupted("no P-256 or Ed25519 key in PKCS#8") }
        #endif
        return SoftwareKey(key)
    }
}

/// A private key in memory.
struct SoftwareKey: DeviceKey {
    let publicKey: PublicJWK
    #if canImport(CryptoKit)
        /// The key itself cannot be shared between threads in all versions of CryptoKit.
        private let der: [UInt8]

        init(_ key: P256.Signing.PrivateKey) {
            der = Array(key.derRepresentation)
            publicKey = PublicJWK(key.publicKey)
        }

        func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] {
            guard let key = try? P256.Signing.PrivateKey(derRepresentation: der),
                let signature = try? key.signature(for: message)
            else { throw .failed(0, "sign") }
            return Array(signature.rawRepresentation)
        }

        func agree(with other: PublicJWK) async throws(KeyError) -> [UInt8] {
            guard let key = try? P256.KeyAgreement.PrivateKey(derRepresentation: der),
                let secret = try? key.sharedSecretFromKeyAgreement(with: P256.KeyAgreement.PublicKey(other))
            else { throw .failed(0, "agree") }
            return secret.withUnsafeBytes { Array($0) }
        }
    #else
        private let key: SigningKey

        init(_ key: SigningKey) {
            self.key = key
            publicKey =
                switch key.publicKey.coordinates {
                case .p256(let x, let y): PublicJWK(curve: .p256, x: x, y: y)
                case .ed25519(let x), .p384(let x, _), .p521(let x, _), .rsa(let x, _): PublicJWK(curve: .ed25519, x: x)
                }
        }

        func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] { key.sign(message) }

        func agree(with other: PublicJWK) async throws(KeyError) -> [UInt8] {
            guard let peer = VerificationKey(.p256(x: other.x, y: other.y ?? [])),
                let secret = AgreementKey(pkcs8DER: key.pkcs8DER)?.agree(with: peer)
            else { throw .failed(0, "agree") }
            return secret
        }
    #endif
}

#if canImport(CryptoKit)
    extension PublicJWK {
        init(_ key: P256.Signing.PublicKey) {
            self.init(point: Array(key.rawRepresentation))
        }

        init(_ key: P256.KeyAgreement.PublicKey) {
            self.init(point: Array(key.rawRepresentation))
        }

        private init(point: [UInt8]) {
            self.init(curve: .p256, x: Array(point.prefix(32)), y: Array(point.suffix(32)))
        }
    }

    extension P256.KeyAgreement.PublicKey {
        /// The point, if it is on the curve.
        init(_ key: PublicJWK) throws { try self.init(rawRepresentation: Data(key.x + (key.y ?? []))) }
    }
#endif

/// The bytes of keys in files.
struct FileBlobs: KeyBlobs {
    let folder: String
    private let queue = BlockingQueue()

    init(folder: String) { self.folder = folder }

    func blob(_ name: KeyName) async throws(KeyError) -> [UInt8]? {
        try await run(name) { file throws(PrivateFile.Failure) in try file.read() }
    }

    func add(_ blob: [UInt8], _ name: KeyName) async throws(KeyError) -> Bool {
        try await run(name) { file throws(PrivateFile.Failure) in
            try file.replace { content in content == nil ? .content(blob) : nil }
        }
    }

    func setAside(_ name: KeyName) async throws(KeyError) {
        let newName = "\(name.rawValue).p8.unreadable-\(Base64URL.encode(SmallCrypto.randomBytes(count: 6)))"
        try await run(name) { file throws(PrivateFile.Failure) in
            try file.moveAside(as: newName) { content in
                content.flatMap { try? SoftwareKeyMaker().restore($0) } == nil
            }
        }
    }

    func delete(_ name: KeyName) async throws(KeyError) {
        _ = try await run(name) { file throws(PrivateFile.Failure) in
            try file.replace { content in content == nil ? nil : PrivateFile.Replacement.none }
        }
    }

    private func run<Success: Sendable>(
        _ name: KeyName, _ body: @escaping @Sendable (PrivateFile) throws(PrivateFile.Failure) -> Success
    ) async throws(KeyError) -> Success {
        guard name.isValid else { throw .failed(0, "not the name of a key") }
        let file = PrivateFile(folder: folder, name: name.rawValue + ".p8")
        do throws(PrivateFile.Failure) {
            return try await queue.run { () throws(PrivateFile.Failure) in try body(file) }
        } catch { throw KeyError(error) }
    }
}

extension KeyName {
    /// Whether the name consists of letters, digits, `.` and `-`, so that it is the name of a file.
    var isValid: Bool {
        !rawValue.isEmpty && rawValue.utf8.count <= 64 && !rawValue.hasPrefix(".")
            && rawValue.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
    }
}

extension KeyError {
    init(_ failure: PrivateFile.Failure) {
        self =
            if failure.isDenial { .denied(failure.code) } else if failure.isOversize {
                .corrupted("longer than \(PrivateFile.countMax) bytes")
            } else { .failed(failure.code, failure.action) }
    }
}

/// The bytes of keys in memory.
struct MemoryBlobs: KeyBlobs {
    private let content = LockedState<[KeyName: [UInt8]]>([:])

    func blob(_ name: KeyName) async throws(KeyError) -> [UInt8]? { content.withLock { $0[name] } }

    func add(_ blob: [UInt8], _ name: KeyName) async throws(KeyError) -> Bool {
        content.withLock { content in
            guard content[name] == nil else { return false }
            content[name] = blob
            return true
        }
    }

    func setAside(_ name: KeyName) async throws(KeyError) { content.withLock { $0[name] = nil } }

    func delete(_ name: KeyName) async throws(KeyError) { content.withLock { $0[name] = nil } }
}
