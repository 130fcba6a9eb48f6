// Companions: the session of a browser, and the sessions of apps that began in it by a login on the server's page.

extension EndReason {
    /// Whether an end for this reason ends the companions of the session as well: each end that somebody decided or caused. A
    /// replaced session goes on as another one, and the clock ends each session for itself.
    var endsCompanions: Bool {
        switch self {
        case .replaced, .idleExpired, .maxLifetimeReached: false
        case .loggedOut, .revokedByUser, .revokedByAdmin, .passwordChanged, .refreshTokenReused, .userDeleted,
            .revokedByProvider, .recheckLost, .codeReused, .parentEnded, .presenceLost, .notMe:
            true
        }
    }
}

extension SessionChange {
    /// Whether this change of `session` ends it, and may end companions, and sessions that it has let in as a phone.
    func endsCompanions(after session: Session) -> Bool {
        guard session.ending == nil, let ending = self.session.ending else { return false }
        return ending.reason.endsCompanions
    }
}

extension StoreTransaction {
    /// Ends the companions of a session that ends with `ending`: of an app's session the session of the browser in which it began,
    /// so that the browser asks again; of a browser's session all sessions of apps that began in it. Other apps of the same
    /// browser go on when one app logs out. Returns the events of the ends, without those of `except`, which goes on.
    func endCompanions(
        of id: Identifier<Session>, ofClient clientID: String, _ ending: Session.Ending,
        except: Identifier<Session>? = nil, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        guard ending.reason.endsCompanions else { return [] }
        var companions: [Identifier<Session>] = []
        if clientID == Client.browserID {
            for login in try logins(inBrowser: id).value() {
                companions.append(login.id)
                if login.codeUsedAt == nil, login.codeHash != nil { cancelCode(of: login) }
            }
        } else if let browser = try login(id).value()?.browserSession {
            companions = [browser]
        }
        var events: [AuditEvent] = []
        for companion in companions where companion != except {
            guard let session = try sessionForUpdate(companion).value(), session.ending == nil else { continue }
            end(companion, ending)
            events.append(.ended(session, ending.reason, at: ending.at, by: origin))
        }
        return events
    }

    private func cancelCode(of login: Login) {
        var login = login
        login.codeHash = nil
        update(login)
    }
}

extension Store {
    /// Whether an end of the session can change other rows: it is of a browser, began in one, was let in by a phone, or is that
    /// of a phone which has claimed a login.
    public func hasDependents(_ id: Identifier<Session>) async throws(StoreError) -> Bool {
        try await read(.short) { (reader) throws(TransactionError) in
            let (login, session, isPhone) = (reader.login(id), reader.session(id), reader.hasLoginSessions(ofPhone: id))
            if try login.value()?.browserSession != nil { return true }
            let found = try session.value()
            if found?.clientID == Client.browserID || found?.phoneID != nil { return true }
            return try isPhone.value()
        }
    }

    /// Lets `change` edit a session, and if that ends it, ends its companions, and what it has let in as a phone, in the same
    /// transaction. Nil if there is no such session. The companion `spared` goes on.
    public func updateSessionAndCompanions<Outcome: Sendable>(
        _ id: Identifier<Session>, sparing spared: Identifier<Session>? = nil, by origin: Origin,
        _ change: @escaping @Sendable (inout SessionChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
            (transaction) throws(TransactionError) in
            let (found, catalogue) = (transaction.sessionForUpdate(id), transaction.catalogue())
            guard let session = try found.value() else { return nil }
            let known = try catalogue.value()
            let user = try transaction.user(.id(session.userID)).value()
            var edited = SessionChange(known.record(of: session, user))
            edited.phone = try transaction.phoneState(of: session, known)
            let outcome = change(&edited)
            var events = edited.events
            if session.ending == nil, let ending = edited.session.ending {
                transaction.end(id, ending)
                events += try transaction.endDependents(
                    of: id, ofClient: session.clientID, ending, except: spared, by: origin)
            } else if edited.session != session {
                transaction.replace(edited.session)
            }
            transaction.append(events, known)
            return outcome
        }
    }
}
