internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func session(_ id: Identifier<Session>) -> Answer<Session?> { first(SessionSQL.selectByID(id), read) }

    func sessionForUpdate(_ id: Identifier<Session>) -> Answer<Session?> {
        let takesLock = canTakeLock
        holdsRows = true
        let locks = takesLock ? [UserLocks.sharing(ofSession: id)] : []
        return ask(locks + [SessionSQL.selectForUpdate(id)]) { (rows) throws(DatabaseError) in
            if takesLock, let number = try rows[0].first({ row in row.integer() }) {
                self.users?.add(Int32(number), alone: false)
            }
            return try rows[locks.count].first(self.readForUpdate)
        }
    }

    func sessions(_ ids: [Identifier<Session>]) -> Answer<[Session]> {
        all(SessionSQL.selectAll(ArrayParameter(ids)), read)
    }

    func sessions(letInWithKey thumbprint: String, limit: Int) -> Answer<[Session]> {
        all(SessionSQL.selectLetIn(withKey: thumbprint, limit: limit), read)
    }

    func livingSessions(at places: [Installation]) -> Answer<[Session]> {
        all(SessionSQL.selectLiving(at: places), read)
    }

    func livingSessionForUpdate(at place: Installation) -> Answer<Session?> {
        share(place.userID)
        return firstForUpdate(SessionSQL.selectLivingForUpdate(at: place), readForUpdate)
    }

    func sessions(of userID: Identifier<User>, after cursor: SessionCursor?, limit: Int) -> Answer<[Session]> {
        let startedAt = cursor?.startedAt.secondsSinceEpoch ?? .max
        return all(
            SessionSQL.selectPage(of: userID, before: startedAt, cursor?.id, limit: limit), read)
    }

    func sessions(of userID: Identifier<User>, onDevice deviceID: String) -> Answer<[Session]> {
        all(SessionSQL.selectOnDevice(deviceID, of: userID), read)
    }

    func latestSessions(of userID: Identifier<User>, limit: Int, lookMax: Int) -> Answer<[Session]> {
        all(SessionSQL.selectLatest(of: userID, limit: limit, lookMax: lookMax), read)
    }

    func hasTombstone(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) -> Answer<Bool> {
        let statement = SessionSQL.selectEnded(onDevice: deviceID, of: userID, before: instant, lookMax: lookMax)
        return ask([statement]) { rows in rows[0].count > 0 }
    }

    func sessions(after id: Identifier<Session>?, limit: Int) -> Answer<[Session]> {
        all(SessionSQL.selectInOrder(after: id, limit: limit), read)
    }

    func looks(_ selection: SessionSelection, limit: Int) -> Answer<[SessionLook]> {
        all(SessionSQL.selectLooks(selection, limit: limit), SessionSQL.readLook)
    }

    func move(_ looks: [(look: SessionLook, next: Instant)], forgetting forgotten: [SessionLook]) -> Answer<Int> {
        perform(SessionSQL.lock(looks.map(\.look) + forgotten))
        if !looks.isEmpty { perform(SessionSQL.move(looks)) }
        return count(SessionSQL.forget(forgotten))
    }

    func lookAtSessions(of userID: Identifier<User>, by instant: Instant) {
        perform(SessionSQL.lookEarlier(at: userID, by: instant))
    }

    func insert(_ session: Session, lookAt: Instant) {
        owners[session.id] = session.userID
        shareToWrite(session.userID)
        perform(SessionSQL.insert(session, lookAt: lookAt))
    }

    func replace(_ session: Session, lookAt: Instant?) {
        owners[session.id] = session.userID
        shareToWrite(session.userID)
        perform(SessionSQL.replace(session, lookAt: lookAt ?? SessionColumns.noLook))
    }

    func end(_ id: Identifier<Session>, _ ending: Session.Ending) {
        guard let userID = owners[id] else { preconditionFailure("a session is read before it ends") }
        shareToWrite(userID)
        perform(SessionSQL.end(id, ending))
    }

    func endSessions(
        of userID: Identifier<User>, _ ending: UserChange.EndingSessions
    ) -> Answer<[EndedSession]> {
        takeAlone(userID)
        holdsRows = true
        return all(SessionSQL.endAll(ending, of: userID)) { (row) throws(CorruptRow) in try EndedSession(&row) }
    }

    func updateConfirmation(of session: Session) {
        owners[session.id] = session.userID
        shareToWrite(session.userID)
        perform(SessionSQL.updateConfirmation(of: session))
    }

    /// Reads a session, and notes its user.
    private func read(_ row: inout Row) throws(CorruptRow) -> Session {
        let session = try SessionSQL.read(&row)
        if users != nil { owners[session.id] = session.userID }
        return session
    }

    private func readForUpdate(_ row: inout Row) throws(CorruptRow) -> Session {
        let session = try read(&row)
        share(session.userID)
        return session
    }
}
