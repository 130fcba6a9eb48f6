// Signing keys and admin keys. Each list is edited as a whole, one change after the other.

extension Store {
    /// Lets `change` edit the list of signing keys, in the order in which they were made. A `change` that leaves the list
    /// unchanged only reads it.
    public func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write(.keys) { (transaction) throws(TransactionError) in
            let old = try transaction.signingKeys().value()
            var (keys, events) = (old, [] as [AuditEvent])
            let outcome = change(&keys, &events)
            if keys != old {
                let (written, deleted) = difference(from: old, to: keys, id: \.id)
                transaction.write(written, deleting: deleted)
            }
            transaction.append(events)
            return outcome
        }
    }

    /// Lets `change` edit the list of admin keys.
    public func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write(.keys) { (transaction) throws(TransactionError) in
            let old = try transaction.adminKeys().value()
            var (keys, events) = (old, [] as [AuditEvent])
            let outcome = change(&keys, &events)
            let (written, deleted) = difference(from: old, to: keys, id: \.id)
            transaction.write(written, deleting: deleted)
            transaction.append(events)
            return outcome
        }
    }

    /// The admin keys, in the order in which they were made.
    public func adminKeys() async throws(StoreError) -> [AdminKey] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.adminKeys().value() }
    }
}

/// The keys that are new or changed, and the ids of the deleted keys.
private func difference<Key: Equatable>(
    from old: [Key], to new: [Key], id: (Key) -> String
) -> (written: [Key], deleted: [String]) {
    let ids = Set(new.map(id))
    return (new.filter { !old.contains($0) }, old.map(id).filter { !ids.contains($0) })
}
