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
        static let inEnclave: UInt8 = 1
        static let inSoftware: UInt8 = 2

        func make(_ name: KeyName) throws(KeyError) -> [UInt8] {
            guard SecureEnclave.isAvailable else {
                return [Self.inSoftware] + Array(P256.Signing.PrivateKey().rawRepresentation)
            }
            // Without this the Enclave signs only while the device is unlocked, and no renewal succeeds in the background.
            guard
                let access = SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, nil)
            else { throw .failed(0, "create the access control") }
            do {
                let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: access)
                return [Self.inEnclave] + Array(key.dataRepresentation)
            } catch { throw KeyError(error, "make a key") }
        }

        func restore(_ blob: [UInt8]) throws(KeyError) -> any DeviceKey { try EnclaveKey(blob) }
    }

    /// A key in the Enclave, or its replacement in software. It is restored for each signature, because the types of CryptoKit
    /// cannot be shared between threads in all versions.
    private struct EnclaveKey: DeviceKey {
        let publicKey: PublicJWK
        private let blob: [UInt8]

        init(_ blob: [UInt8]) throws(KeyError) {
            self.blob = blob
            let content = Data(blob.dropFirst())
            do {
                switch blob.first {
                case EnclaveKeyMaker.inEnclave:
                    publicKey = PublicJWK(
                        try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: content).publicKey)
                case EnclaveKeyMaker.inSoftware:
                    publicKey = PublicJWK(try P256.Signing.PrivateKey(rawRepresentation: content).publicKey)
                default: throw KeyError.corrupted("no key of the Enclave")
                }
            } catch { throw KeyError(error, "restore a key") }
        }

        func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] {
            let content = Data(blob.dropFirst())
            do {
                let signature =
                    blob.first == EnclaveKeyMaker.inEnclave
                    ? try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: content).signature(for: message)
                    : try P256.Signing.PrivateKey(rawRepresentation: content).signature(for: message)
                return Array(signature.rawRepresentation)
            } catch { throw KeyError(error, "sign") }
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
