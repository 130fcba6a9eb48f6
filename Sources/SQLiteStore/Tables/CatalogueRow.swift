internal import Sessions
internal import StoreFoundation

/// Every statement about settings and clients.
enum CatalogueRow {
    static let selectSettings = Query("SELECT \(SettingsColumns.all.list) FROM settings WHERE id = 1")
    static let replaceSettings = Query(replacing: "id", SettingsColumns.all, in: "settings")
    static let selectClients = Query("SELECT \(ClientColumns.all.list) FROM clients")
    static let replaceClient = Query(replacing: nil, ClientColumns.all, in: "clients")
    static let deleteClient = Query("DELETE FROM clients WHERE id = ?")

    /// The current settings and clients. A new database gets its settings first.
    static func load(_ connection: Connection) throws(DatabaseError) -> Catalogue {
        if try connection.first(selectSettings, read: { row in row.integer() }) == nil {
            try write(Settings(), connection)
        }
        return try read(connection)
    }

    /// The current settings and clients.
    static func read(_ connection: Connection) throws(DatabaseError) -> Catalogue {
        let settings = try connection.first(selectSettings, read: SettingsColumns.read)
        let clients = try connection.all(selectClients) { (row) throws(CorruptRow) in try ClientColumns.read(&row) }
        return Catalogue(
            settings: settings ?? Settings(),
            clients: Dictionary(clients.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    static func write(_ settings: Settings, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(replaceSettings) { row in
            // The table has this row only.
            row.add(1 as Int64)
            SettingsColumns.write(settings, to: &row)
        }
    }

    static func write(_ client: Client, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(replaceClient) { row in ClientColumns.write(client, to: &row) }
    }
}
