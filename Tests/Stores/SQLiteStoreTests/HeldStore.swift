import Dispatch
import Sessions
import SQLiteStore

/// A store with a writer that is held up by a change, which waits until `release` is called.
struct HeldStore {
    let store: SQLiteStore
    private let gate = DispatchSemaphore(value: 0)
    private let holding: Task<Void, any Error>

    init(_ store: SQLiteStore) async throws {
        self.store = store
        let gate = gate
        let reached = AsyncStream<Void>.makeStream()
        holding = Task {
            try await store.updateSettings { _ in
                reached.continuation.finish()
                gate.wait()
            }
        }
        for await _ in reached.stream {}
    }

    /// Returns when `count` changes wait behind the one that holds the writer.
    func waiting(_ count: Int) async {
        while store.waitingChanges < count { await Task.yield() }
    }

    func release() async throws {
        gate.signal()
        try await holding.value
    }
}
