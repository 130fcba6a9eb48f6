// Logins with a phone: the requests and writes about their rows, and the procedures: `changeLogin` for an act, `collectLogin` for
// the session of the device, and the lists.

/// The requests about logins with a phone.
public protocol PhoneLoginReader {
    /// The login with a phone that `key` finds.
    func phoneLogin(_ key: PhoneLogin.Lookup) -> Answer<PhoneLogin?>

    /// The logins with a phone that the session of a browser has collected, the latest first.
    func phoneLogins(inBrowser id: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// The living logins that depend on the session of a phone, in the order of their ids.
    func phoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// Whether the phone with that session has claimed a login that is not over.
    func hasPhoneLogins(ofPhone sessionID: Identifier<Session>) -> Answer<Bool>

    /// The logins with a phone, the newest first: those that phones of a user have claimed, that invite the user or that a backend
    /// has requested of the user, and those in a phase, if given.
    func phoneLogins(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) -> Answer<[PhoneLogin]>

    /// Up to `limit` logins that time may have changed by `now`.
    func phoneLogins(dueBy now: Instant, limit: Int) -> Answer<[Identifier<Session>]>

    /// The number of logins that wait for a phone, at most `limit`.
    func waitingPhoneLoginCount(areInvitations: Bool, limit: Int) -> Answer<Int>

    /// Up to `limit` logins with a ping that is due by `now`, the oldest first.
    func duePings(by now: Instant, limit: Int) -> Answer<[LoginReference]>

    /// The number of logins that backends have requested of a user and that wait for the user at `now`.
    func openPushCount(to userID: Identifier<User>, at now: Instant) -> Answer<Int>
}

/// The requests and writes about logins with a phone inside a transaction.
public protocol PhoneLoginTransaction: PhoneLoginReader {
    /// The login with a phone that has that id, for update.
    func phoneLoginForUpdate(_ id: Identifier<Session>) -> Answer<PhoneLogin?>

    /// The living logins that depend on the session of a phone, in the order of their ids, for update.
    func phoneLoginsForUpdate(ofPhone sessionID: Identifier<Session>) -> Answer<[PhoneLogin]>

    /// The living logins that phones of a user have claimed or that invite the user, in the order of their ids, for update.
    func livingPhoneLoginsForUpdate(ofUser userID: Identifier<User>) -> Answer<[PhoneLogin]>

    /// Marks all logins of the account of that user as those of a deleted user.
    func markPhoneLoginsDeleted(of userID: Identifier<User>)

    /// Adds a login with a phone.
    func insert(_ login: PhoneLogin)

    /// Writes the variable fields of a login with a phone.
    func update(_ login: PhoneLogin)

    /// Looks at up to `limit` logins that were requested before `instant`, the oldest first, and deletes those that nothing needs.
    /// A login stays as long as a session of a browser answers by it, its session depends on the phone, or a client with logout
    /// tokens can still be told of it; it is looked at again when its session may be over.
    func sweepPhoneLogins(before instant: Instant, limit: Int) -> Answer<RowSweep>
}

/// An act on a login with a phone, inside a transaction. The closure edits `login`, usually by `act`.
public struct PhoneLoginChange: Sendable {
    /// The login. A difference at the end is written.
    public var login: PhoneLogin
    /// The session of the phone that asks; nil: none does, or there is none with that id.
    public let phone: SessionRecord?
    /// The session of the phone that has claimed the login; nil: none has, or it is forgotten.
    public let claimant: SessionRecord?
    /// The session that the login has started; nil: none, or no longer.
    public let started: Session?
    /// The living sessions of the login: its own, those that the session of its browser answered, and that of the browser.
    public let sessions: [Session]
    /// The client of the login; nil when it was deleted.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// How the sessions of the login end; nil: they do not.
    public var ending: Session.Ending?
    /// The phone on which the sessions of the login depend from now on; nil: that of before.
    public var movesTo: Identifier<Session>?
    /// The PIN of the session of the phone that asks; nil: there is none, or the act does not read it.
    public var pin: PIN?
    /// What the user has proved on the phone that asks; nil: nothing.
    public var shown: (proof: PresenceProof, at: Instant)?
    /// The sessions that are locked.
    fileprivate(set) var locked: LockedSessions
    /// The audit events of the same transaction.
    public var events: [AuditEvent] = []
}

/// A login, and the phone on which it depends, read together.
public struct LoginWithPhone: Hashable, Sendable {
    /// The login.
    public let login: PhoneLogin
    /// The session of the phone that has claimed the login; nil: it depends on none, or the session is forgotten.
    public let claimant: SessionRecord?
}

/// The start of the session of a login, inside a transaction.
public struct PhoneLoginStart: Sendable {
    /// The login and its phone.
    public var change: PhoneLoginChange
    /// The start of the session: set `opening.session` to start it. Nil before an account is chosen.
    public var opening: SessionOpening?
    /// Whether another user has the name of the account that an enrolment makes.
    public var isNameTaken = false
}

extension Store {
    /// Adds a login that a client has requested, with its audit events. False if `limit` logins wait for a phone already, or as
    /// many invitations if it is one; nothing was written.
    @discardableResult
    public func requestLogin(
        _ login: PhoneLogin, _ events: [AuditEvent] = [], atMost limit: Int = .max
    ) async throws(StoreError) -> Bool {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            let isInvitation = login.kind == .enrolment
            if limit < .max,
                try transaction.waitingPhoneLoginCount(areInvitations: isInvitation, limit: limit).value() >= limit
            {
                return false
            }
            let known = try transaction.catalogue().value()
            transaction.insert(login)
            transaction.append(events, known)
            return true
        }
    }

    /// The login that `key` finds; nil if there is none.
    public func phoneLogin(_ key: PhoneLogin.Lookup) async throws(StoreError) -> PhoneLogin? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.phoneLogin(key).value() }
    }

    /// The sessions with those ids, and the newest that phones have let in with that key, without those that began before the
    /// devices of their users became unknown; with the settings of the moment.
    public func sessions(
        _ ids: [Identifier<Session>], letInWithKey thumbprint: String?
    ) async throws(StoreError) -> (sessions: [Session], settings: Settings) {
        try await read(.short) { (reader) throws(TransactionError) in
            let (named, catalogue) = (reader.sessions(ids), reader.catalogue())
            let bound = thumbprint.map { reader.sessions(letInWithKey: $0, limit: Session.letInMax) }
            let found = try named.value() + (try bound?.value() ?? [])
            if found.isEmpty { return ([], try catalogue.value().settings) }
            let sources = try reader.userSources(of: Array(Set(found.map(\.userID)))).value()
            let ends = Dictionary(sources.map { ($0.userID, $0.devicesUnknownAt) }) { first, _ in first }
            // A session of the same second may be one of those that ended.
            let known = found.filter { session in
                (ends[session.userID] ?? nil).map { session.startedAt > $0 } ?? true
            }
            return (known, try catalogue.value().settings)
        }
    }

    /// The login with that id and its phone; nil if there is none.
    public func loginWithPhone(_ id: Identifier<Session>) async throws(StoreError) -> LoginWithPhone? {
        try await read(.short) { (reader) throws(TransactionError) in
            guard var login = try reader.phoneLogin(.id(id)).value() else { return nil }
            while let claim = login.claimOfSession {
                // The login is read again after the session: PostgreSQL reads them at two moments, and a session of the phone that
                // another one has replaced in between does not end the login.
                let (session, user) = (reader.session(claim.sessionID), reader.user(.id(claim.userID)))
                let (again, catalogue) = (reader.phoneLogin(.id(id)), reader.catalogue())
                let claimant = try reader.record(of: session.value(), user.value(), try catalogue.value())
                guard let present = try again.value() else { return nil }
                if present.claim?.sessionID == claim.sessionID {
                    return LoginWithPhone(login: present, claimant: claimant)
                }
                login = present
            }
            return LoginWithPhone(login: login, claimant: nil)
        }
    }

    /// Those of the newest `limit` logins of a user that are not over, with their phones, the newest first. An invitation that
    /// waits for a further phone is for no phone that is there.
    public func livingLogins(
        ofUser userID: Identifier<User>, limit: Int
    ) async throws(StoreError) -> [LoginWithPhone] {
        try await read(.long) { (reader) throws(TransactionError) in
            let newest = reader.phoneLogins(ofUser: userID, in: nil, after: nil, limit: limit)
            let living = try newest.value().filter {
                !$0.state.isFinal && ($0.kind != .enrolment || $0.claim != nil)
            }
            let claims = living.compactMap(\.claimOfSession)
            if claims.isEmpty { return living.map { LoginWithPhone(login: $0, claimant: nil) } }
            let (sessions, users) = (
                reader.sessions(Array(Set(claims.map(\.sessionID)))),
                reader.users(Array(Set(claims.map(\.userID))), named: [])
            )
            let catalogue = try reader.catalogue().value()
            let owners = Dictionary(try users.value().map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            var claimants: [Identifier<Session>: SessionRecord] = [:]
            for session in try sessions.value() {
                claimants[session.id] = try reader.record(of: session, owners[session.userID], catalogue)
            }
            return living.map { login in
                LoginWithPhone(login: login, claimant: login.claimOfSession.flatMap { claimants[$0.sessionID] })
            }
        }
    }

    /// The logins with a phone, the newest first: those that phones of a user have claimed or that invite the user, and
    /// those in a phase, if given.
    public func phoneLogins(
        ofUser userID: Identifier<User>?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) async throws(StoreError) -> Page<PhoneLogin> {
        guard limit > 0 else { return Page(items: [], nextCursor: nil) }
        let found = try await read(.long) { (reader) throws(TransactionError) in
            try reader.phoneLogins(
                ofUser: userID, in: phase, after: cursor, limit: Page<PhoneLogin>.rows(for: limit)
            ).value()
        }
        return Page(found, limit: limit) { SessionCursor(startedAt: $0.startedAt, id: $0.id).description }
    }

    /// The sessions that depend on that of a phone, in the order of their ids.
    public func children(of phoneID: Identifier<Session>) async throws(StoreError) -> [Identifier<Session>] {
        try await read(.short) { (reader) throws(TransactionError) in try reader.children(of: phoneID).map(\.id) }
    }

    /// Up to `limit` logins that time may have changed by `now`.
    public func phoneLogins(dueBy now: Instant, limit: Int) async throws(StoreError) -> [Identifier<Session>] {
        try await read(.short) { (reader) throws(TransactionError) in
            try reader.phoneLogins(dueBy: now, limit: limit).value()
        }
    }

    /// Lets `decide` act on a login with a phone. Nil if there is no such login.
    ///
    /// Sessions are locked before the login, in the order of all transactions, so that a login which was claimed meanwhile makes
    /// the transaction run again.
    ///
    /// - Parameters:
    ///   - phoneID: the session of the phone that asks; nil: none does.
    ///   - readsPIN: whether the PIN of that session is read as well.
    ///   - origin: the cause of the ends that follow from the act.
    public func changeLogin<Outcome: Sendable>(
        _ id: Identifier<Session>, phone phoneID: Identifier<Session>?, readsPIN: Bool = false,
        by origin: Origin = .system,
        _ decide: @escaping @Sendable (inout PhoneLoginChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
            (transaction) throws(TransactionError) in
            guard let known = try transaction.phoneLogin(.id(id)).value() else { return nil }
            guard var change = try transaction.change(of: known, phone: phoneID) else { return nil }
            let login = change.login
            if readsPIN, let phoneID { change.pin = try transaction.pinForUpdate(of: phoneID).value() }
            let pin = change.pin
            let outcome = decide(&change)
            if let phoneID { transaction.write(change.pin, over: pin, of: phoneID) }
            let events = try transaction.write(change, over: login, by: origin)
            transaction.append(events, try transaction.catalogue().value())
            return outcome
        }
    }

    /// Lets `decide` start the session of the login with that secret, on a device. Nil if there is no such login.
    public func collectLogin<Outcome: Sendable>(
        poll hash: [UInt8], deviceID: String, by origin: Origin,
        _ decide: @escaping @Sendable (inout PhoneLoginStart) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: hash.last ?? 0)) { (transaction) throws(TransactionError) in
            guard let known = try transaction.phoneLogin(.poll(hash: hash)).value() else { return nil }
            var (user, previous): (User?, Session?)
            if let userID = known.userID {
                let place = Installation(userID: userID, clientID: known.clientID, deviceID: deviceID)
                let found = (transaction.userForUpdate(.id(userID)), transaction.livingSessionForUpdate(at: place))
                (user, previous) = (try found.0.value(), try found.1.value())
            }
            guard let change = try transaction.change(of: known, phone: nil) else { return nil }
            if change.login.userID != known.userID { throw .overtaken }
            let login = change.login
            let factors = try user.map { (user) throws(TransactionError) in
                try transaction.enrolledFactors(
                    of: user.id, under: change.settings.secondFactorPolicy(for: change.client))
            }
            var collection = PhoneLoginStart(
                change: change,
                opening: user.map {
                    SessionOpening(
                        user: $0, client: change.client, settings: change.settings, previous: previous, factors: factors
                    )
                })
            let outcome = decide(&collection)
            if let opening = collection.opening, let session = opening.session {
                if let previous { transaction.end(previous.id, .init(reason: .replaced, at: session.renewedAt)) }
                transaction.insert(session, lookAt: opening.firstLook(at: session))
                if let previous {
                    try transaction.moveBonds(from: previous, to: session.id, at: session.renewedAt)
                }
            }
            let events = try transaction.write(collection.change, over: login, by: origin)
            transaction.append(
                events + (collection.opening?.events ?? []), try transaction.catalogue().value())
            return outcome
        }
    }
}

extension PhoneLogin {
    /// The claim of the phone with the session on which the login depends; nil: it depends on none.
    var claimOfSession: Claim? { state.isFinal || kind == .enrolment ? nil : claim }
}

extension StoreReader {
    /// The living sessions that depend on that of a phone, in the order of their ids.
    func children(of phoneID: Identifier<Session>) throws(TransactionError) -> [Session] {
        var ids: Set<Identifier<Session>> = []
        for login in try phoneLogins(ofPhone: phoneID).value() where login.isLoggedIn {
            ids.formUnion(try sessionIDs(of: login))
        }
        if ids.isEmpty { return [] }
        return try sessions(Array(ids)).value().filter { $0.ending == nil && $0.phoneID == phoneID }
            .sorted { $0.id.words < $1.id.words }
    }

    /// The record of a session with the phone on which it depends itself.
    fileprivate func record(
        of session: Session?, _ user: User?, _ catalogue: Catalogue
    ) throws(TransactionError) -> SessionRecord? {
        guard let session else { return nil }
        var record = catalogue.record(of: session, user)
        record.phone = try phoneState(of: session, catalogue)
        return record
    }
}

extension StoreTransaction {
    /// Locks a login, and before it the sessions that an act on it may change: the phones, then the session that it has started.
    /// Nil if the login is gone.
    func change(
        of known: PhoneLogin, phone phoneID: Identifier<Session>?
    ) throws(TransactionError) -> PhoneLoginChange? {
        let claimantID = known.claim?.sessionID
        let phones = Set([phoneID, claimantID].compactMap(\.self))
        var found = LockedSessions()
        if known.hasLetIn {
            found = try lock([known.id], after: phones)
        } else {
            for ids in [phones.subtracting([known.id]), [known.id]] { try lock(ids, in: &found) }
        }
        let (locked, catalogue) = (phoneLoginForUpdate(known.id), catalogue())
        guard let login = try locked.value() else { return nil }
        if login.claim?.sessionID != claimantID || login.hasLetIn != known.hasLetIn { throw .overtaken }
        let current = try catalogue.value()
        var records: [Identifier<Session>: SessionRecord] = [:]
        for sessionID in phones {
            guard let session = found[sessionID] else { continue }
            records[sessionID] = current.record(of: session, try user(.id(session.userID)).value())
            records[sessionID]?.phone = try phoneState(of: session, current)
        }
        let sessions = try login.hasLetIn ? sessionIDs(of: login).compactMap { found[$0] } : []
        return PhoneLoginChange(
            login: login, phone: phoneID.flatMap { records[$0] }, claimant: claimantID.flatMap { records[$0] },
            started: found[known.id], sessions: sessions.filter { $0.ending == nil && $0.isOf(login) },
            client: current.clients[login.clientID], settings: current.settings, locked: found)
    }

    /// Writes what a change decided about `login`. Returns the events, with those of what ends with it.
    func write(
        _ change: PhoneLoginChange, over login: PhoneLogin, by origin: Origin
    ) throws(TransactionError) -> [AuditEvent] {
        if change.login != login { update(change.login) }
        if let (proof, now) = change.shown, var session = change.phone?.session {
            session.note(proof, at: now)
            replace(session)
        }
        if let ending = change.ending {
            var locked = change.locked
            return change.events + (try endSessions(of: login, ending, in: &locked, by: origin))
        }
        if let phoneID = change.movesTo { try setPhone(phoneID, of: login) }
        return change.events
    }
}
