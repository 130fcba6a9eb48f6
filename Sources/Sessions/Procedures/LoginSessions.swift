// Logins with a phone: their requests, and the acts on them.

/// An act on a login with a phone, inside a transaction. The closure edits `login`, usually by `LoginDecision`.
public struct LoginChange: Sendable {
    /// The login. A difference at the end is written.
    public var login: LoginSession
    /// The session of the phone that asks; nil: none does, or there is none with that id.
    public let phone: SessionRecord?
    /// The session of the phone that has claimed the login; nil: none has, or it is forgotten.
    public let claimant: SessionRecord?
    /// The session that the login has started; nil: none, or no longer.
    public let started: Session?
    /// The client of the login; nil when it was deleted.
    public let client: Client?
    /// The settings of this moment.
    public let settings: Settings
    /// How the session that the login has started ends; nil: it does not.
    public var ending: Session.Ending?
    /// The audit events of the same transaction.
    public var events: [AuditEvent] = []
}

extension Store {
    /// Adds a login that a client has requested, with its audit events.
    public func requestLogin(_ login: LoginSession, _ events: [AuditEvent] = []) async throws(StoreError) {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            let known = try transaction.catalogue().value()
            transaction.insert(login)
            transaction.append(events, known)
        }
    }

    /// The login that `key` finds; nil if there is none.
    public func loginSession(_ key: LoginSession.Key) async throws(StoreError) -> LoginSession? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.loginSession(key).value() }
    }

    /// Lets `decide` act on a login with a phone. Nil if there is no such login.
    ///
    /// Sessions are locked before the login, in the order of all transactions, so that a login which was claimed meanwhile makes
    /// the transaction run again.
    ///
    /// - Parameter phoneID: the session of the phone that asks; nil: none does.
    public func changeLogin<Outcome: Sendable>(
        _ id: Identifier<Session>, phone phoneID: Identifier<Session>?,
        _ decide: @escaping @Sendable (inout LoginChange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        try await write(TransactionScope(.sessions, queue: id.bytes.last ?? 0)) {
            (transaction) throws(TransactionError) in
            guard let known = try transaction.loginSession(.id(id)).value() else { return nil }
            let claimantID = known.claim?.sessionID
            var found: [Identifier<Session>: Session] = [:]
            let ids = Set([id, phoneID, claimantID].compactMap(\.self)).sorted { $0.words < $1.words }
            let answers = ids.map { transaction.sessionForUpdate($0) }
            for answer in answers { if let session = try answer.value() { found[session.id] = session } }
            let (locked, catalogue) = (transaction.loginSessionForUpdate(id), transaction.catalogue())
            guard let login = try locked.value() else { return nil }
            if login.claim?.sessionID != claimantID { throw .overtaken }
            let current = try catalogue.value()
            var records: [Identifier<Session>: SessionRecord] = [:]
            for sessionID in [phoneID, claimantID].compactMap(\.self) where records[sessionID] == nil {
                guard let session = found[sessionID] else { continue }
                records[sessionID] = current.record(of: session, try transaction.user(.id(session.userID)).value())
            }
            var change = LoginChange(
                login: login, phone: phoneID.flatMap { records[$0] }, claimant: claimantID.flatMap { records[$0] },
                started: found[id], client: current.clients[login.clientID], settings: current.settings)
            let outcome = decide(&change)
            if change.login != login { transaction.update(change.login) }
            if let ending = change.ending, found[id]?.ending == nil { transaction.end(id, ending) }
            transaction.append(change.events, current)
            return outcome
        }
    }
}
