public import Sessions

extension PostgresStore {
    /// Tells the other nodes how far the clock of this node's machine is ahead of the database's, and returns the leads that
    /// they have told within the last `NodeSQL.memorySeconds`.
    public func exchangeLeads(of node: String, _ lead: Duration) async throws(StoreError) -> [Duration] {
        let now = clock.now
        @Sendable func exchange(_ transaction: Transaction) throws(DatabaseError) -> [Duration] {
            let rows = try transaction.run([
                NodeSQL.report(node, lead, at: now), NodeSQL.forget(at: now), NodeSQL.selectOthers(node, at: now),
            ])
            return try rows[2].map { row in .milliseconds(row.integer()) }
        }
        return try await change(body: exchange)
    }
}
