internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) -> Answer<[RecordedEvent]> {
        events(after: cursor, EventSQL.select(after: cursor, limit: limit, userID: userID, sessionID: sessionID))
    }

    private func events(after cursor: Int64, _ statement: Statement) -> Answer<[RecordedEvent]> {
        follow(.events, after: cursor, by: \.id, statement, EventSQL.read)
    }

    /// The rows of a statement that reads `table` after `cursor` by number, without those that a smaller number may still precede.
    /// In a transaction with one snapshot, this is not sure for numbers that were committed while it began.
    private func follow<Value>(
        _ table: FollowedTable, after cursor: Int64, by number: @escaping (Value) -> Int64, _ statement: Statement,
        _ read: @escaping (inout Row) throws(CorruptRow) -> Value
    ) -> Answer<[Value]> {
        ask([table.end(after: cursor), statement]) { (rows) throws(DatabaseError) in
            let end = try Self.number(rows[0])
            return Array(try rows[1].map(read).prefix { number($0) <= end })
        }
    }

    private static func number(_ rows: Rows) throws(DatabaseError) -> Int64 {
        guard let number = try rows.first({ row in row.integer() }) else { throw .lost("an answer is missing") }
        return number
    }

    func events(ofSession sessionID: Identifier<Session>, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventSQL.select(after: 0, limit: limit, userID: nil, sessionID: sessionID), EventSQL.read)
    }

    func events(ofUser userID: Identifier<User>, before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectLatest(of: userID, before: cursor, limit: limit), EventSQL.read)
    }

    func events(before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectLatest(before: cursor, limit: limit), EventSQL.read)
    }

    func sessionEnds(ofClient clientID: String, after cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        events(after: cursor, EventSQL.selectEnds(ofClient: clientID, after: cursor, limit: limit))
    }

    func lifetimeChanges(ofClient clientID: String?, limit: Int) -> Answer<[RecordedEvent]> {
        all(
            clientID.map { EventSQL.selectChanges(ofClient: $0, limit: limit) }
                ?? EventSQL.selectChangesOfSettings(limit: limit), EventSQL.read)
    }

    func ledgerStep(after cursor: Int64, limit: Int) -> Answer<LedgerStep> {
        let statements = EventSQL.selectStep(after: cursor, limit: limit)
        return ask([FollowedTable.events.end] + statements) { (rows) throws(DatabaseError) in
            let end = max(cursor, min(try Self.number(rows[0]), try Self.number(rows[1])))
            return LedgerStep(Array(try rows[2].map(EventSQL.read).prefix { $0.id <= end }), to: end)
        }
    }

    func ledgerEvents(of users: [Identifier<User>]) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectRemembered(of: ArrayParameter(users)), EventSQL.read)
    }

    func ledgerEvents(after cursor: Int64) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectNews(after: cursor), EventSQL.read)
    }

    func revocations(after cursor: Int64, at now: Instant, limit: Int) -> Answer<[Revocation]> {
        follow(
            .revocations, after: cursor, by: \.number, RevocationSQL.select(after: cursor, at: now, limit: limit),
            RevocationSQL.read)
    }

    func lastEvent() -> Answer<Int64> {
        ask([FollowedTable.events.end]) { (rows) throws(DatabaseError) in try Self.number(rows[0]) }
    }

    func lastRevocation() -> Answer<Int64> {
        ask(FollowedTable.endOfAssignedRevocations) { (rows) throws(DatabaseError) in
            min(try Self.number(rows[0]), try Self.number(rows[1]))
        }
    }

    func lastAssignedRevocation() -> Answer<Int64> {
        ask([FollowedTable.lastAssignedRevocation]) { (rows) throws(DatabaseError) in try Self.number(rows[0]) }
    }

    func append(_ events: [RevokingEvent]) {
        recorded += events.map(\.event)
        for statement in EventSQL.insert(events) { perform(statement) }
    }

    func append(_ revocations: [Revocation]) {
        if revocations.isEmpty { return }
        perform(FollowedTable.announce([.revocations]))
        for statement in RevocationSQL.insert(revocations) { perform(statement) }
    }

    func deleteEvents(before instant: Instant, limit: Int) -> Answer<Int> {
        count(EventSQL.deleteOld(before: instant, limit: limit))
    }

    func deleteRevocations(before instant: Instant, limit: Int) -> Answer<Int> {
        count(RevocationSQL.deleteOld(before: instant, limit: limit))
    }
}
