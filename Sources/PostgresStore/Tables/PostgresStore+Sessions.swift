public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`. The hot path. `prepare` runs after the commit, because a commit here takes too long for the order to
    /// matter.
    public func changeSession(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Void,
        preparing prepare: () -> Void
    ) async throws(StoreError) -> Bool {
        guard try await batched(id, change, { updateBatched($0) }) != nil else { return false }
        prepare()
        return true
    }

    /// See `Store`. Sees every change that any node has acknowledged before.
    public func session(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        try await batched(id, { $0.record }) { readBatched($0) }
    }

    private func batched<Outcome: Sendable>(
        _ id: Identifier<Session>, _ change: @escaping @Sendable (inout SessionChange) -> Outcome,
        _ submit: (PendingSessionChange) -> Void
    ) async throws(StoreError) -> Outcome? {
        let result: Result<Outcome?, StoreError> = await withCheckedContinuation { continuation in
            submit(
                PendingSessionChange(
                    id: id, waitingSince: options.now(),
                    run: { edit in
                        let outcome = change(&edit)
                        return { continuation.resume(returning: .success(outcome)) }
                    },
                    notFound: { continuation.resume(returning: .success(nil)) },
                    refuse: { continuation.resume(returning: .failure($0)) }))
        }
        return try result.get()
    }

    /// See `Store`. A session that changes during the step is kept.
    public func sweepSessions(
        after cursor: Identifier<Session>?, limit: Int,
        _ isForgotten: @escaping @Sendable (SessionRecord) -> Bool
    ) async throws(StoreError) -> SweepStep {
        let catalogue = try await catalogue()
        return try await change(nil) { (transaction) throws(DatabaseError) in
            let step = try transaction.run(SessionSQL.selectStep(after: cursor, limit: limit))
                .map { (row) throws(CorruptRow) in try SessionSQL.readStored(&row) }
            var (ids, revisions) = (ArrayParameter(of: .uuid), ArrayParameter(of: .bigint))
            for stored in step where isForgotten(catalogue.record(of: stored.session, stored.user)) {
                ids.append(stored.session.id)
                revisions.append(stored.revision)
            }
            let deleted = try transaction.run(SessionSQL.delete(ids, revisions)).changedCount
            return SweepStep(cursor: step.count < limit ? nil : step.last?.session.id, deleted: deleted)
        }
    }
}
