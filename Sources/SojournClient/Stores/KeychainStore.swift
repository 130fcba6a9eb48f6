/// Keeps the record in the Keychain of Apple platforms.
///
/// The item is readable after the first unlock of the device, also in the background and while the device is locked again, and
/// it never leaves the device. Each write gives it a new random version, and replaces only the version that was read: the
/// Keychain compares and writes in one transaction, so that no process ever holds a lock.
///
/// A store that finds no item adds one with the account `probe`, because only an unlocked Keychain can be believed.
///
/// The item survives when the app is deleted and installed again. `Sojourn.forgetDevice()` removes it.
public struct KeychainStore: SessionStore {
    private let access: KeychainAccess
    private let signals: KeychainSignals
    private let queue = BlockingQueue()

    #if canImport(Security)
        /// A store in the system's Keychain.
        ///
        /// - Parameters:
        ///   - service: `kSecAttrService` of the item.
        ///   - account: `kSecAttrAccount` of the item.
        ///   - accessGroup: shares the item with other apps and extensions of the team.
        public init(service: String = "sojourn", account: String, accessGroup: String? = nil) {
            let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
            self.init(item, calls: SystemKeychain(), signals: .system(for: item))
        }
    #endif

    /// A store in a Keychain of the caller's choice.
    package init(_ item: KeychainItem, calls: any KeychainCalls, signals: KeychainSignals = .none) {
        access = KeychainAccess(calls: calls, item: item)
        self.signals = signals
    }

    /// The record; nil if there certainly is no item.
    public func load() async throws(StoreError) -> StoredRecord? {
        try await run { access throws(StoreError) in
            guard let content = try access.read() else { return nil }
            guard !content.version.isEmpty else { throw .corrupted("the item has no version") }
            _ = try SessionRecord(parsing: content.data)
            return StoredRecord(version: RecordVersion(content.version), bytes: content.data)
        }
    }

    /// Replaces the item if it still has that version.
    public func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
        let isDone = try await run { access throws(StoreError) in
            switch (expected, bytes) {
            case (nil, nil): try access.read() == nil
            case (nil, let bytes?): try access.add(Self.content(bytes))
            case (let expected?, let bytes?): try access.update(expected.bytes, to: Self.content(bytes))
            case (let expected?, nil): try access.delete(expected.bytes)
            }
        }
        if isDone { signals.post() }
        return isDone
    }

    /// Renames an item that is no record. Its account becomes `ACCOUNT.unreadable-…`.
    public func setAside() async throws(StoreError) {
        try await run { access throws(StoreError) in
            try access.moveAside { content in
                guard let content, !content.version.isEmpty else { return true }
                return (try? SessionRecord(parsing: content.data)) == nil
            }
        }
    }

    /// Yields when another process has written, when the device was unlocked, and when the app comes to the foreground.
    public var changes: AsyncStream<Void> { signals.stream() }

    private static func content(_ bytes: [UInt8]) -> KeychainContent {
        KeychainContent(data: bytes, version: SmallCrypto.randomBytes(count: 16))
    }

    private func run<Success: Sendable>(
        _ body: @escaping @Sendable (KeychainAccess) throws(StoreError) -> Success
    ) async throws(StoreError) -> Success {
        try await queue.run { [access] () throws(StoreError) in try body(access) }
    }
}

/// How the processes of one item tell each other of writes.
package struct KeychainSignals: Sendable {
    /// Tells the others.
    package var post: @Sendable () -> Void
    /// Yields when another one has written, or when a read is worth another try.
    package var stream: @Sendable () -> AsyncStream<Void>

    package init(post: @escaping @Sendable () -> Void, stream: @escaping @Sendable () -> AsyncStream<Void>) {
        self.post = post
        self.stream = stream
    }

    /// No signals.
    package static let none = KeychainSignals(post: {}, stream: { AsyncStream { $0.finish() } })
}
