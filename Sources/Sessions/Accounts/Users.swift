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
        try await updateUser(reference, reading: UserChangeRows(asking: sessionID), change)
    }

    /// As above, with the other rows that the change reads.
    public func updateUser<Outcome: Sendable>(
        _ reference: UserReference, reading rows: UserChangeRows,
        _ change: @escaping @Sendable (inout UserChange) -> Outcome
    ) async throws(StoreError) -> UserUpdate<Outcome> {
        guard let userID = try await userID(of: reference) else { return .notFound }
        return try await write(.accounts(of: [userID])) { (transaction) throws(TransactionError) in
            // If the name leads to another user meanwhile, the store adds that one to the scope.
            try transaction.updateUser(reference, reading: rows, change)
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
        _ reference: UserReference, reading rows: UserChangeRows,
        _ change: (inout UserChange) -> Outcome
    ) throws(TransactionError) -> UserUpdate<Outcome> {
        let found = (userForUpdate(reference), catalogue(), rows.asking.map { session($0) })
        let used = rows.verification.map { verificationForUpdate($0) }
        guard let old = try found.0.value() else { return .notFound }
        let (verification, catalogue) = (try used?.value() ?? nil, try found.1.value())
        let details = rows.details ? try userDetailsForUpdate(old.id).value() : nil
        var edited = UserChange(
            user: old, settings: catalogue.settings, clients: Array(catalogue.clients.values),
            asking: try found.2?.value() ?? nil)
        (edited.verification, edited.details) = (verification, details)
        if rows.ways { edited.isPasswordSole = try isPasswordSole(for: old.id) }
        let outcome = change(&edited)
        let effect = edited.effect(on: old, now: now)
        let depends = effect.written.map { UserSources.depend(on: old, $0) } ?? false
        let sources = depends || effect.distrust != nil ? userSources(of: [old.id]) : nil
        if let user = effect.written {
            if effect.isRefused(by: try namesake(of: user, before: old)) { return .usernameTaken }
            if try isMailboxTaken(by: user, before: old) { return .emailTaken }
            update(user)
        }
        var (ended, events) = (0, edited.events)
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
            var living = logins ?? []
            if logins == nil, let bonds { living = try bonds.value() }
            events += try endBonds(in: &living, sessions, ending, in: &locked, by: origin)
            logins = living
        }
        if effect.endsVerifications { endVerifications(of: old.id, at: now) }
        try writeMailRows(of: edited, before: verification)
        if let changed = try changedDetails(edited, before: old, details, noting: &events), !effect.deletes {
            write(changed)
        }
        events += try deleteKeys(by: edited)
        if edited.forgetsFailedAttempts { deleteFailedAttempts(of: old.id) }
        if effect.deletes {
            try deleteRows(of: old.id)
            events = events.withoutDeviceNames()
        }
        append(events, catalogue)
        return .done(outcome, endedSessions: ended)
    }

    /// Whether the user has neither identity nor passkey nor authenticator.
    private func isPasswordSole(for userID: Identifier<User>) throws(TransactionError) -> Bool {
        let (identities, passkeys, factors) = (identities(of: userID), passkeys(of: userID), totpFactors(of: userID))
        let (others, keys, apps) = (try identities.value(), try passkeys.value(), try factors.value())
        return others.isEmpty && keys.isEmpty && apps.isEmpty
    }

    /// Writes the verification that a change has used, and the one and the mails that it adds.
    private func writeMailRows(of change: UserChange, before known: Verification?) throws(TransactionError) {
        if let used = change.verification, used != known { update(used) }
        if let new = change.newVerification, try !insert(new).value() { throw .overtaken }
        for mail in change.mails { _ = try insert(mail).value() }
    }

    /// Deletes the passkeys and authenticators of `deletesKeysSince`, and the recovery codes with the last authenticator. Returns
    /// the events.
    private func deleteKeys(by change: UserChange) throws(TransactionError) -> [AuditEvent] {
        guard let since = change.deletesKeysSince else { return [] }
        let (userID, origin) = (change.user.id, change.events.first.map(Origin.init) ?? .system)
        let (passkeys, factors) = (passkeys(of: userID), totpFactorsForUpdate(of: userID))
        var events: [AuditEvent] = []
        for passkey in try passkeys.value() where passkey.createdAt >= since {
            _ = try deletePasskey(passkey.id, of: userID).value()
            let label = Passkey.label(of: passkey.id)
            events.append(AuditEvent(.passkeyRemoved, at: now, by: origin, userID: userID, reason: label))
        }
        let known = try factors.value()
        for factor in known where factor.createdAt >= since {
            _ = try deleteTOTPFactor(factor.id, of: userID).value()
            if factor.confirmedAt == nil { continue }
            events.append(AuditEvent(.secondFactorRemoved, at: now, by: origin, userID: userID, reason: factor.label))
        }
        if !known.contains(where: { $0.confirmedAt != nil && $0.createdAt < since }) { deleteRecoveryCodes(of: userID) }
        return events
    }

    /// Deletes a user with all that belongs to it. Ended sessions stay as tombstones.
    private func deleteRows(of userID: Identifier<User>) throws(TransactionError) {
        deleteIdentities(of: userID)
        deletePasskeys(of: userID)
        deleteAccountRows(of: userID)
        deleteUserSources(of: userID)
        try noteDeletion(of: userID, at: now)
        deleteUser(userID)
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

    /// The details to write after a change; nil: they stay. The end of the user's own switch ends a pending deletion as well,
    /// whichever call switches logins on.
    private func changedDetails(
        _ change: UserChange, before old: User, _ known: UserDetails?, noting events: inout [AuditEvent]
    ) throws(TransactionError) -> UserDetails? {
        if old.disabledByUser != nil, change.user.disabledByUser == nil {
            var details: UserDetails
            if let known = change.details {
                details = known
            } else {
                details = try userDetailsForUpdate(old.id).value()
            }
            if details.deleteAt != nil {
                details.deleteAt = nil
                let origin = events.first.map(Origin.init) ?? .system
                events.append(AuditEvent(.deletionCancelled, at: now, by: origin, userID: old.id))
                return details
            }
        }
        return change.details == known ? nil : change.details
    }

    /// Whether another user has verified the address that `user` has verified. False, without a request, if the verified
    /// address does not change.
    private func isMailboxTaken(by user: User, before old: User) throws(TransactionError) -> Bool {
        guard let key = user.profile.provenKey, key != old.profile.provenKey else { return false }
        return try owner(ofMailbox: key).value().contains { $0.id != user.id }
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
