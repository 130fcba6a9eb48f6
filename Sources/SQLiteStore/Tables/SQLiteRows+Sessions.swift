internal import Sessions
internal import StoreFoundation

extension SQLiteRows {
    func session(_ id: Identifier<Session>) -> Answer<Session?> {
        answer { (connection) throws(DatabaseError) in try SessionRow.find(id, connection)?.session }
    }

    func sessionForUpdate(_ id: Identifier<Session>) -> Answer<Session?> { session(id) }

    func sessions(_ ids: [Identifier<Session>]) -> Answer<[Session]> {
        answer { (connection) throws(DatabaseError) in
            var sessions: [Session] = []
            for id in ids {
                if let found = try connection.first(SessionRow.selectByID, id, read: SessionRow.readSession) {
                    sessions.append(found)
                }
            }
            return sessions
        }
    }

    func sessions(letInWithKey thumbprint: String, limit: Int) -> Answer<[Session]> {
        all(SessionRow.selectLetIn, thumbprint, limit, read: SessionRow.readSession)
    }

    func livingSessions(at places: [Installation]) -> Answer<[Session]> {
        answer { (connection) throws(DatabaseError) in
            var sessions: [Session] = []
            for place in places {
                if let found = try SessionRow.living(at: place, connection) { sessions.append(found) }
            }
            return sessions
        }
    }

    func livingSessionForUpdate(at place: Installation) -> Answer<Session?> {
        answer { (connection) throws(DatabaseError) in try SessionRow.living(at: place, connection) }
    }

    func sessions(of userID: Identifier<User>, after cursor: SessionCursor?, limit: Int) -> Answer<[Session]> {
        answer { (connection) throws(DatabaseError) in
            // A value after every id.
            let last = [UInt8](repeating: 0xFF, count: Identifier<Session>.byteCount + 1)
            return try connection.all(
                SessionRow.selectPage, UserRow.number(of: userID, connection), userID,
                cursor?.startedAt.secondsSinceEpoch ?? .max, cursor?.id.bytes ?? last, limit,
                read: SessionRow.readSession)
        }
    }

    func sessions(of userID: Identifier<User>, onDevice deviceID: String) -> Answer<[Session]> {
        answer { (connection) throws(DatabaseError) in
            guard let number = try UserRow.number(of: userID, connection) else { return [] }
            return try connection.all(
                SessionRow.selectOnDevice, number, deviceID, read: SessionRow.readSession)
        }
    }

    func latestSessions(of userID: Identifier<User>, limit: Int, lookMax: Int) -> Answer<[Session]> {
        answer { (connection) throws(DatabaseError) in
            guard let number = try UserRow.number(of: userID, connection) else { return [] }
            return try connection.all(
                SessionRow.selectLatest, number, lookMax, limit, read: SessionRow.readSession)
        }
    }

    func hasTombstone(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) -> Answer<Bool> {
        answer { (connection) throws(DatabaseError) in
            try connection.first(SessionRow.selectEnded, userID, lookMax, deviceID, instant) { row in
                row.integer()
            } != nil
        }
    }

    func sessions(after id: Identifier<Session>?, limit: Int) -> Answer<[Session]> {
        all(SessionRow.selectInOrder, id?.bytes ?? [], limit, read: SessionRow.readSession)
    }

    func looks(_ selection: SessionSelection, limit: Int) -> Answer<[SessionLook]> {
        switch selection {
        case .ended(let instant): all(SessionRow.selectTombstones, instant, limit, read: SessionRow.readLook)
        case .due(let instant): all(SessionRow.selectDue, instant, limit, read: SessionRow.readLook)
        case .after(let id): all(SessionRow.selectAfter, id, limit, read: SessionRow.readLook)
        }
    }

    func move(_ looks: [(look: SessionLook, next: Instant)], forgetting forgotten: [SessionLook]) -> Answer<Int> {
        answer { (connection) throws(DatabaseError) in
            for (look, next) in looks { try connection.execute(SessionRow.move, next, look.row, look.lookAt) }
            var count = 0
            for look in forgotten {
                count += try connection.execute(SessionRow.delete, look.row)
                try connection.execute(ProviderCheckRow.delete, look.session.id)
                try connection.execute(PINRow.delete, look.session.id)
            }
            return count
        }
    }

    func lookAtSessions(of userID: Identifier<User>, by instant: Instant) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(SessionRow.lookEarlier, instant, UserRow.number(of: userID, connection))
        }
    }

    func insert(_ session: Session, lookAt: Instant) {
        perform { (connection) throws(DatabaseError) in
            guard let number = try UserRow.number(of: session.userID, connection) else {
                throw .contradiction("a session is started for a user that is not there")
            }
            try SessionRow.insert(session, lookAt: lookAt, userNumber: number, connection)
        }
    }

    func replace(_ session: Session, lookAt: Instant?) {
        perform { (connection) throws(DatabaseError) in
            let number = try UserRow.number(of: session.userID, connection) ?? UserRow.nobody
            try SessionRow.replace(
                session, lookAt: lookAt ?? SessionColumns.noLook, userNumber: number, connection)
        }
    }

    func end(_ id: Identifier<Session>, _ ending: Session.Ending) {
        perform { (connection) throws(DatabaseError) in
            try connection.execute(SessionRow.end, ending.at, ending.reason.rawValue, id)
            try connection.execute(ProviderCheckRow.delete, id)
            try connection.execute(PINRow.delete, id)
        }
    }

    func endSessions(
        of userID: Identifier<User>, _ ending: UserChange.EndingSessions
    ) -> Answer<[EndedSession]> {
        answer { (connection) throws(DatabaseError) in
            let ended = try connection.all(
                SessionRow.endAll, ending.at, ending.reason.rawValue, UserRow.number(of: userID, connection),
                ending.except, ending.clientID, ending.deviceID
            ) { (row) throws(CorruptRow) in try EndedSession(&row) }
            for session in ended {
                try connection.execute(ProviderCheckRow.delete, session.id)
                try connection.execute(PINRow.delete, session.id)
            }
            return ended
        }
    }

    func updateConfirmation(of session: Session) {
        perform(
            SessionRow.updateConfirmation, session.confirmation?.provider, session.confirmation?.at,
            session.ending?.at, session.ending?.reason.rawValue, session.id)
    }
}
