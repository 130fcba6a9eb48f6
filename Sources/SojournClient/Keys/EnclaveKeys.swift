#if canImport(CryptoKit) && canImport(Security)
    internal import CryptoKit
    internal import Foundation
    internal import Security

    /// Keeps keys in the Secure Enclave of the device. The Keychain keeps what the Enclave needs to find them again.
    ///
    /// A device without an Enclave (a simulator, an old Mac) gets a key on P-256 in the Keychain item itself. `isInHardware` says
    /// which it is.
    public struct EnclaveKeys: DeviceKeyring {
        private let keyring: KeychainKeys

        /// Keys beside the record of `KeychainStore(service:account:accessGroup:)`.
        public init(service: String = "sojourn", account: String, accessGroup: String? = nil) {
            let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
            keyring = KeychainKeys(item, calls: SystemKeychain(), maker: EnclaveKeyMaker())
        }

        /// Whether new keys are in hardware.
        public static var isInHardware: Bool { SecureEnclave.isAvailable }

        /// The key of that name; nil if there certainly is none.
        public func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)? { try await keyring.key(name) }

        /// The key of that name; made, if there is none.
        public func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey {
            try await keyring.makeKey(name)
        }

        /// Deletes the key.
        public func deleteKey(_ name: KeyName) async throws(KeyError) { try await keyring.deleteKey(name) }
    }

    /// Makes keys in the Enclave. The bytes of a key begin with one that says of which kind it is.
    private struct EnclaveKeyMaker: KeyMaker {
        func make(_ name: KeyName) throws(KeyError) -> [UInt8] {
            guard SecureEnclave.isAvailable else {
                return name.agrees
                    ? EnclaveKey.Kind.agreesInSoftware.blob(P256.KeyAgreement.PrivateKey().rawRepresentation)
                    : EnclaveKey.Kind.signsInSoftware.blob(P256.Signing.PrivateKey().rawRepresentation)
            }
            // Without this the Enclave answers only while the device is unlocked, and nothing succeeds in the background.
            guard
                let access = SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, nil)
            else { throw .failed(0, "create the access control") }
            do {
                return name.agrees
                    ? EnclaveKey.Kind.agreesInEnclave.blob(
                        try SecureEnclave.P256.KeyAgreement.PrivateKey(accessControl: access).dataRepresentation)
                    : EnclaveKey.Kind.signsInEnclave.blob(
                        try SecureEnclave.P256.Signing.PrivateKey(accessControl: access).dataRepresentation)
            } catch { throw KeyError(error, "make a key") }
        }

        func restore(_ blob: [UInt8]) throws(KeyError) -> any DeviceKey { try EnclaveKey(blob) }
    }

    /// A key in the Enclave, or its replacement in software. It is restored for each use, because the types of CryptoKit cannot
    /// be shared between threads in all versions.
    private struct EnclaveKey: DeviceKey {
        /// What a key does, and where it is.
        enum Kind: UInt8 {
            case signsInEnclave = 1
            case signsInSoftware = 2
            case agreesInEnclave = 3
            case agreesInSoftware = 4

            func blob(_ content: Data) -> [UInt8] { [rawValue] + Array(content) }
        }

        let publicKey: PublicJWK
        private let kind: Kind
        private let content: [UInt8]

        init(_ blob: [UInt8]) throws(KeyError) {
            guard let kind = blob.first.flatMap(Kind.init) else { throw .corrupted("no key of the Enclave") }
            self.kind = kind
            content = Array(blob.dropFirst())
            let data = Data(content)
            do {
                publicKey =
                    switch kind {
                    case .signsInEnclave:
                        PublicJWK(try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: data).publicKey)
                    case .signsInSoftware: PublicJWK(try P256.Signing.PrivateKey(rawRepresentation: data).publicKey)
                    case .agreesInEnclave:
                        PublicJWK(try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: data).publicKey)
                    case .agreesInSoftware:
                        PublicJWK(try P256.KeyAgreement.PrivateKey(rawRepresentation: data).publicKey)
                    }
            } catch { throw KeyError(error, "restore a key") }
        }

        func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] {
            let data = Data(content)
            do {
                switch kind {
                case .signsInEnclave:
                    let key = try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: data)
                    return Array(try key.signature(for: message).rawRepresentation)
                case .signsInSoftware:
                    let key = try P256.Signing.PrivateKey(rawRepresentation: data)
                    return Array(try key.signature(for: message).rawRepresentation)
                case .agreesInEnclave, .agreesInSoftware: throw KeyError.denied(0)
                }
            } catch { throw KeyError(error, "sign") }
        }

        func agree(with other: PublicJWK) async throws(KeyError) -> [UInt8] {
            let data = Data(content)
            do {
                let peer = try P256.KeyAgreement.PublicKey(other)
                let secret: SharedSecret
                switch kind {
                case .agreesInEnclave:
                    let key = try SecureEnclave.P256.KeyAgreement.PrivateKey(dataRepresentation: data)
                    secret = try key.sharedSecretFromKeyAgreement(with: peer)
                case .agreesInSoftware:
                    let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: data)
                    secret = try key.sharedSecretFromKeyAgreement(with: peer)
                case .signsInEnclave, .signsInSoftware: throw KeyError.denied(0)
                }
                return secret.withUnsafeBytes { Array($0) }
            } catch { throw KeyError(error, "agree") }
        }
    }

    extension KeyError {
        /// The meaning of an error of CryptoKit.
        fileprivate init(_ error: any Error, _ action: String) {
            if let error = error as? KeyError {
                self = error
            } else if error is CryptoKitError {
                self = .corrupted("CryptoKit: \(action)")
            } else {
                let code = Int32(truncatingIfNeeded: (error as NSError).code)
                self = KeyError(StoreError(KeychainStatus(rawValue: code), action))
            }
        }
    }
#endif
