public import SojournClient

/// A Keychain in memory, in every condition that a device brings it into. Processes that share it are stores and keys made by
/// separate calls of `store` and `keys`.
public final class FakeKeychain: Sendable {
    /// What keeps the Keychain from answering.
    public enum Condition: Hashable, Sendable {
        /// Nothing.
        case unlocked
        /// The device is locked, and the items are of a class that needs it unlocked.
        case locked
        /// The app was started before the first unlock after a start of the device. Items are not found although they exist.
        case beforeFirstUnlock
        /// The app has no entitlement for the Keychain.
        case unsigned
        /// Items exist and cannot be decrypted.
        case undecodable
        /// Every call returns this status.
        case failing(Int32)
    }

    fileprivate struct State {
        var items: [KeychainItem: KeychainContent] = [:]
        var condition = Condition.unlocked
        var failEvery: (count: Int, status: Int32)?
        var writes = 0
        var deletions = 0
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastListener = 0
    }

    private let state = Guarded(State())

    /// An empty Keychain of an unlocked device.
    public init() {}

    /// A store on this Keychain.
    public func store(account: String = "test") -> KeychainStore {
        KeychainStore(Self.item(account), calls: self, signals: signals)
    }

    /// Keys in this Keychain, in software.
    public func keys(account: String = "test") -> any DeviceKeyring { KeychainKeys(Self.item(account), calls: self) }

    /// The condition. After a change the stores that listen are told, as by the system.
    public var condition: Condition {
        get { state.withLock { $0.condition } }
        set {
            state.withLock { $0.condition = newValue }
            signals.post()
        }
    }

    /// Lets every write whose number is a multiple of `count` fail with `status`; nil: none.
    public func failWrites(every count: Int?, status: Int32 = -25308) {
        state.withLock { $0.failEvery = count.map { (max($0, 1), status) } }
    }

    /// How many items there are, without the probe that a store adds when it finds nothing.
    public var itemCount: Int { state.withLock { $0.items.keys.count { $0.account != "probe" } } }
    /// How many items were deleted.
    public var deletionCount: Int { state.withLock { $0.deletions } }
    /// How many calls were writes.
    public var writeCount: Int { state.withLock { $0.writes } }

    /// The accounts of the items.
    package var accounts: Set<String> { state.withLock { Set($0.items.keys.map(\.account)) } }

    /// Puts an item there, or removes it, as another app does.
    package func put(_ content: KeychainContent?, account: String = "test") {
        state.withLock { $0.items[Self.item(account)] = content }
    }

    /// The content of an item.
    package func content(account: String = "test") -> KeychainContent? {
        state.withLock { $0.items[Self.item(account)] }
    }

    private static func item(_ account: String) -> KeychainItem { KeychainItem(service: "sojourn", account: account) }

    private var signals: KeychainSignals {
        KeychainSignals(
            post: { [state] in
                for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
            },
            stream: { [state] in
                AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                    let id = state.withLock { state in
                        state.lastListener += 1
                        state.listeners[state.lastListener] = continuation
                        return state.lastListener
                    }
                    continuation.onTermination = { [state] _ in state.withLock { $0.listeners[id] = nil } }
                }
            })
    }
}

extension FakeKeychain: KeychainCalls {
    package func add(_ item: KeychainItem, _ content: KeychainContent) -> KeychainStatus {
        write { state in
            if state.condition == .beforeFirstUnlock { return .interactionNotAllowed }
            guard state.items[item] == nil else { return .duplicateItem }
            state.items[item] = content
            return .success
        }
    }

    package func copyMatching(_ item: KeychainItem) -> (status: KeychainStatus, content: KeychainContent?) {
        state.withLock { state in
            if let status = state.refusal { return (status, nil) }
            guard state.condition != .beforeFirstUnlock, let content = state.items[item] else {
                return (.itemNotFound, nil)
            }
            return state.condition == .undecodable ? (.decode, nil) : (.success, content)
        }
    }

    package func update(_ item: KeychainItem, version: [UInt8]?, _ change: KeychainChange) -> KeychainStatus {
        write { state in
            guard let content = state.found(item, version) else { return .itemNotFound }
            switch change {
            case .content(let new): state.items[item] = new
            case .account(let account):
                if state.condition == .undecodable { return .decode }
                let renamed = KeychainItem(service: item.service, account: account, accessGroup: item.accessGroup)
                guard state.items[renamed] == nil else { return .duplicateItem }
                state.items[item] = nil
                state.items[renamed] = content
            }
            return .success
        }
    }

    package func delete(_ item: KeychainItem, version: [UInt8]?) -> KeychainStatus {
        write { state in
            guard state.found(item, version) != nil else { return .itemNotFound }
            state.items[item] = nil
            state.deletions += 1
            return .success
        }
    }

    private func write(_ body: (inout State) -> KeychainStatus) -> KeychainStatus {
        state.withLock { state in
            state.writes += 1
            if let status = state.refusal { return status }
            if let (count, status) = state.failEvery, state.writes.isMultiple(of: count) {
                return KeychainStatus(rawValue: status)
            }
            return body(&state)
        }
    }
}

extension FakeKeychain.State {
    /// The status of every call; nil if calls are answered.
    fileprivate var refusal: KeychainStatus? {
        switch condition {
        case .unlocked, .beforeFirstUnlock, .undecodable: nil
        case .locked: .interactionNotAllowed
        case .unsigned: .missingEntitlement
        case .failing(let status): KeychainStatus(rawValue: status)
        }
    }

    /// The content of an item that a query finds.
    fileprivate func found(_ item: KeychainItem, _ version: [UInt8]?) -> KeychainContent? {
        guard condition != .beforeFirstUnlock, let content = items[item] else { return nil }
        return version == nil || version == content.version ? content : nil
    }
}
