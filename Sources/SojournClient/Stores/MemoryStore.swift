/// Keeps the record in memory: for tests, and for sessions that end with the process.
public struct MemoryStore: SessionStore {
    private struct Content {
        var record: StoredRecord?
        /// Records that could not be read.
        var unreadable: [[UInt8]] = []
        var lastVersion: UInt64 = 0
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastObserver = 0
    }

    private let content = LockedState(Content())

    /// An empty store. Copies share the record.
    public init() {}

    /// A store that holds these bytes.
    package init(_ bytes: [UInt8]) {
        content.withLock { $0.record = StoredRecord(version: RecordVersion([0]), bytes: bytes) }
    }

    /// The record.
    public func load() async throws(StoreError) -> StoredRecord? {
        guard let record = content.withLock({ $0.record }) else { return nil }
        _ = try SessionRecord(parsing: record.bytes)
        return record
    }

    /// Replaces the record if it still has that version.
    public func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
        let observers = content.withLock { content -> [AsyncStream<Void>.Continuation]? in
            guard content.record?.version == expected else { return nil }
            content.lastVersion += 1
            let version = (0..<8).map { UInt8(truncatingIfNeeded: content.lastVersion >> (8 * $0)) }
            content.record = bytes.map { StoredRecord(version: RecordVersion(version), bytes: $0) }
            return Array(content.observers.values)
        }
        for observer in observers ?? [] { observer.yield() }
        return observers != nil
    }

    /// Moves bytes that are no record out of the way.
    public func setAside() async throws(StoreError) {
        content.withLock { content in
            guard let bytes = content.record?.bytes, (try? SessionRecord(parsing: bytes)) == nil else { return }
            content.unreadable.append(bytes)
            content.record = nil
        }
    }

    /// Yields after each write, also of the caller.
    public var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = content.withLock { content in
                content.lastObserver += 1
                content.observers[content.lastObserver] = continuation
                return content.lastObserver
            }
            continuation.onTermination = { [content] _ in
                content.withLock { $0.observers[id] = nil }
            }
        }
    }

    /// What was set aside.
    package var unreadable: [[UInt8]] { content.withLock { $0.unreadable } }
}
