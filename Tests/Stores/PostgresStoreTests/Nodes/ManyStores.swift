import PostgresStore
import Sessions
import Synchronization

/// Several stores on one database, of which each call takes the next: what one has acknowledged, all must know.
final class ManyStores: Store {
    private let stores: [PostgresStore]
    private let calls = Atomic<Int>(0)

    init(_ stores: [PostgresStore]) { self.stores = stores }

    private var next: PostgresStore {
        stores[calls.wrappingAdd(1, ordering: .relaxed).newValue % stores.count]
    }

    func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome { try await next.read(length, body) }

    func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome { try await next.write(scope, body) }

    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool { try await next.changeSession(id, change, preparing: prepare) }

    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? { try await next.session(id) }

    func catalogue() async throws(StoreError) -> Catalogue { try await next.catalogue() }

    var keyRevision: Int64 { next.keyRevision }

    func databaseLife() async throws(StoreError) -> String { try await next.databaseLife() }

    func ping() async throws(StoreError) { try await next.ping() }
}
