public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`. The revision of the catalogue, which every call asks for, counts these changes too.
    public var keyRevision: Int64 { lastRevision }

    /// See `Store`. In the order in which the keys were made.
    public func updateSigningKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [StoredSigningKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await self.change(TransactionLock.keys.alone) { (transaction) throws(DatabaseError) in
            let old = try transaction.run(KeySQL.selectSigningKeys).map { row in SigningKeyColumns.read(&row) }
            var keys = old
            var events: [AuditEvent] = []
            let outcome = change(&keys, &events)
            for key in old where !keys.contains(where: { $0.id == key.id }) {
                transaction.add(Statement("DELETE FROM signing_keys WHERE id = $1::text", key.id))
            }
            for key in keys where !old.contains(key) { transaction.add(KeySQL.replace(key)) }
            if keys != old { transaction.add(CatalogueSQL.countUp) }
            for statement in EventSQL.insert(events) { transaction.add(statement) }
            return outcome
        }
    }

    /// See `Store`.
    public func updateAdminKeys<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout [AdminKey], inout [AuditEvent]) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await self.change(TransactionLock.keys.alone) { (transaction) throws(DatabaseError) in
            let old = try transaction.run(KeySQL.selectAdminKeys).map { (row) throws(CorruptRow) in
                try AdminKeyColumns.read(&row)
            }
            var keys = old
            var events: [AuditEvent] = []
            let outcome = change(&keys, &events)
            for key in old where !keys.contains(where: { $0.id == key.id }) {
                transaction.add(Statement("DELETE FROM admin_keys WHERE id = $1::text", key.id))
            }
            for key in keys where !old.contains(key) { transaction.add(KeySQL.replace(key)) }
            for statement in EventSQL.insert(events) { transaction.add(statement) }
            return outcome
        }
    }

    /// See `Store`. In the order in which the keys were made.
    public func adminKeys() async throws(StoreError) -> [AdminKey] {
        try await read([KeySQL.selectAdminKeys]) { (rows) throws(DatabaseError) in
            try rows[0].map { (row) throws(CorruptRow) in try AdminKeyColumns.read(&row) }
        }
    }
}

/// Every statement about keys.
enum KeySQL {
    static let selectSigningKeys = Statement(
        "SELECT \(SigningKeyColumns.all.list) FROM signing_keys ORDER BY created_at, number")
    static let selectAdminKeys = Statement(
        "SELECT \(AdminKeyColumns.all.list) FROM admin_keys ORDER BY created_at, number")

    static func replace(_ key: StoredSigningKey) -> Statement {
        Statement(
            """
            INSERT INTO signing_keys (\(SigningKeyColumns.all.list))
            VALUES ($1::text, $2::text, $3::bytea, $4::bigint, $5::bigint, $6::bigint)
            ON CONFLICT (id) DO UPDATE SET \(SigningKeyColumns.all.replacements)
            """
        ) { row in SigningKeyColumns.write(key, to: &row) }
    }

    static func replace(_ key: AdminKey) -> Statement {
        Statement(
            """
            INSERT INTO admin_keys (\(AdminKeyColumns.all.list))
            VALUES ($1::text, $2::text, $3::bytea, $4::bigint, $5::text, $6::bigint, $7::bigint)
            ON CONFLICT (id) DO UPDATE SET \(AdminKeyColumns.all.replacements)
            """
        ) { row in AdminKeyColumns.write(key, to: &row) }
    }
}
