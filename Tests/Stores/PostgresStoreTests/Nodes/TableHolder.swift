import PostgresFixture

/// Another program, which has the table of sessions locked in a transaction.
struct TableHolder {
    private let condition: String
    private let work: Task<Void, any Error>

    /// Returns once it has the lock.
    init(_ mode: String, schema: String) async throws {
        let condition = "query LIKE 'BEGIN; LOCK%holds \(schema)%' AND wait_event = 'PgSleep'"
        self.condition = condition
        work = Task {
            try await onThread {
                _ = try? PostgresServer.shared.run(
                    "BEGIN; LOCK TABLE sessions IN \(mode) MODE; SELECT 'holds \(schema)', pg_sleep(300)",
                    schema: schema)
            }
        }
        while try PostgresServer.shared.run("SELECT count(*) FROM pg_stat_activity WHERE \(condition)") != "1\n" {
            await Task.yield()
        }
    }

    /// Ends it, and with it the lock.
    func end() async throws {
        try PostgresServer.shared.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(condition)")
        try await work.value
    }
}
