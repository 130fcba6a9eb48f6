import SojournClient
import SojournTestKit

/// What a store refuses at present.
final class StoreFailures: Sendable {
    enum Failure: String, Sendable {
        /// Nothing can be read, as before the first unlock of a phone, and nothing written.
        case read
        /// Nothing can be written.
        case write
        case none
    }

    private let failure = Guarded(Failure.none)

    func set(_ new: Failure) { failure.withLock { $0 = new } }

    var current: Failure { failure.withLock { $0 } }
}

/// A store that fails when it is told to.
struct FailingStore: SessionStore {
    let base: FileStore
    let failures: StoreFailures

    func load() async throws(StoreError) -> StoredRecord? {
        guard failures.current != .read else { throw .locked }
        return try await base.load()
    }

    func replace(_ expected: RecordVersion?, with bytes: [UInt8]?) async throws(StoreError) -> Bool {
        switch failures.current {
        case .read: throw .locked
        case .write: throw .failed(28, "write")
        case .none: return try await base.replace(expected, with: bytes)
        }
    }

    func setAside() async throws(StoreError) { try await base.setAside() }

    var changes: AsyncStream<Void> { base.changes }
}
