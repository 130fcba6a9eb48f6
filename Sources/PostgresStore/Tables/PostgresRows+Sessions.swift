internal import Sessions
internal import StoreFoundation

extension PostgresRows {
    func session(_ id: Identifier<Session>) -> Answer<Session?> { first(SessionSQL.selectByID(id), SessionSQL.read) }

    func sessionForUpdate(_ id: Identifier<Session>) -> Answer<Session?> {
        first(SessionSQL.selectForUpdate(id), SessionSQL.read)
    }

    func sessions(_ ids: [Identifier<Session>]) -> Answer<[Session]> {
        all(SessionSQL.selectAll(ArrayParameter(ids)), SessionSQL.read)
    }

    func sessions(letInWithKey thumbprint: String, limit: Int) -> Answer<[Session]> {
        all(SessionSQL.selectLetIn(withKey: thumbprint, limit: limit), SessionSQL.read)
    }

    func livingSessions(at places: [Installation]) -> Answer<[Session]> {
        all(SessionSQL.selectLiving(at: places), SessionSQL.read)
    }

    func livingSessionForUpdate(at place: Installation) -> Answer<Session?> {
        first(SessionSQL.selectLivingForUpdate(at: place), SessionSQL.read)
    }

    func sessions(of userID: Identifier<User>, after cursor: SessionCursor?, limit: Int) -> Answer<[Session]> {
        let startedAt = cursor?.startedAt.secondsSinceEpoch ?? .max
        return all(
            SessionSQL.selectPage(of: userID, before: startedAt, cursor?.id, limit: limit), SessionSQL.read)
    }

    func sessions(of userID: Identifier<User>, onDevice deviceID: String) -> Answer<[Session]> {
        all(SessionSQL.selectOnDevice(deviceID, of: userID), SessionSQL.read)
    }

    func latestSessions(of userID: Identifier<User>, limit: Int, lookMax: Int) -> Answer<[Session]> {
        all(SessionSQL.selectLatest(of: userID, limit: limit, lookMax: lookMax), SessionSQL.read)
    }

    func hasTombstone(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) -> Answer<Bool> {
        let statement = SessionSQL.selectEnded(onDevice: deviceID, of: userID, before: instant, lookMax: lookMax)
        return ask([statement]) { rows in rows[0].count > 0 }
    }

    func sessions(after id: Identifier<Session>?, limit: Int) -> Answer<[Session]> {
        all(SessionSQL.selectInOrder(after: id, limit: limit), SessionSQL.read)
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

    func insert(_ session: Session, lookAt: Instant) { perform(SessionSQL.insert(session, lookAt: lookAt)) }

    func replace(_ session: Session, lookAt: Instant?) {
        perform(SessionSQL.replace(session, lookAt: lookAt ?? SessionColumns.noLook))
    }

    func end(_ id: Identifier<Session>, _ ending: Session.Ending) { perform(SessionSQL.end(id, ending)) }

    func endSessions(
        of userID: Identifier<User>, _ ending: UserChange.EndingSessions
    ) -> Answer<[EndedSession]> {
        all(SessionSQL.endAll(ending, of: userID)) { (row) throws(CorruptRow) in try EndedSession(&row) }
    }

    func updateConfirmation(of session: Session) { perform(SessionSQL.updateConfirmation(of: session)) }
}
