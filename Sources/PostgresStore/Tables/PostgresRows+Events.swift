internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) -> Answer<[RecordedEvent]> {
        all(EventSQL.select(after: cursor, limit: limit, userID: userID, sessionID: sessionID), EventSQL.read)
    }

    func events(ofUser userID: Identifier<User>, before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectLatest(of: userID, before: cursor, limit: limit), EventSQL.read)
    }

    func events(before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectLatest(before: cursor, limit: limit), EventSQL.read)
    }

    func sessionEnds(ofClient clientID: String, after cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectEnds(ofClient: clientID, after: cursor, limit: limit), EventSQL.read)
    }

    func lifetimeChanges(ofClient clientID: String?, limit: Int) -> Answer<[RecordedEvent]> {
        all(
            clientID.map { EventSQL.selectChanges(ofClient: $0, limit: limit) }
                ?? EventSQL.selectChangesOfSettings(limit: limit), EventSQL.read)
    }

    func ledgerStep(after cursor: Int64, limit: Int) -> Answer<LedgerStep> {
        ask(EventSQL.selectStep(after: cursor, limit: limit)) { (rows) throws(DatabaseError) in
            let end = try rows[0].first { row in row.integer() }
            return LedgerStep(try rows[1].map(EventSQL.read), to: end ?? cursor)
        }
    }

    func ledgerEvents(of users: [Identifier<User>]) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectRemembered(of: ArrayParameter(users)), EventSQL.read)
    }

    func ledgerEvents(after cursor: Int64) -> Answer<[RecordedEvent]> {
        all(EventSQL.selectNews(after: cursor), EventSQL.read)
    }

    func revocations(after cursor: Int64, at now: Instant, limit: Int) -> Answer<[Revocation]> {
        all(RevocationSQL.select(after: cursor, at: now, limit: limit)) { (row) throws(CorruptRow) in
            try RevocationColumns.read(&row)
        }
    }

    func lastEvent() -> Answer<Int64> {
        ask([EventSQL.selectLast]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in row.integer() } ?? 0
        }
    }

    func lastRevocation() -> Answer<Int64> {
        ask([RevocationSQL.selectLast]) { (rows) throws(DatabaseError) in
            try rows[0].first { row in row.integer() } ?? 0
        }
    }

    func append(_ events: [RevokingEvent]) {
        transitions += events.compactMap(\.event.transition)
        for statement in EventSQL.insert(events) { perform(statement) }
    }

    func append(_ revocations: [Revocation]) {
        if revocations.isEmpty { return }
        perform(TransactionLock.trail.alone)
        for statement in RevocationSQL.insert(revocations) { perform(statement) }
    }

    func deleteEvents(before instant: Instant, limit: Int) -> Answer<Int> {
        count(EventSQL.deleteOld(before: instant, limit: limit))
    }

    func deleteRevocations(before instant: Instant, limit: Int) -> Answer<Int> {
        count(RevocationSQL.deleteOld(before: instant, limit: limit))
    }
}
