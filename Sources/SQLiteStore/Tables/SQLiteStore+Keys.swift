public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`. Nobody else changes them.
    public var keyRevision: Int64 { 0 }

    /// See `Store`. In the order in which the keys were made.
    public func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.all(KeyRow.selectSigningKeys) { row in SigningKeyColumns.read(&row) }
            var keys = old
            var events: [AuditEvent] = []
            let outcome = change(&keys, &events)
            for key in old where !keys.contains(where: { $0.id == key.id }) {
                try connection.execute(KeyRow.deleteSigningKey, key.id)
            }
            for key in keys where !old.contains(key) {
                try connection.execute(KeyRow.replaceSigningKey) { row in SigningKeyColumns.write(key, to: &row) }
            }
            try EventRow.insert(events, in: transaction)
            return outcome
        }
    }

    /// See `Store`.
    public func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.all(KeyRow.selectAdminKeys) { (row) throws(CorruptRow) in
                try AdminKeyColumns.read(&row)
            }
            var keys = old
            var events: [AuditEvent] = []
            let outcome = change(&keys, &events)
            for key in old where !keys.contains(where: { $0.id == key.id }) {
                try connection.execute(KeyRow.deleteAdminKey, key.id)
            }
            for key in keys where !old.contains(key) {
                try connection.execute(KeyRow.replaceAdminKey) { row in AdminKeyColumns.write(key, to: &row) }
            }
            try EventRow.insert(events, in: transaction)
            return outcome
        }
    }

    /// See `Store`. In the order in which the keys were made.
    public func adminKeys() async throws(StoreError) -> [AdminKey] {
        try await read { (snapshot) throws(DatabaseError) -> [AdminKey] in
            try snapshot.connection.all(KeyRow.selectAdminKeys) { (row) throws(CorruptRow) in
                try AdminKeyColumns.read(&row)
            }
        }
    }
}

/// Every statement about keys.
enum KeyRow {
    static let selectSigningKeys = Query(
        "SELECT \(SigningKeyColumns.all.list) FROM signing_keys ORDER BY created_at, rowid")
    static let replaceSigningKey = Query(
        inserting: nil, SigningKeyColumns.all, into: "signing_keys",
        onConflict: "ON CONFLICT (id) DO UPDATE SET \(SigningKeyColumns.all.replacements)")
    static let deleteSigningKey = Query("DELETE FROM signing_keys WHERE id = ?")

    static let selectAdminKeys = Query("SELECT \(AdminKeyColumns.all.list) FROM admin_keys ORDER BY created_at, rowid")
    static let replaceAdminKey = Query(
        inserting: nil, AdminKeyColumns.all, into: "admin_keys",
        onConflict: "ON CONFLICT (id) DO UPDATE SET \(AdminKeyColumns.all.replacements)")
    static let deleteAdminKey = Query("DELETE FROM admin_keys WHERE id = ?")
}
