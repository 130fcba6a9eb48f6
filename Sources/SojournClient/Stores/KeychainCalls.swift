/// The calls of the Keychain that the SDK makes. The logic above them is tested everywhere with a fake.
package protocol KeychainCalls: Sendable {
    /// `SecItemAdd`.
    func add(_ item: KeychainItem, _ content: KeychainContent) -> KeychainStatus
    /// `SecItemCopyMatching`. The content is nil unless the status is `success`.
    func copyMatching(_ item: KeychainItem) -> (status: KeychainStatus, content: KeychainContent?)
    /// `SecItemUpdate` of the item, if it has that version (nil: whatever it has). Query and update are one transaction.
    func update(_ item: KeychainItem, version: [UInt8]?, _ change: KeychainChange) -> KeychainStatus
    /// `SecItemDelete` of the item, if it has that version (nil: whatever it has).
    func delete(_ item: KeychainItem, version: [UInt8]?) -> KeychainStatus
}

/// What identifies an item: a generic password that stays on this device (`kSecAttrSynchronizable` is false), in the data
/// protection keychain.
package struct KeychainItem: Hashable, Sendable {
    /// `kSecAttrService`.
    package var service: String
    /// `kSecAttrAccount`.
    package var account: String
    /// `kSecAttrAccessGroup`; nil: the app's first one.
    package var accessGroup: String?

    package init(service: String, account: String, accessGroup: String? = nil) {
        self.service = service
        self.account = account
        self.accessGroup = accessGroup
    }

    /// An item with another account.
    func named(_ account: String) -> KeychainItem {
        KeychainItem(service: service, account: account, accessGroup: accessGroup)
    }
}

/// What an item holds. Each write gives it the class `AfterFirstUnlockThisDeviceOnly`.
package struct KeychainContent: Hashable, Sendable {
    /// `kSecValueData`.
    package var data: [UInt8]
    /// `kSecAttrGeneric`.
    package var version: [UInt8]

    package init(data: [UInt8], version: [UInt8]) {
        self.data = data
        self.version = version
    }
}

/// A change of an item.
package enum KeychainChange: Hashable, Sendable {
    case content(KeychainContent)
    /// Another account. The content stays.
    case account(String)
}

/// A result of the Keychain (`OSStatus`).
package struct KeychainStatus: RawRepresentable, Hashable, Sendable, Error {
    package var rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let success = KeychainStatus(rawValue: 0)
    /// `errSecDuplicateItem`.
    package static let duplicateItem = KeychainStatus(rawValue: -25299)
    /// `errSecItemNotFound`. An app that is started before the first unlock gets it for items that exist.
    package static let itemNotFound = KeychainStatus(rawValue: -25300)
    /// `errSecInteractionNotAllowed`: the device is locked, or has not been unlocked since its start.
    package static let interactionNotAllowed = KeychainStatus(rawValue: -25308)
    /// `errSecMissingEntitlement`: the app is not signed for the access group, or not signed at all.
    package static let missingEntitlement = KeychainStatus(rawValue: -34018)
    /// `errSecNoAccessForItem`.
    package static let noAccessForItem = KeychainStatus(rawValue: -25243)
    /// `errSecDecode`: the item cannot be decrypted.
    package static let decode = KeychainStatus(rawValue: -26275)
}

extension StoreError {
    /// The meaning of a status that is no success.
    init(_ status: KeychainStatus, _ action: String) {
        self =
            switch status {
            case .interactionNotAllowed: .locked
            case .missingEntitlement, .noAccessForItem: .denied(status.rawValue)
            case .decode: .corrupted("the Keychain cannot decrypt the item")
            default: .failed(status.rawValue, action)
            }
    }
}

extension KeyError {
    /// The failure of a key, from that of the store of its bytes.
    init(_ error: StoreError) {
        self =
            switch error {
            case .locked: .locked
            case .denied(let code): .denied(code)
            case .corrupted(let detail): .corrupted(detail)
            case .failed(let code, let action): .failed(code, action)
            }
    }
}
