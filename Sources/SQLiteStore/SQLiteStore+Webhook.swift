public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`.
    public func updateWebhook<Outcome: Sendable>(
        _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let old = try transaction.connection.first(Self.selectWebhook) { row in WebhookColumns.read(&row) }
            var progress = old
            let outcome = change(&progress)
            if let progress, progress != old {
                try transaction.connection.execute(Self.replaceWebhook) { row in
                    // The only row there is.
                    row.add(1 as Int64)
                    WebhookColumns.write(progress, to: &row)
                }
            }
            return outcome
        }
    }

    static let selectWebhook = Query("SELECT \(WebhookColumns.all.list) FROM webhook WHERE id = 1")
    private static let replaceWebhook = Query(inserting: "id", WebhookColumns.all, into: "webhook", "OR REPLACE")
}
