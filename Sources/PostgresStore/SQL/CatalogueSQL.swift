internal import Sessions
internal import StoreFoundation

/// Every statement about settings and clients.
enum CatalogueSQL {
    static let selectSettings = Statement(Template("SELECT \(SettingsColumns.all.list) FROM settings"))
    static let selectClients = Statement(Template("SELECT \(ClientColumns.all.list) FROM clients"))
    /// Increments the revision. It runs with every change of settings, clients and signing keys, so that other nodes read them
    /// again. The revision is a time, so that a standby that became the server without the last change does not assign that
    /// change's number again.
    static let countUp = Statement(
        """
        UPDATE catalogue_revision
        SET revision = greatest(revision + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
        """)

    static func update(_ settings: Settings) -> Statement {
        Statement(
            "UPDATE settings SET \(SettingsColumns.all.assignments())"
        ) { row in SettingsColumns.write(settings, to: &row) }
    }

    static func replace(_ client: Client) -> Statement {
        Statement(
            """
            INSERT INTO clients (\(ClientColumns.all.list))
            VALUES (\(ClientColumns.all.placeholders()))
            ON CONFLICT (id) DO UPDATE SET \(ClientColumns.all.replacements)
            """
        ) { row in ClientColumns.write(client, to: &row) }
    }

    static func delete(_ id: String) -> Statement { Statement("DELETE FROM clients WHERE id = $1::text", id) }
}
