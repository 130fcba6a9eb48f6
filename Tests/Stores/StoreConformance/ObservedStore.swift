import Locks
import Sessions

/// A store that notes its calls, and on which something can happen before each of them.
struct ObservedStore: Store {
    /// The calls of a request, as far as they read or write rows.
    enum Call: Sendable { case read, write, changeSession, session, catalogue }

    private let store: any Store
    private let happening: @Sendable (Call) async throws(StoreError) -> Void
    private let noted = Locked<[Call]>([])

    /// The calls since the beginning, or since `forget`.
    var calls: [Call] { noted.withLock { $0 } }

    /// A store over another one.
    ///
    /// - Parameter happening: runs before each call.
    init(
        _ store: any Store, before happening: @escaping @Sendable (Call) async throws(StoreError) -> Void = { _ in }
    ) {
        (self.store, self.happening) = (store, happening)
    }

    /// Begins to note anew.
    func forget() { noted.withLock { $0 = [] } }

    private func note(_ call: Call) async throws(StoreError) {
        noted.withLock { $0.append(call) }
        try await happening(call)
    }

    func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await note(.read)
        return try await store.read(length, body)
    }

    func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await note(.write)
        return try await store.write(scope, body)
    }

    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        try await note(.changeSession)
        return try await store.changeSession(id, change, preparing: prepare)
    }

    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        try await note(.session)
        return try await store.session(id)
    }

    func catalogue() async throws(StoreError) -> Catalogue {
        try await note(.catalogue)
        return try await store.catalogue()
    }

    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
        try await store.revocations(after: cursor, at: now, limit: limit)
    }

    func lastRevocation() async throws(StoreError) -> Int64 { try await store.lastRevocation() }
    func lastAssignedRevocation() async throws(StoreError) -> Int64 { try await store.lastAssignedRevocation() }

    var keyRevision: Int64 { store.keyRevision }

    func databaseLife() async throws(StoreError) -> String { try await store.databaseLife() }

    func ping() async throws(StoreError) { try await store.ping() }
}
