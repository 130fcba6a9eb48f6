internal import Sessions
internal import StoreFoundation

/// Every statement about the feed of revocations. A revocation has the number of its event, so that the feed goes on behind
/// every cursor when a backup is restored, as the trail does.
enum RevocationRow {
    private static let insert = Query(
        """
        INSERT INTO revocations (number, \(RevocationColumns.all.list))
        VALUES (last_insert_rowid(), ?, ?, ?, ?, ?, ?, ?)
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
}
