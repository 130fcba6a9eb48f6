// Companions, which end with a session, each theft included: the session of a browser, and the sessions of apps that began in it
// by a login on the server's page, or that such a login has continued.

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
    /// Ends the companions of a session that ends with `ending`: of an app's session the session of the browser in which it
    /// began, and those of the browsers that have continued it, so that they ask again; of a browser's session all sessions of apps
    /// that began in it. Other apps of the same browser go on when one app logs out. Returns the events of the ends, without
    /// those of `except`, which goes on.
    func endCompanions(
        of id: Identifier<Session>, ofClient clientID: String, _ ending: Session.Ending,
        except: Identifier<Session>? = nil, in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        guard ending.reason.endsCompanions else { return [] }
        var companions: [Identifier<Session>] = []
        if clientID == Client.browserID {
            for login in try logins(inBrowser: id).value() {
                companions.append(login.sessionID)
                try cancelCode(of: login, in: locked)
            }
        } else {
            let (began, continued) = (try browser(of: id), logins(continuing: id))
            companions = (began.map { [$0] } ?? []) + (try continued.value().compactMap(\.browserSession))
        }
        var events: [AuditEvent] = []
        for companion in companions where companion != except {
            events += try end(companion, ending, in: &locked, by: origin)
        }
        return events
    }

    /// The session of the browser in which that session of an app began; nil: in none.
    func browser(of id: Identifier<Session>) throws(TransactionError) -> Identifier<Session>? {
        let (onPage, own) = (login(id), phoneLogin(.id(id)))
        let (page, phone) = (try onPage.value(), try own.value())
        return page?.browserSession ?? phone?.browserSession
    }

    /// Cancels the code of a login, if it was not exchanged. An exchange that was committed after the sessions were locked has
    /// made one that is not among these, and makes this transaction run again.
    func cancelCode(of known: PageLogin, in locked: LockedSessions) throws(TransactionError) {
        guard known.codeHash != nil else { return }
        var login = known
        if known.codeUsedAt == nil {
            guard let current = try loginForUpdate(known.id).value() else { return }
            login = current
        }
        if login.codeUsedAt != nil {
            // A code for a session that lived before has made none.
            if login.joinedSession != nil { return }
            // The row of a session that has ended may be gone, so that a session without a lock is read again.
            let id = login.sessionID
            if locked[id] == nil, let session = try session(id).value(), session.ending == nil {
                throw .overtaken
            }
            return
        }
        login.codeHash = nil
        update(login)
    }
}

extension Store {
    /// Whether an end of the session can change other rows: it is of a browser, began in one, was let in by a phone, or is that
    /// of a phone which has claimed a login.
    public func hasDependents(_ id: Identifier<Session>) async throws(StoreError) -> Bool {
        try await read(.short) { (reader) throws(TransactionError) in
            let (login, continued) = (reader.login(id), reader.logins(continuing: id))
            let (session, isPhone) = (reader.session(id), reader.hasPhoneLogins(ofPhone: id))
            if try login.value()?.browserSession != nil { return true }
            if try continued.value().contains(where: { $0.browserSession != nil }) { return true }
            let found = try session.value()
            if found?.clientID == Client.browserID || found?.phoneID != nil || found?.isByPhone == true { return true }
            return try isPhone.value()
        }
    }

    /// Lets `change` edit a session, and if that ends it, ends its companions, and what it has let in as a phone, in the same
    /// transaction. Nil if there is no such session. The companion `spared` goes on.
    ///
    /// - Parameter isRepeatable: whether `change` may run once more. The other sessions are then locked only if this one ends.
    public func updateSessionAndCompanions<Outcome: Sendable>(
        _ id: Identifier<Session>, sparing spared: Identifier<Session>? = nil, isRepeatable: Bool = false,
        by origin: Origin, _ change: @escaping @Sendable (inout SessionChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        for locksAll in isRepeatable ? [false, true] : [true] {
            let outcome = try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
                (transaction) throws(TransactionError) -> CompanionUpdate<Outcome> in
                try transaction.update(id, locksAll: locksAll, sparing: spared, by: origin, change)
            }
            if case .done(let outcome) = outcome { return outcome }
        }
        return nil
    }
}

/// The result of a transaction that may have to lock more sessions.
private enum CompanionUpdate<Outcome: Sendable>: Sendable {
    /// Nil: there is no such session.
    case done(Outcome?)
    /// Nothing was written, because the session ends, and others may end with it.
    case ends
}

extension StoreTransaction {
    fileprivate func update<Outcome: Sendable>(
        _ id: Identifier<Session>, locksAll: Bool, sparing spared: Identifier<Session>?, by origin: Origin,
        _ change: (inout SessionChange) -> Outcome
    ) throws(TransactionError) -> CompanionUpdate<Outcome> {
        var locked = LockedSessions()
        if locksAll { locked = try lock([id]) } else { try lock([id], in: &locked) }
        let catalogue = catalogue()
        guard let session = locked[id] else { return .done(nil) }
        let known = try catalogue.value()
        let user = try user(.id(session.userID)).value()
        var edited = SessionChange(known.record(of: session, user))
        edited.record.phone = try phoneState(of: session, known)
        let outcome = change(&edited)
        var events = edited.events
        if session.ending == nil, let ending = edited.session.ending {
            if !locksAll { return .ends }
            end(id, ending)
            events += try endDependents(
                of: id, ofClient: session.clientID, ending, except: spared, in: &locked, by: origin)
        } else if edited.session != session {
            replace(edited.session)
        }
        append(events, known)
        return .done(outcome)
    }
}

// MARK: Locks

/// The sessions that a transaction has locked, as they stand. Those whose ends hang together are locked before the first of them
/// ends: a phone before what it has let in, and those beside each other in the order of their ids, so that two ends from
/// different sides cannot deadlock.
struct LockedSessions {
    private var sessions: [Identifier<Session>: Session] = [:]
    /// Those that were asked for, whether they exist or not.
    private var known: Set<Identifier<Session>> = []
    /// Whether every session that was not asked for has ended.
    private let isComplete: Bool

    /// No session.
    ///
    /// - Parameter isComplete: whether every session that is not noted has ended.
    init(isComplete: Bool = false) { self.isComplete = isComplete }

    /// The session, whatever its state; nil if there is none.
    subscript(id: Identifier<Session>) -> Session? { sessions[id] }

    /// Whether the session is locked, or needs no lock.
    func has(_ id: Identifier<Session>) -> Bool { isComplete || known.contains(id) }

    mutating func note(_ id: Identifier<Session>, _ session: Session?) {
        known.insert(id)
        sessions[id] = session
    }

    /// Ends the session. Nil if it has ended, or there is none. A session that another transaction has tied to these meanwhile
    /// makes this one run again.
    mutating func end(_ id: Identifier<Session>, _ ending: Session.Ending) throws(TransactionError) -> Session? {
        guard has(id) else { throw .overtaken }
        guard let session = sessions[id], session.ending == nil else { return nil }
        sessions[id]?.ending = ending
        return session
    }
}

extension StoreTransaction {
    /// Locks those sessions, and every one that their ends can reach.
    ///
    /// - Parameter phones: sessions on which those depend.
    func lock(
        _ ids: Set<Identifier<Session>>, after phones: Set<Identifier<Session>> = []
    ) throws(TransactionError) -> LockedSessions {
        var level = ids
        for id in ids { level.formUnion(try companions(of: id)) }
        var locked = LockedSessions()
        try lock(phones.subtracting(level), in: &locked)
        while !level.isEmpty {
            try lock(level, in: &locked)
            var below: Set<Identifier<Session>> = []
            for id in level {
                for login in try phoneLogins(ofPhone: id).value() { below.formUnion(try sessionIDs(of: login)) }
            }
            level = below.filter { !locked.has($0) }
        }
        return locked
    }

    /// Locks those sessions, in the order of their ids, and nothing else.
    func lock(_ ids: Set<Identifier<Session>>, in locked: inout LockedSessions) throws(TransactionError) {
        let ordered = ids.sorted { $0.words < $1.words }
        for (id, answer) in ordered.map({ ($0, sessionForUpdate($0)) }) { locked.note(id, try answer.value()) }
    }

    /// The sessions beside that one which can end with it: its companions, and the others of its phone login.
    private func companions(of id: Identifier<Session>) throws(TransactionError) -> Set<Identifier<Session>> {
        let (onPage, continued) = (login(id), logins(continuing: id))
        let (inBrowser, own) = (logins(inBrowser: id), phoneLogin(.session(id)))
        var ids = Set(try inBrowser.value().map(\.sessionID))
        if let browser = try onPage.value()?.browserSession { ids.insert(browser) }
        ids.formUnion(try continued.value().compactMap(\.browserSession))
        if let login = try own.value() { ids.formUnion(try sessionIDs(of: login)) }
        return ids
    }
}

extension StoreReader {
    /// The sessions of a phone login: its own, those that the session of its browser answered, and that of the browser.
    func sessionIDs(of login: PhoneLogin) throws(TransactionError) -> Set<Identifier<Session>> {
        var ids: Set = [login.id]
        if let browser = login.browserSession {
            ids.insert(browser)
            ids.formUnion(try logins(letInBy: login.id).value().map(\.id))
        }
        return ids
    }

    /// The logins with a phone that have let that session in: one, or for the session of a browser all that it has collected, the
    /// latest first.
    func phoneLogins(of id: Identifier<Session>) throws(TransactionError) -> [PhoneLogin] {
        let (own, inBrowser) = (phoneLogin(.session(id)), phoneLogins(inBrowser: id))
        let logins = try inBrowser.value()
        return (try own.value().map { [$0] } ?? logins).filter(\.hasLetIn)
    }
}

extension Store {
    /// The logins with a phone that have let that session in, and all sessions of these, as they stand; without such a login that
    /// session alone.
    public func sessions(
        letInWith id: Identifier<Session>
    ) async throws(StoreError) -> (logins: [PhoneLogin], sessions: [SessionRecord]) {
        let (logins, ids) = try await read(.short) { (reader) throws(TransactionError) in
            let logins = try reader.phoneLogins(of: id)
            var ids: Set = [id]
            for login in logins { ids.formUnion(try reader.sessionIDs(of: login)) }
            return (logins, ids)
        }
        var records: [SessionRecord] = []
        for id in ids.sorted(by: { $0.words < $1.words }) {
            if let record = try await wholeSession(id) { records.append(record) }
        }
        return (logins, records)
    }
}
