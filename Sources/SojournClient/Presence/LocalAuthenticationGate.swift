#if canImport(LocalAuthentication) && canImport(CryptoKit) && canImport(Security)
    internal import CryptoKit
    internal import Foundation
    internal import LocalAuthentication
    internal import Security

    /// Asks for Face ID, Touch ID or Optic ID.
    ///
    /// Both keys are in one Keychain item, which the system releases only after biometry, and which it deletes when the enrolled
    /// biometry changes (`biometryCurrentSet`) or the passcode is removed. The presence key itself is in the Secure Enclave, with
    /// the same condition. On a device without an Enclave it is in the item.
    ///
    /// The app's `Info.plist` needs `NSFaceIDUsageDescription`.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public struct LocalAuthenticationGate: PresenceGate {
        private let item: KeychainItem

        /// A gate whose items stand beside those of `KeychainStore(service:account:accessGroup:)`.
        public init(service: String = "sojourn", account: String, accessGroup: String? = nil) {
            item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
        }

        /// The gate for a session with the default store.
        public init(_ configuration: SojournConfiguration) {
            let name = StorageName(configuration)
            self.init(
                service: configuration.keychainService, account: "\(name.owner)/\(name.slot)",
                accessGroup: configuration.keychainAccessGroup)
        }

        /// The codes of `LAError` and `OSStatus`.
        public var platform: BiometryPlatform { .apple }

        /// What the system says of biometry and passcode now.
        public func availability() async -> GateAvailability {
            var error: NSError?
            let canAsk = LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
            let obstacle = canAsk ? nil : PresenceError(.apple, code: error?.code ?? 6)
            return GateAvailability(
                obstacle: obstacle,
                hasDeviceCredential: LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        }

        /// Makes both keys, after one prompt.
        public func enroll(reason: String) async throws(PresenceError) -> OpenGate {
            let id = Base64URL.encode(SmallCrypto.randomBytes(count: 12))
            return try await AuthenticatedContext(item: gateItem(id)).made(id: id, reason)
        }

        /// Opens both keys, after one prompt.
        public func unlock(_ id: String, reason: String) async throws(PresenceError) -> OpenGate {
            try await AuthenticatedContext(item: gateItem(id)).opened(id: id, reason)
        }

        /// Asks for the passcode. The system's prompt has no title.
        public func confirmWithDeviceCredential(title: String, text: String) async throws(PresenceError) {
            try await AuthenticatedContext(item: item).evaluate(.deviceOwnerAuthentication, text)
        }

        /// Deletes both keys.
        public func discard(_ id: String) async { _ = SystemKeychain().delete(gateItem(id), version: nil) }

        private func gateItem(_ id: String) -> KeychainItem { item.named("\(item.account)#gate-\(id)") }
    }

    /// One prompt, and what it allows until it is closed. An actor, because contexts cannot be shared between threads.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    private actor AuthenticatedContext {
        private static let inEnclave: UInt8 = 1
        private static let inSoftware: UInt8 = 2
        private static let sealingKeyCount = 32

        private let item: KeychainItem
        private let context = LAContext()
        private var blob: [UInt8] = []

        init(item: KeychainItem) { self.item = item }

        /// Shows a prompt.
        func evaluate(_ policy: LAPolicy, _ reason: String) async throws(PresenceError) {
            // The app has its own way to the password.
            context.localizedFallbackTitle = policy == .deviceOwnerAuthenticationWithBiometrics ? "" : nil
            let code: Int? = await withCheckedContinuation { continuation in
                context.evaluatePolicy(policy, localizedReason: reason) { isPresent, error in
                    let code = (error as NSError?)?.code ?? 1
                    continuation.resume(returning: isPresent ? nil : code)
                }
            }
            if let code { throw PresenceError(.apple, code: code) }
        }

        func made(id: String, _ reason: String) async throws(PresenceError) -> OpenGate {
            try await evaluate(.deviceOwnerAuthenticationWithBiometrics, reason)
            let sealingKey = SmallCrypto.randomBytes(count: Self.sealingKeyCount)
            do {
                blob = try newKey()
            } catch { throw PresenceError(.apple, code: (error as NSError).code) }
            var attributes = query()
            attributes[kSecAttrAccessControl as String] = try access([.biometryCurrentSet])
            attributes[kSecValueData as String] = Data(sealingKey + blob)
            let status = SecItemAdd(attributes as CFDictionary, nil)
            guard status == 0 else { throw PresenceError(.apple, code: Int(status)) }
            return try opened(id, sealingKey)
        }

        func opened(id: String, _ reason: String) async throws(PresenceError) -> OpenGate {
            // The question whether the item exists needs no prompt: a user whose biometry has changed is not asked in vain.
            let silent = LAContext()
            silent.interactionNotAllowed = true
            let existence = SecItemCopyMatching(query(silent) as CFDictionary, nil)
            if existence == KeychainStatus.itemNotFound.rawValue { throw PresenceError(.apple, code: Int(existence)) }
            try await evaluate(.deviceOwnerAuthenticationWithBiometrics, reason)
            var query = self.query()
            query[kSecReturnData as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status == 0 else { throw PresenceError(.apple, code: Int(status)) }
            guard let data = found as? Data, data.count > Self.sealingKeyCount else {
                throw PresenceError(.apple, code: Int(KeychainStatus.itemNotFound.rawValue))
            }
            blob = Array(data.dropFirst(Self.sealingKeyCount))
            return try opened(id, Array(data.prefix(Self.sealingKeyCount)))
        }

        private func opened(_ id: String, _ sealingKey: [UInt8]) throws(PresenceError) -> OpenGate {
            let publicKey: PublicJWK
            do { publicKey = try signer().publicKey } catch {
                throw PresenceError(.apple, code: (error as NSError).code)
            }
            return OpenGate(
                id: id, presenceKey: ContextKey(publicKey: publicKey, context: self), sealingKey: sealingKey,
                close: { await self.close() })
        }

        func sign(_ message: [UInt8]) throws(KeyError) -> [UInt8] {
            guard !blob.isEmpty else { throw .denied(KeychainStatus.interactionNotAllowed.rawValue) }
            do { return try signer().sign(message) } catch {
                throw .failed(Int32(truncatingIfNeeded: (error as NSError).code), "sign")
            }
        }

        func close() {
            context.invalidate()
            blob = []
        }

        // MARK: Keys

        private struct Signer {
            var publicKey: PublicJWK
            var sign: ([UInt8]) throws -> [UInt8]
        }

        private func newKey() throws -> [UInt8] {
            guard SecureEnclave.isAvailable else {
                return [Self.inSoftware] + Array(P256.Signing.PrivateKey().rawRepresentation)
            }
            let key = try SecureEnclave.P256.Signing.PrivateKey(
                accessControl: try access([.privateKeyUsage, .biometryCurrentSet]), authenticationContext: context)
            return [Self.inEnclave] + Array(key.dataRepresentation)
        }

        private func signer() throws -> Signer {
            let content = Data(blob.dropFirst())
            guard blob.first == Self.inEnclave else {
                let key = try P256.Signing.PrivateKey(rawRepresentation: content)
                return Signer(publicKey: PublicJWK(key.publicKey)) {
                    Array(try key.signature(for: $0).rawRepresentation)
                }
            }
            let key = try SecureEnclave.P256.Signing.PrivateKey(
                dataRepresentation: content, authenticationContext: context)
            return Signer(publicKey: PublicJWK(key.publicKey)) { Array(try key.signature(for: $0).rawRepresentation) }
        }

        // MARK: The item

        private func access(_ flags: SecAccessControlCreateFlags) throws(PresenceError) -> SecAccessControl {
            guard
                let access = SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, nil)
            else { throw PresenceError(.apple, code: 50) }
            return access
        }

        private func query(_ other: LAContext? = nil) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: item.service,
                kSecAttrAccount as String: item.account,
                kSecAttrSynchronizable as String: false,
                kSecUseDataProtectionKeychain as String: true,
                kSecUseAuthenticationContext as String: other ?? context,
            ]
            if let group = item.accessGroup { query[kSecAttrAccessGroup as String] = group }
            return query
        }
    }

    /// The presence key of an open context.
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    private struct ContextKey: DeviceKey {
        let publicKey: PublicJWK
        let context: AuthenticatedContext

        func sign(_ message: [UInt8]) async throws(KeyError) -> [UInt8] { try await context.sign(message) }
    }
#endif
