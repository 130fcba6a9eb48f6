import Locks
import Sessions

/// A store that counts its reads, and notes its calls.
struct ReadCountingStore: Store {
    let store: any Store
    let reads = Locked(0)
    let calls = Locked<[String]>([])

    private func note(_ call: String) { calls.withLock { $0.append(call) } }

    func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        reads.withLock { $0 += 1 }
        note("read")
        return try await store.read(length, body)
    }

    func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        note("write")
        return try await store.write(scope, body)
    }

    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        note("changeSession")
        return try await store.changeSession(id, change, preparing: prepare)
    }

    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        note("session")
        return try await store.session(id)
    }

    func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int, _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep {
        try await store.sweepSessions(after: cursor, limit: limit, isForgotten)
    }

    func catalogue() async throws(StoreError) -> Catalogue {
        note("catalogue")
        return try await store.catalogue()
    }

    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
        try await store.revocations(after: cursor, at: now, limit: limit)
    }

    func lastRevocation() async throws(StoreError) -> Int64 { try await store.lastRevocation() }

    var keyRevision: Int64 { store.keyRevision }

    func databaseLife() async throws(StoreError) -> String { try await store.databaseLife() }

    func ping() async throws(StoreError) { try await store.ping() }
}
