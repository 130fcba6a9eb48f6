// Logins on the server's page: their completion, and the exchange of their codes.

extension Store {
    /// Lets `decide` complete a login of the user that `proof` names. Nil if there is no such user, if the passkey is gone or has
    /// another user or key, or if none of a new user's names is free; nothing was written then. New rows are written, and
    /// one-time tokens are used up, only if the login is completed.
    ///
    /// - Parameters:
    ///   - proof: how the user has authenticated.
    ///   - token: the one-time token of a pushed request.
    ///   - hash: the hash of the code, if the same form always has the same one.
    ///   - browserID: the session that the browser has shown.
    ///   - listsClientSessions: whether the sessions of the client that began in the browser are read.
    public func approveLogin<Outcome: Sendable>(
        by proof: PageLoginProof, clientID: String, using token: OneTimeToken?, code hash: [UInt8]? = nil,
        browser browserID: Identifier<Session>?, listsClientSessions: Bool = false,
        _ decide: @escaping @Sendable (inout PageLoginCompletion) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let scope = TransactionScope(.sessions, queue: proof.queue)
        return try await write(scope) { (transaction) throws(TransactionError) in
            guard let found = try transaction.find(proof) else { return nil }
            let browser = browserID.map { transaction.sessionForUpdate($0) }
            let used = token.map { transaction.isUsed($0) }
            let answered = hash.map { transaction.login(code: $0) }
            let (known, shown) = (found.catalogue, try browser?.value() ?? nil)
            var approval = PageLoginCompletion(
                user: found.user, arrival: found.arrival, isReplay: found.isReplay,
                isRequestSpent: try used?.value() ?? false, answered: try answered?.value() ?? nil,
                passkey: found.passkeyLogin?.passkey,
                client: known.clients[clientID], settings: known.settings,
                browserClient: known.clients[Client.browserID], browser: shown,
                factors: try transaction.enrolledFactors(of: found, clientID: clientID))
            if let shown {
                approval.browserPhone = try transaction.phoneState(of: shown, known)
                approval.browserPhones = try transaction.browserPhones(of: shown, known)
                if listsClientSessions {
                    approval.clientSessions = try transaction.sessions(
                        of: clientID, inBrowser: shown.id, found.user, known)
                }
            }
            let outcome = decide(&approval)
            if approval.login != nil || approval.started != nil || approval.kept != nil {
                if let token, try !transaction.insert(token).value() { throw .overtaken }
                try transaction.writeProof(of: found, passkey: approval.passkey)
            }
            try transaction.writeBrowser(of: approval)
            if let login = approval.login { transaction.insert(login) }
            let isGranted = approval.login != nil || approval.started != nil || approval.kept != nil
            let noted = transaction.write(approval.factors, isGranted: isGranted)
            transaction.append(approval.events + noted, known)
            return outcome
        }
    }

    /// Lets `decide` exchange the code with that hash for a session on a device. Nil if there is no such code; a read finds
    /// that out, so that an unknown code takes no lock.
    public func exchangeCode<Outcome: Sendable>(
        _ hash: [UInt8], deviceID: String, _ decide: @escaping @Sendable (inout CodeExchange) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let found = try await read(.short) { (reader) throws(TransactionError) in try reader.login(code: hash).value() }
        guard let found else { return nil }
        let place = Installation(userID: found.userID, clientID: found.clientID, deviceID: deviceID)
        return try await write(.sessions(of: found.userID)) { (transaction) throws(TransactionError) in
            // Read anew in each attempt, because another exchange may have used the code since.
            guard let known = try transaction.login(code: hash).value() else { return nil }
            let user = transaction.userForUpdate(.id(place.userID))
            // The code was used before: the session that it has started may end, and others with it.
            let ending = try known.codeUsedAt == nil ? nil : transaction.lock([known.sessionID])
            let (previous, started) = (
                transaction.livingSessionForUpdate(at: place), transaction.sessionForUpdate(known.sessionID)
            )
            // Locked, so that no act or end of the login passes between this read and the new session.
            let phoneLogin =
                try known.isByPhone
                ? transaction.phoneLoginForUpdate(known.phoneLoginID ?? known.id).value() : nil
            let phone = phoneLogin?.claim.map { transaction.session($0.sessionID) }
            let (login, catalogue) = (transaction.loginForUpdate(known.id), transaction.catalogue())
            guard let user = try user.value(), let login = try login.value(), login.codeHash == hash else { return nil }
            let current = try catalogue.value()
            // The code has continued a session since it was read.
            let moved = login.sessionID == known.sessionID ? started : transaction.sessionForUpdate(login.sessionID)
            var exchange = CodeExchange(
                login: login, started: try moved.value(), phoneLogin: phoneLogin, phone: try phone?.value() ?? nil,
                opening: SessionOpening(
                    user: user, client: current.clients[login.clientID], settings: current.settings,
                    previous: try previous.value(),
                    factors: try transaction.enrolledFactors(
                        of: user.id, under: current.settings.secondFactorPolicy(for: current.clients[login.clientID]))))
            if known.joinedSession != nil, let session = exchange.started {
                exchange.startedPhone = try transaction.phoneState(of: session, current)
            }
            let outcome = decide(&exchange)
            try transaction.write(exchange, of: login, current, ending)
            return outcome
        }
    }

    /// The logins on the page of that session: the one that has started it, and those that have continued it.
    public func logins(ofSession id: Identifier<Session>) async throws(StoreError) -> [PageLogin] {
        try await read(.short) { (reader) throws(TransactionError) in
            let (own, continued) = (reader.login(id), reader.logins(continuing: id))
            return (try own.value().map { [$0] } ?? []) + (try continued.value())
        }
    }

    /// The login that has started, or can start, the session with that id; nil if there is none, or no longer.
    public func login(_ id: Identifier<Session>) async throws(StoreError) -> PageLogin? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.login(id).value() }
    }

    /// Every login on the page that no phone let in, in the order of their ids.
    public func logins(after id: Identifier<Session>?, limit: Int) async throws(StoreError) -> [PageLogin] {
        try await read(.long) { (reader) throws(TransactionError) in try reader.logins(after: id, limit: limit).value()
        }
    }

    /// Looks at up to `limit` logins on the page and up to `limit` logins with a phone that are older than `instant`, and deletes
    /// those that nothing needs. A login stays as long as it has a browser session and its own session has no end, or its session
    /// depends on a phone. The login of a client with logout tokens stays as long as the session or its tombstone exists, because
    /// it tells of which ended sessions the client has an ID token.
    public func sweepLogins(before instant: Instant, limit: Int) async throws(StoreError) -> RowSweep {
        // Two transactions, because acts lock the row of the phone before that of the page. The login with a phone by which a login
        // on the page was answered goes after that.
        let onPage = try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.sweepPageLogins(before: instant, limit: limit).value()
        }
        let byPhone = try await write(.nothing) { (transaction) throws(TransactionError) in
            try transaction.sweepPhoneLogins(before: instant, limit: limit).value()
        }
        return RowSweep(looks: max(onPage.looks, byPhone.looks), deleted: onPage.deleted + byPhone.deleted)
    }
}

extension StoreTransaction {
    /// The largest number of sessions of a client in one browser that a login looks at.
    private static var clientSessionsMax: Int { 8 }

    /// The sessions of that client that began in that browser and have no recorded end, the latest first.
    fileprivate func sessions(
        of clientID: String, inBrowser browser: Identifier<Session>, _ user: User, _ catalogue: Catalogue
    ) throws(TransactionError) -> [SessionRecord] {
        let logins = try logins(inBrowser: browser).value().filter { $0.clientID == clientID && $0.codeUsedAt != nil }
        let latest = logins.sorted { $0.startedAt > $1.startedAt }.prefix(Self.clientSessionsMax)
        var records: [SessionRecord] = []
        for answer in latest.map({ session($0.sessionID) }) {
            guard let session = try answer.value(), session.ending == nil else { continue }
            var record = catalogue.record(of: session, user)
            record.phone = try phoneState(of: session, catalogue)
            records.append(record)
        }
        return records
    }

    /// Writes what has become of the session of the browser.
    func writeBrowser(of approval: PageLoginCompletion) throws(TransactionError) {
        if let browser = approval.browser, let ending = approval.ended {
            end(browser.id, ending)
            try noteEnd(of: browser, ending.reason, at: ending.at)
        }
        if let session = approval.started {
            let record = SessionRecord(
                session: session, user: approval.user, client: approval.browserClient, settings: approval.settings)
            insert(session, lookAt: record.firstLook)
        }
        if let session = approval.kept { replace(session) }
    }

    /// Writes what an exchange decided about `login`.
    fileprivate func write(
        _ exchange: CodeExchange, of login: PageLogin, _ catalogue: Catalogue, _ known: LockedSessions?
    ) throws(TransactionError) {
        if let session = exchange.opening.session {
            if let previous = exchange.opening.previous {
                end(previous.id, .init(reason: .replaced, at: session.renewedAt))
            }
            insert(session, lookAt: exchange.opening.firstLook(at: session))
            if let previous = exchange.opening.previous {
                try moveBonds(from: previous, to: session.id, at: session.renewedAt)
            }
        } else if let session = exchange.opening.continued {
            replace(session)
        }
        if let session = exchange.renewed { replace(session) }
        var events = exchange.opening.events
        if let ending = exchange.ending {
            guard var locked = known else { throw .overtaken }
            end(login.sessionID, ending)
            let origin = events.first.map(Origin.init) ?? .system
            events += try endDependents(
                of: login.sessionID, ofClient: login.clientID, ending, in: &locked, by: origin)
        }
        if exchange.login != login { update(exchange.login) }
        append(events, catalogue)
    }
}
