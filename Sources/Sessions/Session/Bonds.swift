// Bonds: the sessions that a phone has let in, and their logins. They end with the session of the phone, in one transaction,
// and move with it when a new login of the phone replaces it.

extension StoreTransaction {
    /// Ends what depends on a session that ends with `ending`, and is locked with `lock`: its companions, the others of its phone
    /// login if the end goes to all of these, the sessions that it has let in as a phone, and theirs; and notes the end in the
    /// login that let the session itself in. Returns the events, without those of `except`.
    func endDependents(
        of id: Identifier<Session>, ofClient clientID: String, _ ending: Session.Ending,
        except: Identifier<Session>? = nil, in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        if locked[id]?.ending == nil { _ = try locked.end(id, ending) }
        var events = try endCompanions(
            of: id, ofClient: clientID, ending, except: except, in: &locked, by: origin)
        events += try noteEnd(of: id, ofClient: clientID, ending, except: except, in: &locked, by: origin)
        if ending.reason.endsCompanions { events += try endBonds(of: id, at: ending.at, in: &locked, by: origin) }
        return events
    }

    /// Ends a session, and what it has let in as a phone. Its companions go on.
    func end(
        _ id: Identifier<Session>, _ ending: Session.Ending, in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        guard let session = try locked.end(id, ending) else { return [] }
        end(id, ending)
        return [.ended(session, ending.reason, at: ending.at, by: origin)]
            + (try endBonds(of: id, at: ending.at, in: &locked, by: origin))
    }

    /// Ends the sessions of a phone login, and cancels the codes that would start more of them.
    func endSessions(
        of login: PhoneLogin, _ ending: Session.Ending, except: Identifier<Session>? = nil,
        in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        if let own = try self.login(login.id).value() { try cancelCode(of: own, in: locked) }
        if login.browserSession != nil {
            for other in try logins(letInBy: login.id).value() { try cancelCode(of: other, in: locked) }
        }
        var events: [AuditEvent] = []
        // Its own session first, then the others in the order of their ids.
        let others = try sessionIDs(of: login).subtracting([login.id]).sorted { $0.words < $1.words }
        for id in [login.id] + others where id != except {
            events += try end(id, ending, in: &locked, by: origin)
        }
        if let browser = login.browserSession {
            try noteLast(of: try phoneLogins(inBrowser: browser).value(), ending, in: locked)
        }
        return events
    }

    /// Notes the end of a session in the phone logins that have let it in, and ends what these let end with it.
    func noteEnd(
        of id: Identifier<Session>, ofClient clientID: String, _ ending: Session.Ending,
        except: Identifier<Session>? = nil, in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        let browser = try clientID == Client.browserID ? id : self.browser(of: id)
        let (own, inBrowser) = (phoneLogin(.session(id)), browser.map { phoneLogins(inBrowser: $0) })
        var events: [AuditEvent] = []
        if let ownID = try own.value()?.id, let login = try phoneLoginForUpdate(ownID).value() {
            let hasSessions = try self.hasSessions(login, in: locked)
            let outcome = act(.sessionEnded(ending.reason), on: login, hasSessions: hasSessions, at: ending.at)
            if outcome.effects.contains(where: \.endsSession) {
                events += try endSessions(of: login, ending, except: except, in: &locked, by: origin)
            }
        }
        try noteLast(of: try inBrowser?.value() ?? [], ending, in: locked)
        return events
    }

    /// Notes the end of the session of a browser in those of its phone logins that have no other session.
    private func noteLast(
        of logins: [PhoneLogin], _ ending: Session.Ending, in locked: LockedSessions
    ) throws(TransactionError) {
        for known in logins where known.isLoggedIn {
            guard let login = try phoneLoginForUpdate(known.id).value(), login.isLoggedIn,
                try !hasSessions(login, in: locked)
            else { continue }
            act(.sessionEnded(ending.reason), on: login, at: ending.at)
        }
    }

    /// Notes the end of a session that ends alone in the phone logins that have let it in.
    func noteEnd(
        of session: Session, _ reason: EndReason, at now: Instant
    ) throws(TransactionError) {
        if session.phoneID == nil, !session.isByPhone { return }
        var locked = LockedSessions()
        locked.note(session.id, session)
        let ending = Session.Ending(reason: reason, at: now)
        _ = try locked.end(session.id, ending)
        _ = try noteEnd(of: session.id, ofClient: session.clientID, ending, in: &locked, by: .system)
    }

    /// Whether a session of the login lives. The row of the login is locked, so that of two ends at once the later one sees the
    /// earlier one.
    func hasSessions(_ login: PhoneLogin, in locked: LockedSessions) throws(TransactionError) -> Bool {
        for id in try sessionIDs(of: login) {
            let session = try locked.has(id) ? locked[id] : self.session(id).value()
            if let session, session.ending == nil, session.isOf(login) { return true }
        }
        return false
    }

    /// Ends the logins of a phone with a session that has ended, and what came of them.
    private func endBonds(
        of id: Identifier<Session>, at now: Instant, in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        var events: [AuditEvent] = []
        for login in try phoneLoginsForUpdate(ofPhone: id).value() {
            events += try endBond(of: login, at: now, in: &locked, by: origin)
        }
        return events
    }

    /// Ends a login because its phone is gone, and the sessions that came of it, with the browser's.
    private func endBond(
        of login: PhoneLogin, at now: Instant, in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        let outcome = act(.phoneEnded, on: login, at: now)
        let phone = outcome.login.claim.flatMap { locked[$0.sessionID] }
        let events = outcome.effects.events(of: outcome.login, onPhone: phone?.device, by: origin, at: now)
        guard outcome.effects.contains(where: \.endsSession) else { return events }
        let ending = Session.Ending(reason: .parentEnded, at: now)
        return events + (try endSessions(of: login, ending, in: &locked, by: origin))
    }

    /// Lets the sessions that depend on `old` depend on `new`, which replaces it, and notes the end of `old` in the login that
    /// let it in.
    func moveBonds(from old: Session, to new: Identifier<Session>, at now: Instant) throws(TransactionError) {
        try noteEnd(of: old, .replaced, at: now)
        var moved: [PhoneLogin] = []
        for login in try phoneLoginsForUpdate(ofPhone: old.id).value() {
            let outcome = act(.phoneReplaced(by: new), on: login, at: now)
            if outcome.login.isLoggedIn { moved.append(login) }
        }
        for login in moved { try setPhone(new, of: login) }
    }

    /// Lets the sessions of a login depend on that phone, as far as they depend on one.
    func setPhone(_ phoneID: Identifier<Session>, of login: PhoneLogin) throws(TransactionError) {
        var locked = LockedSessions()
        let ids = try sessionIDs(of: login)
        try lock(ids, in: &locked)
        for var session in ids.compactMap({ locked[$0] })
        where session.ending == nil && session.phoneID != nil && session.phoneID == login.claim?.sessionID {
            session.phoneID = phoneID
            replace(session)
        }
    }

    /// Ends what depends on those sessions of a user, which have ended together, and notes their ends in their logins.
    ///
    /// - Parameter logins: the living logins of the user's phones; those that go on remain.
    func endBonds(
        in logins: inout [PhoneLogin], _ ended: [EndedSession], _ ending: UserChange.EndingSessions,
        in locked: inout LockedSessions, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        let ids = Set(ended.map(\.id))
        var (events, remaining) = ([AuditEvent](), [PhoneLogin]())
        for var login in logins {
            if login.isLoggedIn, !(try sessionIDs(of: login).isDisjoint(with: ids)) {
                let hasSessions = try self.hasSessions(login, in: locked)
                let outcome = act(.sessionEnded(ending.reason), on: login, hasSessions: hasSessions, at: ending.at)
                if outcome.effects.contains(where: \.endsSession) {
                    let end = Session.Ending(reason: ending.reason, at: ending.at)
                    events += try endSessions(of: login, end, except: ending.except, in: &locked, by: origin)
                }
                login = outcome.login
            }
            if !login.state.isFinal, let phoneID = login.claim?.sessionID, ids.contains(phoneID) {
                events += try endBond(of: login, at: ending.at, in: &locked, by: origin)
            } else if !login.state.isFinal {
                remaining.append(login)
            }
        }
        logins = remaining
        return events
    }

    /// Marks the logins of a user as those of a deleted one. The user's sessions have ended before.
    func noteDeletion(of userID: Identifier<User>, at now: Instant) throws(TransactionError) {
        for login in try livingPhoneLoginsForUpdate(ofUser: userID).value() {
            act(.userDeleted(userID), on: login, at: now)
        }
        markPhoneLoginsDeleted(of: userID)
    }

    /// Lets another row's change act on a login, and writes the login.
    @discardableResult
    private func act(
        _ act: PhoneLogin.Act, on login: PhoneLogin, hasSessions: Bool = false, at now: Instant
    ) -> PhoneLoginOutcome {
        let outcome = PhoneLoginPolicy().decide(PhoneLoginAttempt(act, hasSessions: hasSessions), on: login, at: now)
        if outcome.login != login { update(outcome.login) }
        return outcome
    }
}

extension Session {
    /// Whether a phone let it in, or is one of the ways in which the user of its browser has authenticated.
    public var isByPhone: Bool { authenticationMethods.contains(PhoneLogin.authenticationMethod) }

    /// Whether the session keeps that phone login alive: the session of its browser does while it can answer for the phone.
    func isOf(_ login: PhoneLogin) -> Bool { id != login.browserSession || isByPhone }
}

extension StoreReader {
    /// The phone on which `session` depends; nil if it depends on none.
    func phoneState(of session: Session, _ catalogue: Catalogue) throws(TransactionError) -> BondedPhone? {
        guard let phoneID = session.phoneID else { return nil }
        let phone = self.session(phoneID)
        let login: PhoneLogin?
        if session.clientID == Client.browserID {
            login = try phoneLogins(inBrowser: session.id).value().first {
                $0.isLoggedIn && $0.claim?.sessionID == phoneID
            }
        } else {
            login = try phoneLogin(.session(session.id)).value()
        }
        guard let found = try phone.value() else { return .forgotten }
        return .known(found, client: catalogue.clients[found.clientID], login: login)
    }

    /// The phones that have let in the browser of `session`, the latest first, as they stand.
    func browserPhones(of session: Session, _ catalogue: Catalogue) throws(TransactionError) -> [BrowserPhone] {
        guard session.clientID == Client.browserID, session.isByPhone else { return [] }
        var phones: [BrowserPhone] = []
        for login in try phoneLogins(inBrowser: session.id).value() where login.hasLetIn {
            guard let phone = try login.claim.map({ self.session($0.sessionID) })?.value() ?? nil else { continue }
            let user = try user(.id(phone.userID)).value()
            phones.append(BrowserPhone(login: login, phone: catalogue.record(of: phone, user)))
        }
        return phones
    }
}

extension StoreReader {
    /// The session with all on which it depends; nil: there is none.
    func wholeSession(_ id: Identifier<Session>) throws(TransactionError) -> SessionRecord? {
        let (catalogue, session) = (catalogue(), session(id))
        guard let session = try session.value() else { return nil }
        return try wholeRecord(of: session, try catalogue.value())
    }

    /// The record of a session with all on which it depends. The phone of an ended one does not matter.
    func wholeRecord(of session: Session, _ catalogue: Catalogue) throws(TransactionError) -> SessionRecord {
        let user = user(.id(session.userID))
        let phone = session.ending == nil ? try phoneState(of: session, catalogue) : nil
        var record = catalogue.record(of: session, try user.value())
        record.phone = phone
        return record
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

    /// The phones that have let in the browser of `session`, the latest first.
    public func browserPhones(of session: Session) async throws(StoreError) -> [BrowserPhone] {
        if !session.isByPhone { return [] }
        return try await read(.short) { (reader) throws(TransactionError) in
            try reader.browserPhones(of: session, try reader.catalogue().value())
        }
    }
}

extension PhoneLogin.Effect {
    /// Whether the sessions of the login end by it.
    var endsSession: Bool { if case .endSession = self { true } else { false } }
}

extension [PhoneLogin.Effect] {
    /// The audit events among the effects on `login`.
    ///
    /// - Parameter phone: the device that has claimed the login; nil: it is not known.
    func events(
        of login: PhoneLogin, onPhone phone: Device?, by origin: Origin, at now: Instant
    ) -> [AuditEvent] {
        compactMap { effect in
            guard case .record(let record) = effect else { return nil }
            let hasEnded = record == .aborted || record == .failed
            return AuditEvent(
                record.kind, at: now, by: origin, userID: login.userID ?? login.claim?.userID, sessionID: login.id,
                clientID: login.clientID, deviceID: login.claim?.deviceID,
                deviceName: login.claim == nil ? nil : phone?.label,
                reason: hasEnded ? login.cause?.rawValue : nil)
        }
    }
}

extension PhoneLogin.Effect.Record {
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
