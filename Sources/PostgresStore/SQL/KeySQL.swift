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

/// Every statement about webhooks.
enum WebhookSQL {
    private static let columns = "name, " + WebhookColumns.all.list

    static let selectAll = Statement("SELECT \(columns) FROM webhooks")

    static func read(_ rows: Rows) throws(DatabaseError) -> [String: WebhookProgress] {
        try Dictionary(uniqueKeysWithValues: rows.map { row in (row.text(), WebhookColumns.read(&row)) })
    }

    static func select(_ name: String) -> Statement {
        Statement("SELECT \(WebhookColumns.all.list) FROM webhooks WHERE name = $1::text", name)
    }

    static func delete(_ name: String) -> Statement { Statement("DELETE FROM webhooks WHERE name = $1::text", name) }

    static func replace(_ name: String, _ progress: WebhookProgress) -> Statement {
        Statement(
            """
            INSERT INTO webhooks (\(columns)) VALUES ($1, \(WebhookColumns.all.placeholders(from: 2)))
            ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor, \(WebhookColumns.all.replacements)
            """
        ) { row in
            row.add(name)
            WebhookColumns.write(progress, to: &row)
        }
    }
}
