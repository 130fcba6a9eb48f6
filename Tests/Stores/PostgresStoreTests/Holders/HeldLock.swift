import Dispatch
import Locks

@testable import PostgresStore

/// Runs `body` while another node is in a transaction that has run `statement`. The transaction is committed afterwards.
func holding(_ statement: Statement, on url: String, _ body: () async throws -> Void) async throws {
    let other = try openStore(url)
    let (hasBegun, mayEnd) = (Locked(false), DispatchSemaphore(value: 0))
    async let holder: Void = other.change { (transaction) throws(DatabaseError) -> Void in
        defer { hasBegun.withLock { $0 = true } }
        _ = try transaction.run(statement)
        hasBegun.withLock { $0 = true }
        mayEnd.wait()
    }
    while !hasBegun.withLock({ $0 }) { await Task.yield() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    mayEnd.signal()
    try await holder
    await other.close()
    try result.get()
}

/// A connection without a store.
func connect(_ url: String) throws -> Connection {
    try Connection(url: url, patience: .seconds(10), names: StatementNames(areUsed: false), now: { .now })
}
