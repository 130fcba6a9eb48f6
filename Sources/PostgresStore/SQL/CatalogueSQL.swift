internal import Sessions
internal import StoreFoundation

/// Every statement about settings and clients.
enum CatalogueSQL {
    static let selectSettings = Statement(Template("SELECT \(SettingsColumns.all.list) FROM settings"))
    static let selectClients = Statement(Template("SELECT \(ClientColumns.all.list) FROM clients"))
    /// With every change of the two, and of signing keys: it tells the other nodes. A time, so that a standby that became the
    /// server without the last change gives its next one another number than that had.
    static let countUp = Statement(
        """
        UPDATE catalogue_revision
        SET revision = greatest(revision + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
        """)

    static func update(_ settings: Settings) -> Statement {
        Statement(
            """
            UPDATE settings SET offline_session_idle_seconds = $1::bigint, offline_session_max_limited = $2::boolean,
                offline_session_max_seconds = $3::bigint, refresh_after_seconds = $4::bigint,
                rotation_interval_seconds = $5::bigint, epoch = $6::bigint, revoked_before_epoch = $7::bigint,
                revoked_before_at = $8::bigint, earlier_tokens_end_at = $9::bigint, served_max_seconds = $10::bigint
            """
        ) { row in SettingsColumns.write(settings, to: &row) }
    }

    static func replace(_ client: Client) -> Statement {
        Statement(
            """
            INSERT INTO clients (\(ClientColumns.all.list))
            VALUES ($1::text, $2::text, $3::text, $4::bytea, $5::text, $6::text, $7::text, $8::bigint, $9::bigint,
                $10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::text, $15::text,
                $16::bigint, $17::text)
            ON CONFLICT (id) DO UPDATE SET \(ClientColumns.all.replacements)
            """
        ) { row in ClientColumns.write(client, to: &row) }
    }

    static func delete(_ id: String) -> Statement { Statement("DELETE FROM clients WHERE id = $1::text", id) }
}
