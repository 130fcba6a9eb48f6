public import Sessions
internal import StoreFoundation

extension SQLiteStore {
    /// See `Store`.
    public func updateWebhook<Outcome: Sendable>(
        _ name: String, _ change: @escaping @Sendable (inout WebhookProgress?) -> Outcome
    ) async throws(StoreError) -> Outcome {
        try await write { (transaction) throws(DatabaseError) -> Outcome in
            let connection = transaction.connection
            let old = try connection.first(Self.selectWebhook, name) { row in WebhookColumns.read(&row) }
            var progress = old
            let outcome = change(&progress)
            if progress == old { return outcome }
            if let progress {
                try connection.execute(Self.replaceWebhook) { row in
                    row.add(name)
                    WebhookColumns.write(progress, to: &row)
                }
            } else {
                try connection.execute(Self.deleteWebhook, name)
            }
            return outcome
        }
    }

    /// See `Store`.
    public func webhooks() async throws(StoreError) -> [String: WebhookProgress] {
        try await read { (snapshot) throws(DatabaseError) -> [String: WebhookProgress] in
            try Self.webhooks(snapshot.connection)
        }
    }

    static func webhooks(_ connection: Connection) throws(DatabaseError) -> [String: WebhookProgress] {
        let rows = try connection.all(selectWebhooks) { row in (row.text(), WebhookColumns.read(&row)) }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    private static let selectWebhooks = Query("SELECT name, \(WebhookColumns.all.list) FROM webhooks")
    private static let selectWebhook = Query("SELECT \(WebhookColumns.all.list) FROM webhooks WHERE name = ?")
    private static let deleteWebhook = Query("DELETE FROM webhooks WHERE name = ?")
    private static let replaceWebhook = Query(inserting: "name", WebhookColumns.all, into: "webhooks", "OR REPLACE")
}
