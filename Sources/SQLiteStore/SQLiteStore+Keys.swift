public import Sessions

extension SQLiteStore {
    /// See `Store`. Nobody else changes them.
    public var keyRevision: Int64 { 0 }

    /// See `Store`. In the order in which the keys were made.
    public func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.all(KeyRow.selectSigningKeys) { row in KeyRow.readSigningKey(&row) }
            var keys = old
            var events: [AuditEvent] = []
            let outcome = change(&keys, &events)
            for key in old where !keys.contains(where: { $0.id == key.id }) {
                try connection.execute(KeyRow.deleteSigningKey, key.id)
            }
            for key in keys where !old.contains(key) {
                try connection.execute(
                    KeyRow.replaceSigningKey, key.id, key.algorithm, key.sealedPrivateKey, key.createdAt,
                    key.activeFrom, key.retiredAt)
            }
            try EventRow.insert(events, connection)
            return outcome
        }
    }

    /// See `Store`.
    public func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.all(KeyRow.selectAdminKeys) { row in KeyRow.readAdminKey(&row) }
            var keys = old
            var events: [AuditEvent] = []
            let outcome = change(&keys, &events)
            for key in old where !keys.contains(where: { $0.id == key.id }) {
                try connection.execute(KeyRow.deleteAdminKey, key.id)
            }
            for key in keys where !old.contains(key) {
                try connection.execute(KeyRow.replaceAdminKey, key.id, key.name, key.hash, key.createdAt)
            }
            try EventRow.insert(events, connection)
            return outcome
        }
    }

    /// See `Store`. In the order in which the keys were made.
    public func adminKeys() async throws(StoreError) -> [AdminKey] {
        try await read { (snapshot) throws(DatabaseError) -> [AdminKey] in
            try snapshot.connection.all(KeyRow.selectAdminKeys) { row in KeyRow.readAdminKey(&row) }
        }
    }
}

/// Every statement about keys, and how their rows become values.
enum KeyRow {
    static let selectSigningKeys = Query(
        """
        SELECT id, algorithm, sealed_private_key, created_at, active_at, retired_at FROM signing_keys
        ORDER BY created_at, rowid
        """)
    static let replaceSigningKey = Query(
        """
        INSERT INTO signing_keys (id, algorithm, sealed_private_key, created_at, active_at, retired_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (id) DO UPDATE SET algorithm = ?2, sealed_private_key = ?3, created_at = ?4, active_at = ?5,
            retired_at = ?6
        """)
    static let deleteSigningKey = Query("DELETE FROM signing_keys WHERE id = ?")

    static let selectAdminKeys = Query("SELECT id, name, hash, created_at FROM admin_keys ORDER BY created_at, rowid")
    static let replaceAdminKey = Query(
        """
        INSERT INTO admin_keys (id, name, hash, created_at) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (id) DO UPDATE SET name = ?2, hash = ?3, created_at = ?4
        """)
    static let deleteAdminKey = Query("DELETE FROM admin_keys WHERE id = ?")

    static func readSigningKey(_ row: inout Row) -> StoredSigningKey {
        StoredSigningKey(
            id: row.text(), algorithm: row.text(), sealedPrivateKey: row.bytes(), createdAt: row.instant(),
            activeFrom: row.instant(), retiredAt: row.isNull ? nil : row.instant())
    }

    static func readAdminKey(_ row: inout Row) -> AdminKey {
        AdminKey(id: row.text(), name: row.text(), hash: row.bytes(), createdAt: row.instant())
    }
}
