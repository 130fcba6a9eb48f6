#if canImport(Security)
    internal import Foundation
    internal import Security

    struct SystemKeychain: KeychainCalls {
        func add(_ item: KeychainItem, _ content: KeychainContent) -> KeychainStatus {
            let attributes = query(item).merging(attributes(content)) { $1 }
            return KeychainStatus(rawValue: SecItemAdd(attributes as CFDictionary, nil))
        }

        func copyMatching(_ item: KeychainItem) -> (status: KeychainStatus, content: KeychainContent?) {
            var query = query(item)
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            query[kSecReturnAttributes as String] = true
            query[kSecReturnData as String] = true
            var found: CFTypeRef?
            let status = KeychainStatus(rawValue: SecItemCopyMatching(query as CFDictionary, &found))
            guard status == .success, let attributes = found as? [String: Any],
                let data = attributes[kSecValueData as String] as? Data
            else { return (status, nil) }
            let version = attributes[kSecAttrGeneric as String] as? Data ?? Data()
            return (status, KeychainContent(data: Array(data), version: Array(version)))
        }

        func update(_ item: KeychainItem, version: [UInt8]?, _ change: KeychainChange) -> KeychainStatus {
            let attributes: [String: Any] =
                switch change {
                case .content(let content): attributes(content)
                case .account(let account): [kSecAttrAccount as String: account]
                }
            return KeychainStatus(
                rawValue: SecItemUpdate(query(item, version) as CFDictionary, attributes as CFDictionary))
        }

        func delete(_ item: KeychainItem, version: [UInt8]?) -> KeychainStatus {
            KeychainStatus(rawValue: SecItemDelete(query(item, version) as CFDictionary))
        }

        /// The attributes that find an item. The class of protection is not among them, so that an item of another class is found.
        private func query(_ item: KeychainItem, _ version: [UInt8]? = nil) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: item.service,
                kSecAttrAccount as String: item.account,
                kSecAttrSynchronizable as String: false,
                kSecUseDataProtectionKeychain as String: true,
            ]
            if let group = item.accessGroup { query[kSecAttrAccessGroup as String] = group }
            if let version { query[kSecAttrGeneric as String] = Data(version) }
            return query
        }

        private func attributes(_ content: KeychainContent) -> [String: Any] {
            [
                kSecValueData as String: Data(content.data),
                kSecAttrGeneric as String: Data(content.version),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
        }
    }

    extension KeychainSignals {
        /// Signals between processes by Darwin notifications, and those of the system inside this process.
        ///
        /// The names of the system's notifications are written out, because the constants belong to `UIApplication`, which
        /// extensions must not use. A signal that does not come costs nothing: each call loads the record again.
        static func system(for item: KeychainItem) -> KeychainSignals {
            let name = "sojourn.\(item.service).\(item.account)"
            let hints = [
                "UIApplicationProtectedDataDidBecomeAvailable", "UIApplicationWillEnterForegroundNotification",
                "NSExtensionHostWillEnterForegroundNotification",
            ]
            return KeychainSignals(
                post: { DarwinNotification.post(name) },
                stream: {
                    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                        let notification = DarwinNotification(name) { continuation.yield() }
                        let tasks = hints.map { hint in
                            Task {
                                for await _ in NotificationCenter.default.notifications(named: .init(hint)).map({ _ in }
                                ) {
                                    continuation.yield()
                                }
                            }
                        }
                        continuation.onTermination = { _ in
                            notification.end()
                            for task in tasks { task.cancel() }
                        }
                    }
                })
        }
    }

    /// An observer of a notification that all processes of a device can post.
    private final class DarwinNotification: Sendable {
        private let name: String
        private let onPost: @Sendable () -> Void

        init(_ name: String, onPost: @escaping @Sendable () -> Void) {
            self.name = name
            self.onPost = onPost
            // The observer is retained until `end`.
            CFNotificationCenterAddObserver(
                CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passRetained(self).toOpaque(),
                { _, observer, _, _, _ in
                    guard let observer else { return }
                    Unmanaged<DarwinNotification>.fromOpaque(observer).takeUnretainedValue().onPost()
                }, name as CFString, nil, .deliverImmediately)
        }

        func end() {
            let observer = Unmanaged.passUnretained(self)
            CFNotificationCenterRemoveObserver(
                CFNotificationCenterGetDarwinNotifyCenter(), observer.toOpaque(),
                CFNotificationName(name as CFString), nil)
            observer.release()
        }

        static func post(_ name: String) {
            CFNotificationCenterPostNotification(
                CFNotificationCenterGetDarwinNotifyCenter(), CFNotificationName(name as CFString), nil, nil, true)
        }
    }
#endif
