/// The requests about sessions.
public protocol SessionReader {
    func session(_ id: Identifier<Session>) -> Answer<Session?>

    /// The sessions with those ids, in no order.
    func sessions(_ ids: [Identifier<Session>]) -> Answer<[Session]>

    /// The newest `limit` sessions, ended or not, that phones have let in with that key.
    func sessions(letInWithKey thumbprint: String, limit: Int) -> Answer<[Session]>

    /// The sessions without a recorded end on those installations, in no order.
    func livingSessions(at places: [Installation]) -> Answer<[Session]>

    /// The sessions of a user, tombstones included, newest first.
    func sessions(of userID: Identifier<User>, after cursor: SessionCursor?, limit: Int) -> Answer<[Session]>

    /// The sessions of a user on a device that have no recorded end, at most one of each client. Reads no other session.
    func sessions(of userID: Identifier<User>, onDevice deviceID: String) -> Answer<[Session]>

    /// Up to `limit` sessions of a user that have no recorded end, the last refreshed first. Reads at most `lookMax` sessions,
    /// so it considers only some of the sessions of a user that has more.
    func latestSessions(of userID: Identifier<User>, limit: Int, lookMax: Int) -> Answer<[Session]>

    /// Whether the user has a tombstone of a session on that device that started before `instant`. Reads at most `lookMax`
    /// tombstones.
    func hasTombstone(
        of userID: Identifier<User>, onDevice deviceID: String, before instant: Instant, lookMax: Int
    ) -> Answer<Bool>

    /// Every session, tombstones included, in the order of their ids.
    func sessions(after id: Identifier<Session>?, limit: Int) -> Answer<[Session]>

    /// Up to `limit` sessions at which clean-up looks.
    func looks(_ selection: SessionSelection, limit: Int) -> Answer<[SessionLook]>
}

/// The requests and writes about sessions inside a transaction.
public protocol SessionTransaction: SessionReader {
    func sessionForUpdate(_ id: Identifier<Session>) -> Answer<Session?>

    /// The session without a recorded end on an installation, for update.
    func livingSessionForUpdate(at place: Installation) -> Answer<Session?>

    /// Adds a session of an existing user, at which clean-up looks first at `lookAt`.
    func insert(_ session: Session, lookAt: Instant)

    /// Adds a session, or writes the session with that id: all that can change, but the confirmation of a provider. Clean-up
    /// looks at it at `lookAt` at the latest; nil: the session exists, and clean-up looks at it as before. The user may be
    /// deleted.
    func replace(_ session: Session, lookAt: Instant?)

    /// Moves the next looks at those sessions, to a later time only if they are as they were found, and deletes those of
    /// `forgotten` that are as they were found, with their provider checks and PINs. Returns the number of deleted ones.
    func move(_ looks: [(look: SessionLook, next: Instant)], forgetting forgotten: [SessionLook]) -> Answer<Int>

    /// Ends a session that has no end, and deletes its provider check and its PIN.
    func end(_ id: Identifier<Session>, _ ending: Session.Ending)

    /// Ends the sessions of a user that `ending` selects, and deletes their provider checks and PINs.
    func endSessions(of userID: Identifier<User>, _ ending: UserChange.EndingSessions) -> Answer<[EndedSession]>

    /// Writes the ending and the confirmation of a session, and no other field.
    func updateConfirmation(of session: Session)
}

extension SessionTransaction {
    /// Writes a session that exists: all that can change, but the confirmation of a provider.
    func replace(_ session: Session) { replace(session, lookAt: nil) }
}
