internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func signingKeys() -> Answer<[StoredSigningKey]> {
        all(KeyRow.selectSigningKeys) { row in SigningKeyColumns.read(&row) }
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

    func delivery(_ name: String) -> Answer<DeliveryProgress?> {
        first(DeliveryRow.select, name) { row in DeliveryColumns.read(&row) }
    }

    func deliveries() -> Answer<[String: DeliveryProgress]> {
        answer { (connection) throws(DatabaseError) in
            try DeliveryRow.readAll(connection)
        }
    }

    func write(_ progress: DeliveryProgress?, ofDelivery name: String) {
        perform { (connection) throws(DatabaseError) in
            guard let progress else {
                try connection.execute(DeliveryRow.delete, name)
                return
            }
            try connection.execute(DeliveryRow.replace) { row in
                row.add(name)
                DeliveryColumns.write(progress, to: &row)
            }
        }
    }

    func cleanUp() -> Answer<CleanUp?> { first(CleanUpRow.select, read: CleanUpRow.read) }

    func cleanUpForUpdate() -> Answer<CleanUp?> { cleanUp() }

    func write(_ cleanUp: CleanUp) {
        perform(CleanUpRow.update) { row in CleanUpColumns.write(cleanUp, to: &row) }
    }

    func walkAlongSessions() {
        perform(CleanUpRow.walk)
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

/// Every statement about deliveries.
enum DeliveryRow {
    static let selectAll = Query("SELECT name, \(DeliveryColumns.all.list) FROM deliveries")
    static let select = Query("SELECT \(DeliveryColumns.all.list) FROM deliveries WHERE name = ?")
    static let delete = Query("DELETE FROM deliveries WHERE name = ?")
    static let replace = Query(replacing: "name", DeliveryColumns.all, in: "deliveries")

    static func readAll(_ connection: Connection) throws(DatabaseError) -> [String: DeliveryProgress] {
        let rows = try connection.all(selectAll) { row in (row.text(), DeliveryColumns.read(&row)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}

/// Every statement about the state of the clean-up, which is one row.
enum CleanUpRow {
    static let select = Query("SELECT \(CleanUpColumns.all.list) FROM clean_up WHERE id = 1")
    static let update = Query(updating: CleanUpColumns.all, of: "clean_up", "id = 1")
    /// Begins the walk along all sessions, or lets it go once more to where it is.
    static let walk = Query(
        "UPDATE clean_up SET walk_end = walked_to, walked_to = coalesce(walked_to, zeroblob(16)) WHERE id = 1")

    static func read(_ row: inout Row) throws(CorruptRow) -> CleanUp { try CleanUpColumns.read(&row) }
}
