internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func events(
        after cursor: Int64, limit: Int, userID: Identifier<User>?, sessionID: Identifier<Session>?
    ) -> Answer<[RecordedEvent]> {
        answer { (connection) throws(DatabaseError) in
            switch (userID, sessionID) {
            case (nil, nil): try connection.all(EventRow.selectAll, cursor, limit, read: EventRow.read)
            case (let user?, nil): try connection.all(EventRow.selectOfUser, cursor, user, limit, read: EventRow.read)
            case (nil, let session?):
                try connection.all(EventRow.selectOfSession, cursor, session, limit, read: EventRow.read)
            case (let user?, let session?):
                try connection.all(EventRow.selectOfBoth, cursor, session, user, limit, read: EventRow.read)
            }
        }
    }

    func events(ofSession sessionID: Identifier<Session>, limit: Int) -> Answer<[RecordedEvent]> {
        events(after: 0, limit: limit, userID: nil, sessionID: sessionID)
    }

    func events(ofUser userID: Identifier<User>, before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventRow.selectLatestOfUser, userID, cursor, limit, read: EventRow.read)
    }

    func events(before cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventRow.selectLatest, cursor, limit, read: EventRow.read)
    }

    func sessionEnds(ofClient clientID: String, after cursor: Int64, limit: Int) -> Answer<[RecordedEvent]> {
        all(EventRow.selectEnds, cursor, clientID, limit, read: EventRow.read)
    }

    func lifetimeChanges(ofClient clientID: String?, limit: Int) -> Answer<[RecordedEvent]> {
        answer { (connection) throws(DatabaseError) in
            if let clientID {
                try connection.all(EventRow.selectChangesOfClient, clientID, limit, read: EventRow.read)
            } else {
                try connection.all(EventRow.selectChangesOfSettings, limit, read: EventRow.read)
            }
        }
    }

    func ledgerStep(after cursor: Int64, limit: Int) -> Answer<LedgerStep> {
        answer { (connection) throws(DatabaseError) in
            let end = try connection.first(EventRow.selectStepEnd, cursor, limit) { row in
                row.optional { row in row.integer() }
            }
            guard let end = end ?? nil else { return LedgerStep([], to: cursor) }
            return LedgerStep(try connection.all(EventRow.selectStep, cursor, end, read: EventRow.read), to: end)
        }
    }

    func ledgerEvents(of users: [Identifier<User>]) -> Answer<[RecordedEvent]> {
        answer { (connection) throws(DatabaseError) in
            var events: [RecordedEvent] = []
            for user in users {
                events += try connection.all(EventRow.selectRememberedOfUser, 0, user, read: EventRow.read)
            }
            return events.sorted { $0.id < $1.id }
        }
    }

    func ledgerEvents(after cursor: Int64) -> Answer<[RecordedEvent]> {
        all(EventRow.selectNews, cursor, read: EventRow.read)
    }

    func revocations(after cursor: Int64, at now: Instant, limit: Int) -> Answer<[Revocation]> {
        answer { (connection) throws(DatabaseError) in
            try connection.all(RevocationRow.select, cursor, now, limit) { (row) throws(CorruptRow) in
                try RevocationColumns.read(&row)
            }
        }
    }

    func lastEvent() -> Answer<Int64> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(EventRow.selectLast) { row in row.integer() } ?? 0
        }
    }

    func lastRevocation() -> Answer<Int64> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(RevocationRow.selectLast) { row in row.integer() } ?? 0
        }
    }

    func lastAssignedRevocation() -> Answer<Int64> { lastRevocation() }

    func append(_ events: [RevokingEvent]) {
        transitions += events.compactMap(\.event.transition)
        perform { (connection) throws(DatabaseError) in
            for entry in events { try EventRow.insert(entry.event, entry.revocation, connection) }
        }
    }

    func append(_ revocations: [Revocation]) {
        perform { (connection) throws(DatabaseError) in
            for revocation in revocations { try RevocationRow.insertImported(revocation, connection) }
        }
    }

    func deleteEvents(before instant: Instant, limit: Int) -> Answer<Int> {
        count(EventRow.deleteOld, limit, instant)
    }

    func deleteRevocations(before instant: Instant, limit: Int) -> Answer<Int> {
        count(RevocationRow.deleteOld, instant, limit)
    }
}
