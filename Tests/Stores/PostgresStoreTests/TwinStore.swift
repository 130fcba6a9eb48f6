import Sessions

/// Two stores, of which each call asks both. What comes back must be the same.
struct TwinStore: Store {
    let first: any Store
    let second: any Store

    init(_ first: any Store, _ second: any Store) { (self.first, self.second) = (first, second) }

    private func both<Value>(
        _ call: (any Store) async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let (one, other) = (try await call(first), try await call(second))
        guard isSame(one, other) else { throw .corrupted("the stores differ: \(one) and \(other)") }
        return one
    }

    private func isSame<Value>(_ one: Value, _ other: Value) -> Bool {
        if let one = one as? any Equatable { return one.isEqual(to: other) }
        return String(reflecting: one) == String(reflecting: other)
    }

    func read<Outcome: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.read(length, body) }
    }

    func write<Outcome: Sendable>(
        _ scope: TransactionScope,
        _ body: @escaping @Sendable (any StoreTransaction) throws(TransactionError) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await both { (store) async throws(StoreError) in try await store.write(scope, body) }
    }

    /// What both stores lay before `change`, and what it makes of it, must be the same: it keeps the outcome of the second one alone.
    func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        let seen = try await both { (store) async throws(StoreError) in
            try await store.updateSession(id) { edit -> String in
                let before = String(reflecting: edit.record)
                change(&edit)
                return before + String(reflecting: edit.session) + String(reflecting: edit.events)
            }
        }
        if seen != nil { prepare() }
        return seen != nil
    }

    func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        try await both { (store) async throws(StoreError) in try await store.session(id) }
    }

    func catalogue() async throws(StoreError) -> Catalogue {
        try await both { (store) async throws(StoreError) in try await store.catalogue() }
    }

    /// Numbers differ: SQLite's are those of events. So does the order of sessions that end with one change.
    func revocations(after cursor: Int64, at now: Instant, limit: Int) async throws(StoreError) -> [Revocation] {
        _ = try await both { (store) async throws(StoreError) in
            try await store.revocations(after: cursor, at: now, limit: limit).map { revocation in
                var revocation = revocation
                revocation.number = 0
                return String(reflecting: revocation)
            }.sorted()
        }
        return try await first.revocations(after: cursor, at: now, limit: limit)
    }

    func lastRevocation() async throws(StoreError) -> Int64 { 0 }

    func lastAssignedRevocation() async throws(StoreError) -> Int64 { 0 }

    var keyRevision: Int64 { first.keyRevision }

    /// Each of the two has its own.
    func databaseLife() async throws(StoreError) -> String { "" }

    func ping() async throws(StoreError) {
        try await both { (store) async throws(StoreError) in try await store.ping() }
    }
}

extension Equatable {
    fileprivate func isEqual(to other: some Any) -> Bool { (other as? Self) == self }
}
