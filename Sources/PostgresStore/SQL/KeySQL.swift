internal import Sessions
internal import StoreFoundation

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
            VALUES (\(SigningKeyColumns.all.placeholders()))
            ON CONFLICT (id) DO UPDATE SET \(SigningKeyColumns.all.replacements)
            """
        ) { row in SigningKeyColumns.write(key, to: &row) }
    }

    static func replace(_ key: AdminKey) -> Statement {
        Statement(
            """
            INSERT INTO admin_keys (\(AdminKeyColumns.all.list))
            VALUES (\(AdminKeyColumns.all.placeholders()))
            ON CONFLICT (id) DO UPDATE SET \(AdminKeyColumns.all.replacements)
            """
        ) { row in AdminKeyColumns.write(key, to: &row) }
    }

    static func deleteSigningKey(_ id: String) -> Statement {
        Statement("DELETE FROM signing_keys WHERE id = $1::text", id)
    }

    static func deleteAdminKey(_ id: String) -> Statement {
        Statement("DELETE FROM admin_keys WHERE id = $1::text", id)
    }
}

/// Every statement about deliveries.
enum DeliverySQL {
    private static let columns = "name, " + DeliveryColumns.all.list

    static let selectAll = Statement("SELECT \(columns) FROM deliveries")

    static func read(_ rows: Rows) throws(DatabaseError) -> [String: DeliveryProgress] {
        try Dictionary(uniqueKeysWithValues: rows.map { row in (row.text(), DeliveryColumns.read(&row)) })
    }

    static func select(_ name: String) -> Statement {
        Statement("SELECT \(DeliveryColumns.all.list) FROM deliveries WHERE name = $1::text", name)
    }

    static func delete(_ name: String) -> Statement { Statement("DELETE FROM deliveries WHERE name = $1::text", name) }

    static func replace(_ name: String, _ progress: DeliveryProgress) -> Statement {
        Statement(
            """
            INSERT INTO deliveries (\(columns)) VALUES ($1, \(DeliveryColumns.all.placeholders(from: 2)))
            ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor, \(DeliveryColumns.all.replacements)
            """
        ) { row in
            row.add(name)
            DeliveryColumns.write(progress, to: &row)
        }
    }
}

/// Every statement about the state of the clean-up, which is one row.
enum CleanUpSQL {
    static let select = Statement("SELECT \(CleanUpColumns.all.list) FROM clean_up WHERE id = 1")

    static let selectForUpdate = Statement("SELECT \(CleanUpColumns.all.list) FROM clean_up WHERE id = 1 FOR UPDATE")

    static func read(_ row: inout Row) throws(CorruptRow) -> CleanUp { try CleanUpColumns.read(&row) }

    /// Begins the walk along all sessions, or lets it go once more to where it is.
    static let walk = Statement(
        """
        UPDATE clean_up SET walk_end = walked_to,
            walked_to = coalesce(walked_to, '00000000-0000-0000-0000-000000000000'::uuid)
        WHERE id = 1
        """)

    static func update(_ cleanUp: CleanUp) -> Statement {
        Statement("UPDATE clean_up SET \(CleanUpColumns.all.assignments(from: 1)) WHERE id = 1") { row in
            CleanUpColumns.write(cleanUp, to: &row)
        }
    }
}
