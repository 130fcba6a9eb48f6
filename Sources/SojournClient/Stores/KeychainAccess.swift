/// Reads and writes one item, and knows what the answers of the Keychain mean. Its calls block.
struct KeychainAccess: Sendable {
    let calls: any KeychainCalls
    let item: KeychainItem

    /// The content; nil only if there certainly is no item.
    ///
    /// "Not found" is believed only if an item can be added at present. Before the first unlock after a start of the device, the
    /// Keychain does not find what is there, and adding answers that the device is locked.
    func read() throws(StoreError) -> KeychainContent? {
        let (status, content) = calls.copyMatching(item)
        switch status {
        case .success:
            guard let content else { throw .corrupted("the item has no data") }
            return content
        case .itemNotFound:
            let probe = calls.add(item.named("probe"), KeychainContent(data: [0], version: [0]))
            guard probe == .success || probe == .duplicateItem else { throw StoreError(probe, "add a probe") }
            return nil
        default: throw StoreError(status, "read")
        }
    }

    /// Adds the item. Returns false if there is one.
    func add(_ content: KeychainContent) throws(StoreError) -> Bool {
        try did(calls.add(item, content), unless: .duplicateItem, "add")
    }

    /// Replaces the content if it has that version. Returns false if it has another one.
    func update(_ version: [UInt8], to content: KeychainContent) throws(StoreError) -> Bool {
        try did(calls.update(item, version: version, .content(content)), unless: .itemNotFound, "update")
    }

    /// Deletes the item if it has that version (nil: whatever it has). Returns false if it has another one.
    func delete(_ version: [UInt8]?) throws(StoreError) -> Bool {
        try did(calls.delete(item, version: version), unless: .itemNotFound, "delete")
    }

    /// Renames the item, if it is there and `isWanted` says so of its content (nil: it cannot be read).
    func moveAside(if isWanted: (KeychainContent?) -> Bool) throws(StoreError) {
        let (status, content) = calls.copyMatching(item)
        guard status != .itemNotFound else { return }
        guard status == .success || status == .decode else { throw StoreError(status, "read") }
        guard isWanted(content) else { return }
        let name = "\(item.account).unreadable-\(Base64URL.encode(SmallCrypto.randomBytes(count: 6)))"
        let moved = calls.update(item, version: content?.version, .account(name))
        // What the Keychain can neither decrypt nor rename is lost. It would only stand in the way.
        if moved == .decode { return _ = try delete(nil) }
        _ = try did(moved, unless: .itemNotFound, "rename")
    }

    private func did(
        _ status: KeychainStatus, unless other: KeychainStatus, _ action: String
    ) throws(StoreError) -> Bool {
        switch status {
        case .success: return true
        case other: return false
        default: throw StoreError(status, action)
        }
    }
}
