// Bonds: the sessions that a phone has let in, and their logins. They end with the session of the phone, in one transaction,
// and move with it when a new login of the phone replaces it. A phone is locked before what depends on it.

extension StoreTransaction {
    /// Ends what depends on a session that ends with `ending`: its companions, the sessions that it has let in as a phone, and
    /// theirs; and notes the end in the login that let the session itself in. Returns the events, without those of `except`.
    func endDependents(
        of id: Identifier<Session>, ofClient clientID: String, _ ending: Session.Ending,
        except: Identifier<Session>? = nil, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        let (own, bonded) = (loginSessionForUpdate(id), loginSessionsForUpdate(ofPhone: id))
        var events: [AuditEvent] = []
        if let login = try own.value() { act(.sessionEnded(ending.reason), on: login, at: ending.at) }
        let logins = try bonded.value()
        events += try endCompanions(of: id, ofClient: clientID, ending, except: except, by: origin)
        guard ending.reason.endsCompanions else { return events }
        for login in logins { events += try endBond(of: login, at: ending.at, by: origin) }
        return events
    }

    /// Ends a login because its phone is gone, and the session that came of it.
    private func endBond(
        of login: LoginSession, at now: Instant, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        let outcome = act(.phoneEnded, on: login, at: now)
        var events = outcome.effects.events(of: outcome.login, by: origin, at: now)
        guard outcome.effects.contains(where: \.endsSession) else { return events }
        guard let session = try sessionForUpdate(login.id).value(), session.ending == nil else { return events }
        let ending = Session.Ending(reason: .parentEnded, at: now)
        end(session.id, ending)
        events.append(.ended(session, .parentEnded, at: now, by: origin))
        return events
            + (try endDependents(of: session.id, ofClient: session.clientID, ending, by: origin))
    }

    /// Lets the sessions that depend on `old` depend on `new`, which replaces it, and notes the end of `old` in the login that
    /// let it in.
    func moveBonds(from old: Identifier<Session>, to new: Identifier<Session>, at now: Instant) throws(TransactionError)
    {
        let (own, bonded) = (loginSessionForUpdate(old), loginSessionsForUpdate(ofPhone: old))
        if let login = try own.value() { act(.sessionEnded(.replaced), on: login, at: now) }
        for login in try bonded.value() {
            let outcome = act(.phoneReplaced(by: new), on: login, at: now)
            guard outcome.login.isLoggedIn else { continue }
            try setPhone(new, of: login.id)
        }
    }

    /// Lets a session depend on that phone, if it has not ended.
    func setPhone(_ phoneID: Identifier<Session>, of id: Identifier<Session>) throws(TransactionError) {
        guard var session = try sessionForUpdate(id).value(), session.ending == nil else { return }
        session.phoneID = phoneID
        replace(session)
    }

    /// Ends what depends on those sessions of a user, which have ended together, and notes their ends in their logins.
    ///
    /// - Parameter logins: the living logins of the user's phones; those that go on remain.
    func endBonds(
        in logins: inout [LoginSession], _ ended: [EndedSession], _ ending: UserChange.EndingSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        let ids = Set(ended.map(\.id))
        var (events, remaining) = ([AuditEvent](), [LoginSession]())
        for login in logins {
            if ids.contains(login.id) {
                act(.sessionEnded(ending.reason), on: login, at: ending.at)
            } else if let phoneID = login.claim?.sessionID, ids.contains(phoneID) {
                events += try endBond(of: login, at: ending.at, by: origin)
            } else {
                remaining.append(login)
            }
        }
        logins = remaining
        return events
    }

    /// Marks the logins of a user as those of a deleted one. The user's sessions have ended before.
    func noteDeletion(of userID: Identifier<User>, at now: Instant) throws(TransactionError) {
        for login in try livingLoginSessionsForUpdate(ofUser: userID).value() {
            act(.userDeleted(userID), on: login, at: now)
        }
        markLoginSessionsDeleted(of: userID)
    }

    /// Lets another row's change act on a login, and writes the login.
    @discardableResult
    private func act(
        _ act: LoginAct, on login: LoginSession, at now: Instant
    ) -> (login: LoginSession, effects: [LoginEffect]) {
        var changed = login
        let outcome = LoginDecision().decide(LoginCall(act), &changed, at: now)
        if changed != login { update(changed) }
        return (changed, outcome.effects)
    }
}

extension StoreReader {
    /// The phone on which `session` depends; nil if it depends on none.
    func phoneState(of session: Session, _ catalogue: Catalogue) throws(TransactionError) -> PhoneState? {
        guard let phoneID = session.phoneID else { return nil }
        let (phone, login) = (self.session(phoneID), loginSession(.id(session.id)))
        guard let found = try phone.value() else { return .forgotten }
        return .known(found, client: catalogue.clients[found.clientID], login: try login.value())
    }
}

extension Store {
    /// A session with what it depends on, its phone included; nil if there is none. Only sessions that depend on a phone take
    /// more than `session(_:)` does.
    public func wholeSession(_ id: Identifier<Session>) async throws(StoreError) -> SessionRecord? {
        guard var record = try await session(id) else { return nil }
        if record.session.phoneID == nil || record.session.ending != nil { return record }
        let session = record.session
        record.phone = try await read(.short) { (reader) throws(TransactionError) in
            try reader.phoneState(of: session, try reader.catalogue().value())
        }
        return record
    }
}

extension LoginEffect {
    /// Whether the session of the login ends by it.
    var endsSession: Bool { if case .endSession = self { true } else { false } }
}

extension [LoginEffect] {
    /// The audit events among the effects on `login`.
    func events(of login: LoginSession, by origin: Origin, at now: Instant) -> [AuditEvent] {
        compactMap { effect in
            guard case .record(let record) = effect else { return nil }
            let hasEnded = record == .aborted || record == .failed
            return AuditEvent(
                record.kind, at: now, by: origin, userID: login.userID ?? login.claim?.userID, sessionID: login.id,
                clientID: login.clientID, deviceID: login.claim?.deviceID,
                reason: hasEnded ? login.cause?.rawValue : nil)
        }
    }
}

extension LoginEffect.Record {
    /// The kind of the event.
    fileprivate var kind: AuditEvent.Kind {
        switch self {
        case .claimed: .loginClaimed
        case .approved: .loginApproved
        case .aborted: .loginAborted
        case .failed: .loginFailed
        case .reported: .loginReported
        }
    }
}
