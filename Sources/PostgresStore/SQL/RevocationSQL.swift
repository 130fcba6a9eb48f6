internal import Sessions
internal import StoreFoundation

/// Every statement about the feed of revocations. An insert needs `TransactionLock.trail`.
enum RevocationSQL {
    /// Revocations, column by column.
    struct Rows {
        private(set) var count = 0
        private var guards = ArrayParameter(of: .uuid)
        private var kinds = ArrayParameter(of: .text)
        private var times = ArrayParameter(of: .bigint)
        private var ends = ArrayParameter(of: .bigint)
        private var users = ArrayParameter(of: .uuid)
        private var sessions = ArrayParameter(of: .uuid)
        private var clients = ArrayParameter(of: .text)
        private var tokens = (ids: ArrayParameter(of: .text), epochs: ArrayParameter(of: .bigint))
        private var reasons = ArrayParameter(of: .text)

        /// - Parameter session: the session that guards the revocation: the revocation is written only if the change of that
        ///   session is.
        mutating func append(_ revocation: Revocation, guardedBy session: Identifier<Session>? = nil) {
            count += 1
            guards.append(session)
            kinds.append(revocation.kind.rawValue)
            times.append(revocation.at)
            ends.append(revocation.until)
            users.append(revocation.userID)
            sessions.append(revocation.sessionID)
            clients.append(revocation.clientID)
            tokens.ids.append(revocation.tokenID)
            tokens.epochs.append(revocation.tokenEpoch)
            reasons.append(revocation.reason)
        }

        var parameters: [Parameter] {
            [guards, kinds, times, ends, users, sessions, clients, tokens.ids, tokens.epochs, reasons].map(\.parameter)
        }
    }

    private static let types = ["uuid", "text", "bigint", "bigint", "uuid", "uuid", "text", "text", "bigint", "text"]

    private static func insert(firstParameter: Int, _ condition: String) -> String {
        let arrays = types.enumerated().map { "$\(firstParameter + $0)::\($1)[]" }.joined(separator: ", ")
        return """
            INSERT INTO revocations (\(RevocationColumns.all.list))
            SELECT \(RevocationColumns.all.list(of: "r"))
            FROM unnest(\(arrays)) WITH ORDINALITY AS r (guard, \(RevocationColumns.all.list), place)
            \(condition) ORDER BY r.place
            """
    }

    /// The statement that inserts the rows with a guard among the ids of `changed`.
    static func insertGuarded(by changed: String, firstParameter: Int) -> String {
        insert(firstParameter: firstParameter, "WHERE r.guard IN (SELECT id FROM \(changed))")
    }

    /// The statements that add `revocations`, under the lock that their events have taken. None for no revocations.
    static func insert(_ revocations: [Revocation]) -> [Statement] {
        if revocations.isEmpty { return [] }
        var rows = Rows()
        for revocation in revocations { rows.append(revocation) }
        return [Statement(insertingUnguarded, parameters: rows.parameters)]
    }

    private static let insertingUnguarded = Template(insert(firstParameter: 1, "WHERE r.guard IS NULL"))

    static func select(after cursor: Int64, at now: Instant, limit: Int) -> Statement {
        Statement(selecting, cursor, now, limit)
    }

    private static let selecting = Template(
        """
        SELECT number, \(RevocationColumns.all.list) FROM revocations
        WHERE number > $1::bigint AND matters_until > $2::bigint ORDER BY number LIMIT $3::bigint
        """)

    /// The sequence advances at once, also for numbers that are not committed yet; no later number is smaller.
    static let selectLast = Statement(
        Template("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM revocations_number_seq"))

    static func deleteOld(before instant: Instant, limit: Int) -> Statement {
        Statement(
            """
            DELETE FROM revocations
            WHERE number IN (SELECT number FROM revocations WHERE matters_until <= $1::bigint LIMIT $2::bigint)
            """, instant, limit)
    }
}
