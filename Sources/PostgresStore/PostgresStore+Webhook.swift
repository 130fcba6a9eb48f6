public import Sessions
internal import StoreFoundation

extension PostgresStore {
    /// See `Store`. One node after the other.
    public func updateWebhook<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await self.change(TransactionLock.keys.alone) { (transaction) throws(DatabaseError) in
            let old = try transaction.run(Self.selectWebhook).first { row in WebhookColumns.read(&row) }
            var progress = old
            let outcome = change(&progress)
            if let progress, progress != old { transaction.add(Self.replaceWebhook(progress)) }
            return outcome
        }
    }

    static var selectWebhook: Statement { Statement("SELECT \(WebhookColumns.all.list) FROM webhook") }

    private static func replaceWebhook(_ progress: WebhookProgress) -> Statement {
        Statement(
            """
            INSERT INTO webhook (id, \(WebhookColumns.all.list))
            VALUES (1, $1::bigint, $2::bigint, $3::text, $4::bigint, $5::bigint)
            ON CONFLICT (id) DO UPDATE SET cursor = excluded.cursor, \(WebhookColumns.all.replacements)
            """
        ) { row in WebhookColumns.write(progress, to: &row) }
    }
}
