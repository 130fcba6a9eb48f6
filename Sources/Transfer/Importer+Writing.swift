internal import Sessions

/// A line that conflicts with the store.
typealias RefusedLine = (line: Int, problem: LineProblem)

extension Importer {
    /// Writes records of one kind; the kinds with many records in one transaction. Returns the refused lines.
    mutating func write(
        _ batch: [(line: Int, record: TransferRecord)]
    ) async throws(StoreError) -> [RefusedLine] {
        var keys: [(Int, StoredSigningKey)] = []
        var admins: [AdminKey] = []
        var logos: [Logo] = []
        var settings: [(line: Int, settings: Settings)] = []
        var clients: [(line: Int, client: Client)] = []
        var users: [(line: Int, user: User, sources: UserSources?)] = []
        var sessions: [(line: Int, session: Session)] = []
        var logins: [(line: Int, login: PageLogin)] = []
        var phoneLogins: [(line: Int, phoneLogin: PhoneLogin)] = []
        var identities: [(line: Int, identity: Identity)] = []
        var passkeys: [(line: Int, passkey: Passkey)] = []
        var checks: [(line: Int, check: ProviderCheckLine)] = []
        var details: [(line: Int, item: UserDetails)] = []
        var factors: [(line: Int, item: TOTPFactor)] = []
        var codes: [(line: Int, item: RecoveryCodeSet)] = []
        var pins: [(line: Int, pin: PIN)] = []
        var tokens: [(line: Int, token: ForeignTokenLine)] = []
        var used: [OneTimeToken] = []
        var revocations: [Revocation] = []
        for (line, record) in batch {
            switch record {
            case .header, .end: break
            case .signingKey(let key): keys.append((line, key))
            case .adminKey(let key): admins.append(key)
            case .logo(let logo): logos.append(logo)
            case .settings(let entry): settings.append((line, entry))
            case .client(let client): clients.append((line, client))
            case .user(let user, let sources): users.append((line, user, sources))
            case .passkey(let passkey): passkeys.append((line, passkey))
            case .userDetails(let entry): details.append((line, entry))
            case .totp(let factor): factors.append((line, factor))
            case .recoveryCodes(let set): codes.append((line, set))
            case .identity(let identity): identities.append((line, identity))
            case .session(let session): sessions.append((line, session))
            case .login(let login): logins.append((line, login))
            case .phoneLogin(let login): phoneLogins.append((line, login))
            case .providerCheck(let check): checks.append((line, check))
            case .pin(let pin): pins.append((line, pin))
            case .foreignToken(let token): tokens.append((line, token))
            case .usedToken(let token): used.append(token)
            case .revocation(let revocation): revocations.append(revocation)
            }
        }
        var refused: [RefusedLine] = []
        if !keys.isEmpty { refused += try await write(keys) }
        if !admins.isEmpty { try await write(admins) }
        if !logos.isEmpty { try await write(logos) }
        if !settings.isEmpty || !clients.isEmpty { refused += try await write(settings, clients) }
        if !users.isEmpty { refused += try await write(users) }
        if !identities.isEmpty { refused += try await write(identities) }
        if !passkeys.isEmpty { refused += try await write(passkeys) }
        refused += try await writeSecondFactors(details, factors, codes)
        if !sessions.isEmpty { refused += try await write(sessions) }
        if !logins.isEmpty { refused += try await write(logins) }
        if !phoneLogins.isEmpty { refused += try await write(phoneLogins) }
        if !checks.isEmpty { refused += try await write(checks) }
        if !pins.isEmpty { refused += try await write(pins) }
        if !tokens.isEmpty { refused += try await write(tokens) }
        if !used.isEmpty { keptCount += Int64(try await store.use(used).count { !$0 }) }
        if !revocations.isEmpty { try await write(revocations) }
        return refused
    }

    private mutating func write(
        _ users: [(line: Int, user: User, sources: UserSources?)]
    ) async throws(StoreError) -> [RefusedLine] {
        // Of two lines of one user in a batch, the store takes one.
        let sources = Dictionary(
            users.compactMap { line in line.sources.map { (line.user.id, $0) } },
            uniquingKeysWith: { first, _ in first })
        let outcomes = try await store.importUsers(
            users.map(\.user), sources: sources, try await mode(for: users.map(\.user.id)))
        try await noteNames(of: users.map(\.user), outcomes)
        return note(outcomes, of: users.map { ($0.line, "the username '\($0.user.username)'") })
    }

    private mutating func write(
        _ lines: [(line: Int, identity: Identity)]
    ) async throws(StoreError) -> [RefusedLine] {
        let users = lines.map(\.identity.userID)
        let outcomes = try await store.importIdentities(lines.map(\.identity), try await mode(for: users))
        return note(
            try await judged(outcomes, of: users),
            of: lines.map { ($0.line, "the identity '\($0.identity.key.subject)'") })
    }

    private mutating func write(
        _ lines: [(line: Int, passkey: Passkey)]
    ) async throws(StoreError) -> [RefusedLine] {
        let users = lines.map(\.passkey.userID)
        let outcomes = try await store.importPasskeys(lines.map(\.passkey), try await mode(for: users))
        return note(
            try await judged(outcomes, of: users),
            of: lines.map { ($0.line, "the passkey '\($0.passkey.name)'") })
    }

    private mutating func writeSecondFactors(
        _ details: [(line: Int, item: UserDetails)], _ factors: [(line: Int, item: TOTPFactor)],
        _ codes: [(line: Int, item: RecoveryCodeSet)]
    ) async throws(StoreError) -> [RefusedLine] {
        var refused = try await add(details, "the details of the user", \.userID) {
            (store, items, mode) async throws(StoreError) in try await store.importUserDetails(items, mode)
        }
        refused += try await add(factors, "the authenticator of the user", \.userID) {
            (store, items, mode) async throws(StoreError) in try await store.importTOTPFactors(items, mode)
        }
        return refused
            + (try await add(codes, "the recovery codes of the user", \.userID) {
                (store, items, mode) async throws(StoreError) in try await store.importRecoveryCodes(items, mode)
            })
    }

    /// Writes lines that belong to users, by `write`.
    private mutating func add<Item: Sendable>(
        _ lines: [(line: Int, item: Item)], _ subject: String, _ userID: (Item) -> Identifier<User>,
        _ write: (any Store, [Item], ImportMode) async throws(StoreError) -> [ImportOutcome]
    ) async throws(StoreError) -> [RefusedLine] {
        if lines.isEmpty { return [] }
        let users = lines.map { userID($0.item) }
        let outcomes = try await write(store, lines.map(\.item), try await mode(for: users))
        return note(
            try await judged(outcomes, of: users),
            of: lines.map { ($0.line, "\(subject) \(userID($0.item))") })
    }

    private mutating func write(
        _ lines: [(line: Int, session: Session)]
    ) async throws(StoreError) -> [RefusedLine] {
        let users = lines.map(\.session.userID)
        let outcomes = try await judged(
            store.importSessions(lines.map(\.session), try await mode(for: users)), of: users)
        for (entry, outcome) in zip(lines, outcomes) where outcome == .differs && entry.session.confirmation != nil {
            leftOut.insert(entry.session.id)
        }
        return note(outcomes, of: lines.map { ($0.line, "the session \($0.session.id)") })
    }

    private mutating func write(_ lines: [(line: Int, pin: PIN)]) async throws(StoreError) -> [RefusedLine] {
        let users = lines.map(\.pin.userID)
        let outcomes = try await store.importPINs(lines.map(\.pin), try await mode(for: users))
        return note(
            try await judged(outcomes, of: users),
            of: lines.map { ($0.line, "the PIN of the session \($0.pin.sessionID)") })
    }

    private mutating func write(_ lines: [(line: Int, login: PageLogin)]) async throws(StoreError) -> [RefusedLine] {
        let users = lines.map(\.login.userID)
        let outcomes = try await store.importLogins(lines.map(\.login), try await mode(for: users))
        return note(
            try await judged(outcomes, of: users), of: lines.map { ($0.line, "the login \($0.login.id)") })
    }

    private mutating func write(
        _ lines: [(line: Int, phoneLogin: PhoneLogin)]
    ) async throws(StoreError) -> [RefusedLine] {
        let users = lines.compactMap(\.phoneLogin.claim?.userID)
        let outcomes = try await store.importPhoneLogins(lines.map(\.phoneLogin), try await mode(for: users))
        return note(
            try await judged(outcomes, of: users), of: lines.map { ($0.line, "the login \($0.phoneLogin.id)") })
    }

    /// The import mode for records of those users.
    mutating func mode(for users: [Identifier<User>]) async throws(StoreError) -> ImportMode {
        if replaces { return .replacing }
        try await catchUp()
        var ledger = ledger
        for recorded in try await store.remembered(of: Set(users)) { ledger.note(recorded.event) }
        return .keeping(ledger)
    }

    /// The outcomes, in which a missing user that was deleted in the store is no problem but a difference.
    func judged(
        _ outcomes: [ImportOutcome], of users: [Identifier<User>]
    ) async throws(StoreError) -> [ImportOutcome] {
        let deleted = try await deleted(zip(outcomes, users).filter { $0.0 == .unknownUser }.map(\.1))
        return zip(outcomes, users).map { outcome, user in
            outcome == .unknownUser && deleted.contains(user) ? .differs : outcome
        }
    }

    /// The members of `users` that were deleted in the store and stay so.
    func deleted(_ users: [Identifier<User>]) async throws(StoreError) -> Set<Identifier<User>> {
        if replaces || users.isEmpty { return [] }
        let events = try await store.remembered(of: Set(users)).map(\.event)
        return Set(events.filter { $0.kind == .userDeleted }.compactMap(\.userID))
    }

    /// Counts the kept records, and returns the refused lines.
    mutating func note(
        _ outcomes: [ImportOutcome], of lines: [(line: Int, subject: String)]
    ) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        for (outcome, (line, subject)) in zip(outcomes, lines) {
            switch outcome {
            case .written: break
            case .kept: keptCount += 1
            case .differs, .writtenInPart: differingCount += 1
            case .usernameTaken: refused.append((line, LineProblem("\(subject) belongs to another user")))
            case .emailTaken:
                refused.append((line, LineProblem("the verified address of \(subject) belongs to another user")))
            case .unknownUser: refused.append((line, LineProblem("the user of \(subject) is not there")))
            }
        }
        return refused
    }

    /// Writes the provider checks of sessions one by one, because few sessions have any.
    private mutating func write(
        _ lines: [(line: Int, check: ProviderCheckLine)]
    ) async throws(StoreError) -> [RefusedLine] {
        var refused: [RefusedLine] = []
        for (line, entry) in lines {
            let outcome = try await store.updateProviderCheck(entry.check.sessionID) { change in
                change.take(entry.check, confirmedAt: entry.confirmedAt)
            }
            if outcome == nil, leftOut.contains(entry.check.sessionID) {
                differingCount += 1
            } else if outcome == nil {
                refused.append((line, LineProblem("there is no session \(entry.check.sessionID)")))
            } else if outcome == .kept {
                keptCount += 1
            }
        }
        return refused
    }

    /// Adds the revocations that the feed lacks and that still matter.
    private mutating func write(_ revocations: [Revocation]) async throws(StoreError) {
        var feed = if let known = self.feed { known } else { try await readFeed() }
        let new = revocations.filter { $0.until > now && !feed.says($0) }
        let outcomes = try await store.importRevocations(new)
        for (revocation, outcome) in zip(new, outcomes) where outcome == .written { feed.note(revocation) }
        keptCount += Int64(revocations.count - outcomes.count { $0 == .written })
        self.feed = feed
    }

    private func readFeed() async throws(StoreError) -> RevocationSummary {
        var feed = RevocationSummary()
        var parts = Parts(ofFeedIn: store, at: now)
        while let part = try await parts.next() {
            for revocation in part { feed.note(revocation) }
        }
        return feed
    }
}
