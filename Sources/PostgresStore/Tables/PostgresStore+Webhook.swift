public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`. One node after the other.
    public func updateWebhook<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await self.change(TransactionLock.keys.alone) { (transaction) throws(DatabaseError) in
            let old = try transaction.run(Self.selectWebhook(name)).first { row in WebhookColumns.read(&row) }
            var progress = old
            let outcome = change(&progress)
            if progress != old { transaction.add(Self.replaceWebhook(name, progress)) }
            return outcome
        }
    }

    /// See `Store`.
    public func webhooks() async throws(StoreError) -> [String: WebhookProgress] {
        try await read([Self.selectWebhooks]) { (rows) throws(DatabaseError) in try Self.webhooks(rows[0]) }
    }

    static let selectWebhooks = Statement("SELECT \(columns) FROM webhooks")

    static func webhooks(_ rows: Rows) throws(DatabaseError) -> [String: WebhookProgress] {
        try Dictionary(uniqueKeysWithValues: rows.map { row in (row.text(), WebhookColumns.read(&row)) })
    }

    private static let columns = "name, " + WebhookColumns.all.list

    private static func selectWebhook(_ name: String) -> Statement {
        Statement("SELECT \(WebhookColumns.all.list) FROM webhooks WHERE name = $1::text", name)
    }

    private static func replaceWebhook(_ name: String, _ progress: WebhookProgress?) -> Statement {
        guard let progress else { return Statement("DELETE FROM webhooks WHERE name = $1::text", name) }
        return Statement(
            """
            INSERT INTO webhooks (\(columns))
            VALUES ($1::text, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::bigint)
            ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor, \(WebhookColumns.all.replacements)
            """
        ) { row in
            row.add(name)
            WebhookColumns.write(progress, to: &row)
        }
    }
}
