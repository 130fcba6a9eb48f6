internal import Sessions

/// A table with numbered rows that readers follow with a cursor: the audit trail, or the feed of revocations.
///
/// A number is assigned when a row is inserted, and the row appears when its transaction commits, so that a smaller number can
/// appear after a larger one. No writer waits for another one because of that. Instead, each announces its numbers: until its
/// end it shares an advisory lock on the last number that was assigned before its own. A reader gets the rows up to the first
/// announced number. Every smaller number has appeared by then, or never will.
///
/// The locks are only shared, so that a transaction never waits for one. A number is assigned after the rows that the event is
/// about are locked. Two changes of one row therefore have numbers in the order of their commits.
enum FollowedTable: String {
    case events = "audit_events"
    case revocations

    private var sequence: String { "\(rawValue)_number_seq" }

    /// The last number that was assigned, committed or not; 0 before the first one.
    private var lastAssigned: String {
        "CASE WHEN \(sequence).is_called THEN \(sequence).last_value ELSE 0 END"
    }

    /// The statement before inserts into `tables`, in the same transaction.
    static func announce(_ tables: Set<FollowedTable>) -> Statement {
        switch (tables.contains(.events), tables.contains(.revocations)) {
        case (true, true): announcingBoth
        case (true, false): announcingEvents
        case (false, _): announcingRevocations
        }
    }

    private static let announcingBoth = announcement([.events, .revocations])
    private static let announcingEvents = announcement([.events])
    private static let announcingRevocations = announcement([.revocations])

    /// The key of a lock is the id of the sequence, which tells tables of several schemas apart, and the lower half of the number.
    private static func announcement(_ tables: [FollowedTable]) -> Statement {
        let locks = tables.map { table in
            """
            pg_advisory_xact_lock_shared('\(table.sequence)'::regclass::int4,
                ((((\(table.lastAssigned)) + 2147483648) & 4294967295) - 2147483648)::int4)
            """
        }
        return Statement(
            Template(
                "SELECT \(locks.joined(separator: ", ")) FROM \(tables.map(\.sequence).joined(separator: ", "))"))
    }

    /// The smallest number that a transaction other than this one has announced and not ended, as an expression; null if there is
    /// none. Takes the upper half of the number from `last`, a number less than 2³¹ away.
    ///
    /// - Parameter cursor: an expression for a number; the result is larger.
    private func announced(near last: String, after cursor: String = "-1") -> String {
        """
        (SELECT min(greatest(\(last) + ((l.objid::bigint - \(last) + 2147483648) & 4294967295) - 2147483649, \(cursor))) + 1
        FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = '\(sequence)'::regclass AND l.objsubid = 2
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND l.pid <> pg_backend_pid())
        """
    }

    /// The statement for the last number that a reader after number `cursor` gets. The rows are read by a later statement with a
    /// snapshot of its own, and larger numbers among them are dropped.
    ///
    /// The last row of this statement's snapshot was numbered before the locks are read. A smaller number was announced even
    /// earlier, so that its transaction is either found by its lock, or has ended before the later snapshot. The number next to
    /// the cursor needs no look at the locks, because none lies between. It is readable whatever is announced: a transaction can
    /// take its lock late, on a number that a reader has passed, and its own numbers are larger than all that were read.
    func end(after cursor: Int64) -> Statement {
        Statement(self == .events ? Self.endOfEvents : Self.endOfRevocations, cursor)
    }

    /// The statement for a number that every row exceeds that a reader does not get yet.
    var end: Statement { end(after: -1) }

    private static let endOfEvents = events.selectEnd
    private static let endOfRevocations = revocations.selectEnd

    private var selectEnd: Template { Template(endOfRows) }

    private var endOfRows: String {
        """
        SELECT least(
            t.last, CASE WHEN t.last - 1 > $1::bigint THEN \(announced(near: "t.last", after: "$1::bigint")) END)
        FROM (SELECT coalesce(max(number), 0) AS last FROM \(rawValue)) t
        """
    }

    /// The statement for the last number that was assigned. No revocation has a larger one yet.
    static let lastAssignedRevocation = Statement(
        Template("SELECT \(revocations.lastAssigned) FROM \(revocations.sequence)"))

    /// The statements for the last number that was assigned, and then for the smallest one that is announced. Every later number
    /// is larger than the smaller one of the two.
    static let endOfAssignedRevocations = [
        lastAssignedRevocation,
        Statement(
            Template(
                """
                SELECT coalesce(\(revocations.announced(near: "t.last_value")), t.last_value) FROM \(revocations.sequence) t
                """)),
    ]

    /// The age at `now` of the oldest row that is committed and not readable; null if there is none.
    func ageOfRest(at now: Instant) -> Statement {
        Statement(self == .events ? Self.ageOfEvents : Self.ageOfRevocations, Int64(-1), now)
    }

    private static let ageOfEvents = events.selectAge(of: "occurred_at")
    private static let ageOfRevocations = revocations.selectAge(of: "revoked_at")

    /// The rows are those of the snapshot in which the end is the last one, so that no readable row counts.
    private func selectAge(of column: String) -> Template {
        Template(
            """
            SELECT $2::bigint - min(\(column)) FROM \(rawValue), (\(endOfRows)) AS readable (last) WHERE number > readable.last
            """)
    }
}
