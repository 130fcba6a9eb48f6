internal import Sessions
internal import StoreFoundation

/// Every statement about the feed of revocations. A revocation has the number of its event, so that the feed, like the trail,
/// continues after every cursor when a backup is restored. An imported revocation gets a number that no event gets.
enum RevocationRow {
    private static let insert = Query(
        """
        INSERT INTO revocations (number, \(RevocationColumns.all.list))
        VALUES (last_insert_rowid(), ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    /// The trail creates its own row with its first event.
    private static let beginCount = Query(
        """
        INSERT INTO sqlite_sequence (name, seq)
        SELECT 'audit_events', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'audit_events')
        """)

    private static let countUp = Query("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'audit_events'")

    private static let insertCounted = Query(
        """
        INSERT INTO revocations (number, \(RevocationColumns.all.list))
        VALUES ((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)

    static let select = Query(
        """
        SELECT number, \(RevocationColumns.all.list) FROM revocations
        WHERE number > ? AND matters_until > ? ORDER BY number LIMIT ?
        """)

    static let selectLast = Query("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'), 0)")

    static let deleteOld = Query(
        """
        DELETE FROM revocations
        WHERE number IN (SELECT number FROM revocations WHERE matters_until <= ? LIMIT ?)
        """)

    /// Adds the revocation of the event that was just added to the trail.
    static func insert(_ revocation: Revocation, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(insert) { row in RevocationColumns.write(revocation, to: &row) }
    }

    /// Adds a revocation without an event.
    static func insertImported(_ revocation: Revocation, _ connection: Connection) throws(DatabaseError) {
        try connection.execute(beginCount)
        try connection.execute(countUp)
        try connection.execute(insertCounted) { row in RevocationColumns.write(revocation, to: &row) }
    }
}
