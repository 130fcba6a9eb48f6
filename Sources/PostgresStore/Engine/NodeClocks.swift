public import Sessions

extension PostgresStore {
    /// What another node tells of the clock of its machine.
    public struct ClockReport: Hashable, Sendable {
        /// The name of the node.
        public var node: String
        /// The number of its reports up to this one.
        public var number: Int64
        /// How far its clock is ahead of the database's.
        public var lead: Duration
    }

    /// Tells the other nodes how far the clock of this node's machine is ahead of the database's, and returns what they have
    /// told within the last `NodeSQL.memorySeconds`.
    public func exchangeLeads(of node: String, _ lead: Duration) async throws(StoreError) -> [ClockReport] {
        let now = clock.now
        @Sendable func exchange(_ transaction: Transaction) throws(DatabaseError) -> [ClockReport] {
            let rows = try transaction.run([
                NodeSQL.report(node, lead, at: now), NodeSQL.forget(at: now), NodeSQL.selectOthers(node, at: now),
            ])
            return try rows[2].map { row in
                ClockReport(node: row.text(), number: row.integer(), lead: .milliseconds(row.integer()))
            }
        }
        return try await change(body: exchange)
    }

    /// Deletes what the node has told, because it stops.
    public func forgetLead(of node: String) async throws(StoreError) {
        @Sendable func forget(_ transaction: Transaction) { transaction.add(NodeSQL.delete(node)) }
        try await change(body: forget)
    }
}
