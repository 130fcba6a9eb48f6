/// The bytes of keys in the Keychain, each in an item of its own beside the record.
struct KeychainBlobs: KeyBlobs {
    private let item: KeychainItem
    private let calls: any KeychainCalls
    private let isReadable: @Sendable ([UInt8]) -> Bool
    private let queue = BlockingQueue()

    /// - Parameters:
    ///   - item: the item of the record.
    ///   - isReadable: whether bytes are a key.
    init(_ item: KeychainItem, calls: any KeychainCalls, isReadable: @escaping @Sendable ([UInt8]) -> Bool) {
        self.item = item
        self.calls = calls
        self.isReadable = isReadable
    }

    func blob(_ name: KeyName) async throws(KeyError) -> [UInt8]? {
        try await run(name) { access throws(StoreError) in try access.read()?.data }
    }

    func add(_ blob: [UInt8], _ name: KeyName) async throws(KeyError) -> Bool {
        try await run(name) { access throws(StoreError) in
            try access.add(KeychainContent(data: blob, version: SmallCrypto.randomBytes(count: 16)))
        }
    }

    func setAside(_ name: KeyName) async throws(KeyError) {
        try await run(name) { [isReadable] access throws(StoreError) in
            try access.moveAside { content in content.map { !isReadable($0.data) } ?? true }
        }
    }

    func delete(_ name: KeyName) async throws(KeyError) {
        _ = try await run(name) { access throws(StoreError) in
            // A key that is not found is gone only if the Keychain can tell.
            try access.read() == nil ? false : try access.delete(nil)
        }
    }

    private func run<Success: Sendable>(
        _ name: KeyName, _ body: @escaping @Sendable (KeychainAccess) throws(StoreError) -> Success
    ) async throws(KeyError) -> Success {
        let access = KeychainAccess(calls: calls, item: item.named("\(item.account)#\(name.rawValue)"))
        do throws(StoreError) {
            return try await queue.run { () throws(StoreError) in try body(access) }
        } catch { throw KeyError(error) }
    }
}

/// Software keys in a Keychain: the logic of `EnclaveKeys` for tests.
package struct KeychainKeys: DeviceKeyring {
    private let keyring: any DeviceKeyring

    /// Keys beside the record in `item`.
    package init(_ item: KeychainItem, calls: any KeychainCalls) {
        self.init(item, calls: calls, maker: SoftwareKeyMaker())
    }

    init(_ item: KeychainItem, calls: any KeychainCalls, maker: some KeyMaker) {
        let blobs = KeychainBlobs(item, calls: calls) { (try? maker.restore($0)) != nil }
        keyring = BlobKeyring(blobs: blobs, maker: maker)
    }

    package func key(_ name: KeyName) async throws(KeyError) -> (any DeviceKey)? { try await keyring.key(name) }
    package func makeKey(_ name: KeyName) async throws(KeyError) -> any DeviceKey { try await keyring.makeKey(name) }
    package func deleteKey(_ name: KeyName) async throws(KeyError) { try await keyring.deleteKey(name) }
}
