internal import Sessions
internal import StoreFoundation

/// Every statement about the feed of revocations. An insert comes after `FollowedTable.announce`, and numbers are read up to
/// `FollowedTable.end`.
enum RevocationSQL {
    /// No revocations, column by column: the guard, the columns of the revocation.
    static let noRows = ColumnArrays { row in
        let epoch = Instant(secondsSinceEpoch: 0)
        write(Revocation(number: 0, .userDeleted, at: epoch, until: epoch), nil, to: &row)
    }

    /// Adds a revocation to `rows`.
    ///
    /// - Parameter session: the session that guards the revocation: the revocation is written only if the change of that session
    ///   is.
    static func add(
        _ revocation: Revocation, guardedBy session: Identifier<Session>? = nil, to rows: inout ColumnArrays
    ) {
        rows.append { row in write(revocation, session, to: &row) }
    }

    private static func write(_ revocation: Revocation, _ session: Identifier<Session>?, to row: inout ColumnArrays) {
        row.add(session)
        RevocationColumns.write(revocation, to: &row)
    }

    private static func insert(firstParameter: Int, _ condition: String) -> String {
        """
        INSERT INTO revocations (\(RevocationColumns.all.list))
        SELECT \(RevocationColumns.all.list(of: "r"))
        FROM unnest(\(noRows.placeholders(from: firstParameter))) WITH ORDINALITY
            AS r (guard, \(RevocationColumns.all.list), place)
        \(condition) ORDER BY r.place
        """
    }

    /// The statement that inserts the rows with a guard among the ids of `changed`.
    static func insertGuarded(by changed: String, firstParameter: Int) -> String {
        insert(firstParameter: firstParameter, "WHERE r.guard IN (SELECT id FROM \(changed))")
    }

    /// The statements that add `revocations`, which are announced. None for no revocations.
    static func insert(_ revocations: [Revocation]) -> [Statement] {
        if revocations.isEmpty { return [] }
        var rows = noRows
        for revocation in revocations { add(revocation, to: &rows) }
        return [Statement(insertingUnguarded, parameters: rows.parameters)]
    }

    private static let insertingUnguarded = Template(insert(firstParameter: 1, "WHERE r.guard IS NULL"))

    static func read(_ row: inout Row) throws(CorruptRow) -> Revocation { try RevocationColumns.read(&row) }

    static func select(after cursor: Int64, at now: Instant, limit: Int) -> Statement {
        Statement(selecting, cursor, now, limit)
    }

    private static let selecting = Template(
        """
        SELECT number, \(RevocationColumns.all.list) FROM revocations
        WHERE number > $1::bigint AND matters_until > $2::bigint ORDER BY number LIMIT $3::bigint
        """)

    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM revocations
            WHERE number IN (SELECT number FROM revocations WHERE matters_until <= $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}
