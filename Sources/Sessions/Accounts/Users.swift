// Users: reading them, and changing one together with the user's sessions.

extension Store {
    /// Adds a user of which every part comes from `source`. False if the username is taken; nothing was written.
    public func insertUser(
        _ user: User, from source: AccountSource, events: [AuditEvent]
    ) async throws(StoreError) -> Bool {
        try await write(.nothing) { (transaction) throws(TransactionError) in
            guard try transaction.insert(user).value() else { return false }
            transaction.replace(UserSources(of: user, from: source))
            transaction.append(events)
            return true
        }
    }

    /// The user that `reference` names; nil if there is none.
    public func user(_ reference: UserReference) async throws(StoreError) -> User? {
        try await read(.short) { (reader) throws(TransactionError) in try reader.user(reference).value() }
    }

    /// The ids of the users with those names, by the names as given. Names without a user are left out.
    public func userIDs(named usernames: Set<String>) async throws(StoreError) -> [String: Identifier<User>] {
        if usernames.isEmpty { return [:] }
        let names = Dictionary(grouping: usernames, by: Text.key)
        return try await read(.short) { (reader) throws(TransactionError) in
            var ids: [String: Identifier<User>] = [:]
            for user in try reader.users([], named: Array(usernames)).value() {
                for name in names[Text.key(user.username)] ?? [] { ids[name] = user.id }
            }
            return ids
        }
    }

    /// Users with a username, e-mail or name that contains `query`, in the order of their usernames' keys.
    public func users(
        matching query: String?, after cursor: String?, limit: Int
    ) async throws(StoreError) -> Page<User> {
        guard limit > 0 else { return Page(items: [], nextCursor: nil) }
        let found = try await read(.long) { (reader) throws(TransactionError) in
            try reader.users(matching: query, after: cursor ?? "", limit: Page<User>.rows(for: limit)).value()
        }
        return Page(found, limit: limit) { Text.key($0.username) }
    }

    /// Up to `limit` users, in no order, that have the e-mail address as username or as verified address.
    public func users(withAddress address: String, limit: Int) async throws(StoreError) -> [User] {
        guard let key = Text.emailKey(address) else { return [] }
        return try await read(.short) { (reader) throws(TransactionError) in
            try reader.users(named: key, orAddress: key, limit: limit).value()
        }
    }

    /// Up to `limit` users, sorted by username, with that telephone number as it is typed, or without the blanks and marks that
    /// divide it.
    public func users(withPhoneNumber number: String, limit: Int) async throws(StoreError) -> [User] {
        guard limit > 0 else { return [] }
        let compact = String(number.unicodeScalars.filter { !" ()-./".unicodeScalars.contains($0) }.map(Character.init))
        let found = try await read(.short) { (reader) throws(TransactionError) in
            try reader.users(withPhoneNumber: number, or: compact, limit: limit).value()
        }
        return found.sorted { Text.key($0.username) < Text.key($1.username) }
    }

    /// The user that a typed name means where these names log in: the one with that username, or else the only one with that
    /// verified address. One look-up, whatever the name is, so that its duration tells nothing.
    public func user(_ typed: String, loggingInBy names: PageRegistration.LoginNames) async throws(StoreError) -> User?
    {
        let (key, address) = (Text.key(typed), Text.typedEmailKey(typed))
        // One row for the name, and two that show that an address is not that of one user.
        let found = try await read(.short) { (reader) throws(TransactionError) in
            try reader.users(named: key, orAddress: address, limit: 3).value()
        }
        return names.user(key, address, among: found)
    }

    /// Changes a user without a requesting session.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        try await updateUser(reference, asking: nil, change)
    }

    /// Reads the user and the requesting session, if there is one, lets `change` edit the user and end sessions, and writes.
    /// The read sees an end of that session that was committed before; a concurrent end commits after this change.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        guard let userID = try await userID(of: reference) else { return .notFound }
        return try await write(.accounts(of: [userID])) { (transaction) throws(TransactionError) in
            // If the name leads to another user meanwhile, the store adds that one to the scope.
            try transaction.updateUser(reference, asking: sessionID, change)
        }
    }

    /// The id of the user; nil if there is none. A read finds a user by name, so that an unknown name takes no lock.
    private func userID(of reference: UserReference) async throws(StoreError) -> Identifier<User>? {
        if case .id(let id) = reference { return id }
        return try await user(reference)?.id
    }
}

extension StoreTransaction {
    /// See `Store.updateUser`.
    func updateUser<Outcome>(
        _ reference: UserReference, asking sessionID: Identifier<Session>?,
        _ change: (inout UserChange) -> Outcome
    ) throws(TransactionError) -> UserUpdate<Outcome> {
        let found = (userForUpdate(reference), catalogue(), sessionID.map { session($0) })
        guard let old = try found.0.value() else { return .notFound }
        let catalogue = try found.1.value()
        var edited = UserChange(
            user: old, settings: catalogue.settings, clients: Array(catalogue.clients.values),
            asking: try found.2?.value() ?? nil)
        let outcome = change(&edited)
        let effect = edited.effect(on: old, now: now)
        let depends = effect.written.map { UserSources.depend(on: old, $0) } ?? false
        let sources = depends || effect.distrust != nil ? userSources(of: [old.id]) : nil
        if let user = effect.written {
            if effect.isRefused(by: try namesake(of: user, before: old)) { return .usernameTaken }
            update(user)
        }
        var ended = 0
        var events = edited.events
        // Requests all endings before it reads the first answer, because that takes one round trip.
        let endings = effect.endings.map { ending in
            deleteForeignTokens(of: old.id, ending)
            cancelCodes(of: old.id, ending)
            return (ending, endSessions(of: old.id, ending))
        }
        // Only the sessions that these endings leave are looked at.
        if let user = effect.written { lookEarlier(under: user, than: old) }
        let bonds = endings.isEmpty ? nil : livingPhoneLoginsForUpdate(ofUser: old.id)
        if let sources {
            try note(
                sources, from: old, to: effect.written ?? old, by: edited.source, devicesUnknownAt: effect.distrust?.at)
        }
        var logins: [PhoneLogin]?
        for (ending, sessions) in endings {
            let sessions = try sessions.value()
            ended += sessions.count
            events += edited.events(sessions, by: ending)
            let origin = events.first.map(Origin.init) ?? .system
            var locked = try lock(sessions, by: ending)
            if !ending.isOfAll, catalogue.clients[Client.browserID] != nil {
                for session in sessions {
                    events += try endCompanions(
                        of: session.id, ofClient: session.clientID, .init(reason: ending.reason, at: ending.at),
                        except: ending.except, in: &locked, by: origin)
                }
            }
            var living: [PhoneLogin]
            if let logins { living = logins } else { living = try bonds?.value() ?? [] }
            events += try endBonds(in: &living, sessions, ending, in: &locked, by: origin)
            logins = living
        }
        if edited.forgetsFailedAttempts { deleteFailedAttempts(of: old.id) }
        if effect.deletes {
            deleteIdentities(of: old.id)
            deletePasskeys(of: old.id)
            deleteAccountRows(of: old.id)
            deleteUserSources(of: old.id)
            try noteDeletion(of: old.id, at: now)
            deleteUser(old.id)
            events = events.withoutDeviceNames()
        }
        append(events, catalogue)
        return .done(outcome, endedSessions: ended)
    }

    /// Locks those sessions, which have ended together, and all that can end with them. Where all sessions of the user end, no
    /// other one is left than that which asks.
    private func lock(
        _ ended: [EndedSession], by ending: UserChange.EndingSessions
    ) throws(TransactionError) -> LockedSessions {
        if !ending.isOfAll { return try lock(Set(ended.map(\.id))) }
        var locked = LockedSessions(isComplete: true)
        if let asking = ending.except { try lock([asking], in: &locked) }
        return locked
    }

    /// The user that has the name of `user`. Nil, without a request, if the name does not change.
    private func namesake(of user: User, before old: User) throws(TransactionError) -> Identifier<User>? {
        if Text.key(user.username) == Text.key(old.username) { return nil }
        return try self.user(.username(user.username)).value()?.id
    }
}

extension PageRegistration.LoginNames {
    /// The user with the username of that key, or else the only one with the verified address.
    fileprivate func user(_ key: String, _ address: String?, among users: [User]) -> User? {
        if self != .email, let named = users.first(where: { Text.key($0.username) == key }) { return named }
        guard self != .username, let address else { return nil }
        let owners = users.filter { $0.profile.isEmailVerified && $0.profile.verifiedEmailKey == address }
        return owners.count == 1 ? owners[0] : nil
    }
}
