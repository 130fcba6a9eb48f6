// Logins: a new session starts and replaces the active session on the same device, or that session goes on.

extension Store {
    /// Lets `decide` start a session for a user on a device, and ends the session that it replaces. Nil if there is no such
    /// user.
    public func openSession<Outcome: Sendable>(
        userID: Identifier<User>, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let place = Installation(userID: userID, clientID: clientID, deviceID: deviceID)
        return try await write(.sessions(of: userID)) { (transaction) throws(TransactionError) in
            let found = transaction.userForUpdate(.id(userID))
            let (previous, catalogue) = (transaction.livingSessionForUpdate(at: place), transaction.catalogue())
            guard let user = try found.value() else { return nil }
            let login = SessionStartRows(
                user: user, arrival: .known, previous: try previous.value(), catalogue: try catalogue.value())
            return try transaction.open(login, clientID: clientID, decide)
        }
    }

    /// Lets `decide` start a session for a user that an identity provider has authenticated: the user that has the identity, or
    /// that the login links or creates. New rows are written and the token is used up only if the session starts. Nil if none
    /// of the new user's names is free.
    public func openSession<Outcome: Sendable>(
        by login: IdentityLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let scope = TransactionScope(.sessions, queue: login.token.digest.first ?? 0)
        return try await write(scope) { (transaction) throws(TransactionError) in
            let found = try transaction.find(login) { userID in
                Installation(userID: userID, clientID: clientID, deviceID: deviceID)
            }
            guard let found else { return nil }
            return try transaction.open(found, clientID: clientID, decide)
        }
    }

    /// Lets `decide` start a session for the user of a passkey, whose signature was verified. The passkey is written and the
    /// challenge is used up only if the session starts. Nil if the passkey is gone, or has another user or key.
    public func openSession<Outcome: Sendable>(
        by login: PasskeyLogin, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let place = Installation(userID: login.userID, clientID: clientID, deviceID: deviceID)
        return try await write(.sessions(of: login.userID)) { (transaction) throws(TransactionError) in
            let found = transaction.userForUpdate(.id(login.userID))
            let (used, known) = (transaction.isUsed(login.token), transaction.passkey(login.credentialID))
            let (previous, catalogue) = (transaction.livingSessionForUpdate(at: place), transaction.catalogue())
            guard let user = try found.value(), let passkey = try known.value(), passkey.userID == user.id,
                passkey.publicKey == login.publicKey
            else { return nil }
            let opened = SessionStartRows(
                user: user, arrival: .known, passkeyLogin: (login, passkey), isReplay: try used.value(),
                previous: try previous.value(), catalogue: try catalogue.value())
            return try transaction.open(opened, clientID: clientID, decide)
        }
    }

    /// Lets `decide` start the first session of `user`, a new anonymous user, or repeat the login that made the user before.
    /// Nil if the user was deleted since.
    public func openSession<Outcome: Sendable>(
        ofAnonymous user: User, clientID: String, deviceID: String,
        _ decide: @escaping @Sendable (inout SessionOpening) -> Outcome
    ) async throws(StoreError) -> Outcome? {
        let place = Installation(userID: user.id, clientID: clientID, deviceID: deviceID)
        return try await write(.sessions(of: user.id)) { (transaction) throws(TransactionError) in
            // The sessions are read before the user: in the other order, a login that commits in between, at another node,
            // would show a session without its user, as if the user had been deleted.
            let tombstones = transaction.sessions(of: user.id, after: nil, limit: 1)
            let found = transaction.userForUpdate(.id(user.id))
            let (previous, catalogue) = (transaction.livingSessionForUpdate(at: place), transaction.catalogue())
            let known = try found.value()
            let isForgotten = try tombstones.value().isEmpty
            guard known != nil || isForgotten else { return nil }
            let login = SessionStartRows(
                user: known ?? user, arrival: known == nil ? .new : .known,
                sources: known == nil ? UserSources(of: user, from: .user) : nil, previous: try previous.value(),
                catalogue: try catalogue.value())
            return try transaction.open(login, clientID: clientID, decide)
        }
    }
}

/// A login with the rows that a transaction has read.
struct SessionStartRows {
    let user: User
    let arrival: SessionOpening.Arrival
    /// Nil for a login by password or passkey.
    var identityLogin: IdentityLogin?
    /// The login by a passkey, and the passkey as it was read.
    var passkeyLogin: (login: PasskeyLogin, passkey: Passkey)?
    var isReplay = false
    /// The proof of a mailbox that the login uses up.
    var verification: Verification?
    /// The passkey of a new user, and the challenge of its registration.
    var newPasskey: (passkey: Passkey, token: OneTimeToken)?
    /// Whether the user has had a session on the device before.
    var isPlaceKnown = false
    /// Whether the identity of the login names a user that was anonymous.
    var namesUser = false
    /// The sources to write: those of a new user, or those that the link changes.
    var sources: UserSources?
    var previous: Session?
    let catalogue: Catalogue

    /// How many ended sessions of a user are looked at for one on the device.
    static let tombstonesMax = 100
}

extension StoreTransaction {
    /// Lets `decide` start a session, and writes it with all new rows.
    func open<Outcome>(
        _ login: SessionStartRows, clientID: String, _ decide: (inout SessionOpening) -> Outcome
    ) throws(TransactionError) -> Outcome {
        let factors = try enrolledFactors(of: login, clientID: clientID)
        var opening = SessionOpening(
            user: login.user, arrival: login.arrival, isReplay: login.isReplay,
            token: login.identityLogin?.token ?? login.passkeyLogin?.login.token,
            passkey: login.passkeyLogin?.passkey, client: login.catalogue.clients[clientID],
            settings: login.catalogue.settings, previous: login.previous, factors: factors)
        opening.isPlaceKnown = login.isPlaceKnown
        let details = login.user.disabledByUser == nil ? nil : try userDetailsForUpdate(login.user.id).value()
        opening.deletesAt = details?.deleteAt
        let outcome = decide(&opening)
        if opening.session != nil, opening.keepsAccount {
            // The factors write the row of the details.
            opening.factors.details.deleteAt = nil
            update(opening.user)
        }
        if let session = opening.session {
            if let previous = login.previous { end(previous.id, .init(reason: .replaced, at: session.startedAt)) }
            try writeProof(of: login, passkey: opening.passkey)
            insert(session, lookAt: opening.firstLook(at: session))
            if let previous = login.previous {
                try moveBonds(from: previous, to: session.id, at: session.startedAt)
            }
            if let check = opening.providerCheck { replace(check) }
        } else if let session = opening.continued, let previous = login.previous {
            if let identityLogin = login.identityLogin { try insertNews(of: identityLogin, login) }
            replace(session)
            if session.confirmation != previous.confirmation { updateConfirmation(of: session) }
            if let check = opening.providerCheck { replace(check) }
        }
        let isGranted = opening.session != nil || opening.continued != nil
        append(opening.events + write(opening.factors, isGranted: isGranted), login.catalogue)
        return outcome
    }

    /// The second factors of the user of a login; a new user has none, and no row.
    func enrolledFactors(
        of login: SessionStartRows, clientID: String
    ) throws(TransactionError) -> EnrolledFactors {
        if login.arrival == .new { return EnrolledFactors(details: UserDetails(userID: login.user.id)) }
        return try enrolledFactors(
            of: login.user.id,
            under: login.catalogue.settings.secondFactorPolicy(for: login.catalogue.clients[clientID]))
    }

    /// Uses the one-time token of the login up, and writes what the login adds: the user, the identity, or the passkey as it was
    /// used.
    func writeProof(of login: SessionStartRows, passkey: Passkey?) throws(TransactionError) {
        if let identityLogin = login.identityLogin {
            try insertNews(of: identityLogin, login)
        } else if login.arrival == .new {
            guard try insert(login.user).value() else { throw .overtaken }
            if let sources = login.sources { replace(sources) }
        }
        try useVerification(of: login)
        if let (passkeyLogin, _) = login.passkeyLogin, let passkey {
            guard try insert(passkeyLogin.token).value() else { throw .overtaken }
            update(passkey)
        }
    }

    /// The login that `proof` proves, without a device. Nil if its user or its passkey is gone.
    func find(_ proof: PageLoginProof) throws(TransactionError) -> SessionStartRows? {
        switch proof {
        case .user(let id):
            let (found, catalogue) = (userForUpdate(.id(id)), catalogue())
            guard let user = try found.value() else { return nil }
            return SessionStartRows(user: user, arrival: .known, previous: nil, catalogue: try catalogue.value())
        case .identity(let login): return try find(login) { _ in nil }
        case .email(let proof): return try find(proof)
        case .signUp(let signUp): return try find(signUp)
        case .passkey(let login):
            let found = userForUpdate(.id(login.userID))
            let (used, known, catalogue) = (isUsed(login.token), passkey(login.credentialID), catalogue())
            guard let user = try found.value(), let passkey = try known.value(), passkey.userID == user.id,
                passkey.publicKey == login.publicKey
            else { return nil }
            return SessionStartRows(
                user: user, arrival: .known, passkeyLogin: (login, passkey), isReplay: try used.value(), previous: nil,
                catalogue: try catalogue.value())
        }
    }

    /// Uses the token up, and adds the missing identity and user.
    ///
    /// Another node may add one of them at the same moment. Then this transaction waits until the other one has ended, and runs
    /// again if the other one was committed.
    private func insertNews(of identityLogin: IdentityLogin, _ login: SessionStartRows) throws(TransactionError) {
        var written: [Answer<Bool>] = []
        if !login.isReplay { written.append(insert(identityLogin.token)) }
        if login.arrival != .known {
            written.append(
                insert(Identity(identityLogin.key, userID: login.user.id, linkedAt: identityLogin.at)))
        }
        if login.arrival == .new { written.append(insert(login.user)) }
        if login.namesUser { update(login.user) }
        if let sources = login.sources { replace(sources) }
        for answer in written {
            guard try answer.value() else { throw .overtaken }
        }
    }

    /// The login of the user that has the identity, or that the login links or creates. `place` is the installation of a user's
    /// session; nil: the login has no installation.
    fileprivate func find(
        _ login: IdentityLogin, place: (Identifier<User>) -> Installation?
    ) throws(TransactionError) -> SessionStartRows? {
        let (used, identity) = (isUsed(login.token), identity(login.key))
        let candidates = login.linkingKey.map { users(named: $0, orAddress: $0, limit: IdentityLogin.namesakesMax) }
        let known = try identity.value()
        let meant = known == nil ? try meant(by: login, among: try candidates?.value() ?? []) : nil
        // The remaining requests take one round trip. A new user has no session.
        let owner = (known?.userID ?? meant?.id).map { id in
            (userForUpdate(.id(id)), place(id).map { livingSessionForUpdate(at: $0) })
        }
        let ways = meant.map { access(to: $0.id, at: login.at) }
        let namesakes = known == nil ? login.newUsers.map { user(.username($0.username)) } : []
        let catalogue = catalogue()
        func found(
            _ user: User, _ arrival: SessionOpening.Arrival, _ sources: UserSources?, previous: Session?
        ) throws(TransactionError) -> SessionStartRows {
            var named = user
            named.isAnonymous = false
            return SessionStartRows(
                user: named, arrival: arrival, identityLogin: login, isReplay: try used.value(),
                namesUser: user.isAnonymous, sources: sources, previous: previous, catalogue: try catalogue.value())
        }
        if known != nil {
            guard let owner, let user = try owner.0.value() else {
                // The user may have been deleted since the identity was read, and the identity may be another one's or gone.
                if try self.identity(login.key).value() != known { throw .overtaken }
                throw .corrupted("an identity has no user")
            }
            return try found(user, .known, nil, previous: try owner.1?.value() ?? nil)
        }
        // Of two concurrent logins that link the same user, the second reads the identity that the first has linked.
        if let owner, let user = try owner.0.value(), let access = try ways?.value(),
            login.mayLink(user, having: access)
        {
            let sources = access.sources.linked
            return try found(
                user, .linked, sources == access.sources ? nil : sources, previous: try owner.1?.value() ?? nil)
        }
        for (user, namesake) in zip(login.newUsers, namesakes) where try namesake.value() == nil {
            addToScope(user.id)
            let user = user.leavingMailbox(to: try candidates?.value() ?? [])
            return try found(user, .new, login.sources(of: user), previous: nil)
        }
        return nil
    }
}
