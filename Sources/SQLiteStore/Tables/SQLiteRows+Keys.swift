internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func signingKeys() -> Answer<[StoredSigningKey]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(KeyRow.selectSigningKeys) { row in SigningKeyColumns.read(&row) }
        }
    }

    func adminKeys() -> Answer<[AdminKey]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(KeyRow.selectAdminKeys) { (row) throws(CorruptRow) in try AdminKeyColumns.read(&row) }
        }
    }

    func write(_ keys: [StoredSigningKey], deleting deleted: [String]) {
        perform { (connection) throws(DatabaseError) in
            for id in deleted { try connection.execute(KeyRow.deleteSigningKey, id) }
            for key in keys {
                try connection.execute(KeyRow.replaceSigningKey) { row in SigningKeyColumns.write(key, to: &row) }
            }
        }
    }

    func write(_ keys: [AdminKey], deleting deleted: [String]) {
        perform { (connection) throws(DatabaseError) in
            for id in deleted { try connection.execute(KeyRow.deleteAdminKey, id) }
            for key in keys {
                try connection.execute(KeyRow.replaceAdminKey) { row in AdminKeyColumns.write(key, to: &row) }
            }
        }
    }

    func webhook(_ name: String) -> Answer<WebhookProgress?> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(WebhookRow.select, name) { row in WebhookColumns.read(&row) }
        }
    }

    func webhooks() -> Answer<[String: WebhookProgress]> {
        answer { (connection) throws(DatabaseError) in
            try WebhookRow.readAll(connection)
        }
    }

    func write(_ progress: WebhookProgress?, ofWebhook name: String) {
        perform { (connection) throws(DatabaseError) in
            guard let progress else {
                try connection.execute(WebhookRow.delete, name)
                return
            }
            try connection.execute(WebhookRow.replace) { row in
                row.add(name)
                WebhookColumns.write(progress, to: &row)
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

/// Every statement about webhooks.
enum WebhookRow {
    static let selectAll = Query("SELECT name, \(WebhookColumns.all.list) FROM webhooks")
    static let select = Query("SELECT \(WebhookColumns.all.list) FROM webhooks WHERE name = ?")
    static let delete = Query("DELETE FROM webhooks WHERE name = ?")
    static let replace = Query(inserting: "name", WebhookColumns.all, into: "webhooks", "OR REPLACE")

    static func readAll(_ connection: Connection) throws(DatabaseError) -> [String: WebhookProgress] {
        let rows = try connection.all(selectAll) { row in (row.text(), WebhookColumns.read(&row)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}
