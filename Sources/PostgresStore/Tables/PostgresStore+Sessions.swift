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
}
