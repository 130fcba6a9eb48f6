internal import Sessions

/// Every statement about the clocks of nodes.
enum NodeSQL {
    /// The seconds after which the report of a node does not count any more.
    static let memorySeconds: Int64 = 25
    /// The seconds after which it is deleted.
    private static let retentionSeconds: Int64 = 86_400

    static func report(_ name: String, _ lead: Duration, at now: Instant) -> Statement {
        Statement(
            """
            INSERT INTO nodes (name, lead_milliseconds, reports, seen_at) VALUES ($1::text, $2::bigint, 1, $3::bigint)
            ON CONFLICT (name) DO UPDATE
            SET lead_milliseconds = $2::bigint, reports = nodes.reports + 1, seen_at = $3::bigint
            """, name, Int64(lead / .milliseconds(1)), now.secondsSinceEpoch)
    }

    static func forget(at now: Instant) -> Statement {
        Statement("DELETE FROM nodes WHERE seen_at < $1::bigint", now.secondsSinceEpoch - retentionSeconds)
    }

    static func delete(_ name: String) -> Statement { Statement("DELETE FROM nodes WHERE name = $1::text", name) }

    /// A report from the future is one from before the database's clock was behind.
    static func selectOthers(_ name: String, at now: Instant) -> Statement {
        Statement(
            """
            SELECT name, reports, lead_milliseconds FROM nodes
            WHERE name <> $1::text AND seen_at BETWEEN $2::bigint AND $3::bigint
            """, name, now.secondsSinceEpoch - memorySeconds, now.secondsSinceEpoch + memorySeconds)
    }
}
