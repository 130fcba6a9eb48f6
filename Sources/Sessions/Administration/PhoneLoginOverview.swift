/// What the console's page of a login with a phone shows, read at one moment.
public struct PhoneLoginOverview: Sendable {
    /// The login as it stands.
    public let login: PhoneLogin
    /// The app that wants in.
    public let client: Client?
    /// The session that came of it; nil: none did, or it is forgotten.
    public let session: SessionRecord?
    /// The session of the phone.
    public let phone: SessionRecord?
    /// The names of the users of the login and of its events.
    public let names: Usernames
    /// The events of the login and of its session, the newest first.
    public let events: [RecordedEvent]
}

/// A page of logins with a phone, and the user that the search names.
public struct PhoneLoginList: Sendable {
    /// The user; nil: none was looked for.
    public let user: User?
    /// The logins, the newest first.
    public let logins: Page<PhoneLogin>
}

extension Administration {
    /// The overview of a login with a phone. Throws `notFound`.
    ///
    /// - Parameter limit: the events of the page.
    public func overview(
        ofPhoneLogin id: Identifier<Session>, limit: Int
    ) async throws(ServiceError) -> PhoneLoginOverview {
        let standing = { @Sendable [context, now = context.clock.now] in
            context.policy.standing(of: $0, by: context.loginRules, at: now)
        }
        let found = try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) -> PhoneLoginOverview? in
                let (catalogue, login, session) = (reader.catalogue(), reader.phoneLogin(.id(id)), reader.session(id))
                let trail = reader.events(ofSession: id, limit: limit)
                guard let login = try login.value() else { return nil }
                let (known, events, own) = (try catalogue.value(), try trail.value(), try session.value())
                let claimant = login.claim.map { reader.session($0.sessionID) }
                let ids = events.compactMap(\.event.userID) + [login.userID, login.claim?.userID, own?.userID]
                let names = reader.users(Array(Set(ids.compactMap(\.self))), named: [])
                let phone = try claimant?.value() ?? nil
                let phoneRecord = try phone.map { (phone) throws(TransactionError) in
                    try reader.wholeRecord(of: phone, known)
                }
                let sessionRecord = try own.map { (own) throws(TransactionError) in
                    try reader.wholeRecord(of: own, known)
                }
                return PhoneLoginOverview(
                    login: standing(
                        LoginWithPhone(login: login, claimant: login.claimOfSession == nil ? nil : phoneRecord)),
                    client: known.clients[login.clientID], session: sessionRecord, phone: phoneRecord,
                    names: Usernames(of: try names.value()), events: events.reversed())
            })
        guard let found else { throw .notFound("login") }
        return found
    }

    /// The logins with a phone, the newest first: those in a phase, and those of the user with an id, a username or an address,
    /// if given. Nil: there is no such user.
    public func phoneLogins(
        ofUser name: String?, in phase: PhoneLogin.Phase?, after cursor: SessionCursor?, limit: Int
    ) async throws(ServiceError) -> PhoneLoginList? {
        try await inStore(
            await store.read(.page) { (reader) throws(TransactionError) -> PhoneLoginList? in
                let user = try name.map { (name) throws(TransactionError) in try reader.user(meantBy: name) } ?? nil
                if name != nil, user == nil { return nil }
                let rows = Page<PhoneLogin>.rows(for: limit)
                let logins = reader.phoneLogins(ofUser: user?.id, in: phase, after: cursor, limit: rows)
                return PhoneLoginList(
                    user: user,
                    logins: Page(try logins.value(), limit: limit) {
                        SessionCursor(startedAt: $0.startedAt, id: $0.id).description
                    })
            })
    }
}
