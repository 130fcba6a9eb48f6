/// How an import treats existing data.
public enum ImportMode: Hashable, Sendable {
    /// Existing data is kept, and deletions and endings stay in force, so that a repeated import restores no older state. A
    /// store adds the latest events of the trail to the ledger at the moment of the write.
    case keeping(ImportLedger)
    /// Existing data is overwritten, and deleted data is restored.
    case replacing

    /// The store's action for a user.
    public enum UserDecision: Hashable, Sendable {
        /// Write nothing.
        case leave(ImportOutcome)
        /// Add that user, or replace the stored one, with that outcome.
        case write(User, ImportOutcome)
    }

    /// The number of the trail's event after which the news begin; nil if the mode ignores them.
    public var place: Int64? { if case .keeping(let memory) = self { memory.place } else { nil } }

    /// The mode, with the events of the trail since `place`.
    public func knowing(_ news: [RecordedEvent]) -> ImportMode {
        guard case .keeping(var memory) = self else { return self }
        for recorded in news { memory.note(recorded.event) }
        return .keeping(memory)
    }

    /// Whether the user was deleted here and stays deleted.
    public func hasDeleted(_ id: Identifier<User>) -> Bool {
        if case .keeping(let memory) = self { memory.hasDeleted(id) } else { false }
    }

    /// Whether the identity was unlinked here and stays unlinked.
    public func hasUnlinked(_ identity: Identity) -> Bool {
        if case .keeping(let memory) = self { memory.hasUnlinked(identity) } else { false }
    }

    /// Whether the passkey was removed here and stays removed.
    public func hasRemoved(_ passkey: Passkey) -> Bool {
        if case .keeping(let memory) = self { memory.hasRemoved(passkey) } else { false }
    }

    /// Whether the authenticator was removed here and stays removed.
    public func hasRemoved(_ factor: TOTPFactor) -> Bool {
        if case .keeping(let memory) = self { memory.hasRemoved(factor) } else { false }
    }

    /// Whether the PIN was removed here after it was set.
    public func hasRemoved(_ pin: PIN) -> Bool {
        if case .keeping(let memory) = self { memory.hasRemoved(pin) } else { false }
    }

    /// Whether sessions of that time have ended here, so that this one is over in any store.
    public func hasEnded(_ session: Session) -> Bool {
        if case .keeping(let memory) = self { memory.hasEnded(session) } else { false }
    }

    /// Whether the token was ended or used here. False for an exchanged token, because that only records the exchange.
    public func hasEnded(_ token: ForeignToken) -> Bool {
        if case .keeping(let memory) = self { token.exchange == nil && memory.hasEnded(token) } else { false }
    }

    /// The decision on `user`, when the store has `stored` with the same id, `namesake` with the same name, and `owner` with the same
    /// verified address. Pure.
    public func decision(
        on user: User, stored: User?, namesake: Identifier<User>?, owner: Identifier<User>? = nil
    ) -> UserDecision {
        if case .keeping(let memory) = self {
            if let stored { return Self.decision(on: user, stored: stored, memory) }
            if memory.hasDeleted(user.id) { return .leave(.differs) }
        }
        if let namesake, namesake != user.id { return .leave(.usernameTaken) }
        if let owner, owner != user.id { return .leave(.emailTaken) }
        return user == stored ? .leave(.kept) : .write(user, .written)
    }

    /// Of an imported user, only disabled logins count: those that were disabled there after they were last enabled here.
    private static func decision(on user: User, stored: User, _ memory: ImportLedger) -> UserDecision {
        func stricter(
            _ here: User.LoginDisabling?, _ there: User.LoginDisabling?, byAdmin: Bool
        ) -> User.LoginDisabling? {
            guard let there, !memory.hasLifted(there, byAdmin: byAdmin, of: user.id) else { return here }
            guard let here else { return there }
            return here.effective == .onExpiry && there.effective == .immediate ? there : here
        }
        var merged = stored
        merged.disabledByAdmin = stricter(stored.disabledByAdmin, user.disabledByAdmin, byAdmin: true)
        merged.disabledByUser = stricter(stored.disabledByUser, user.disabledByUser, byAdmin: false)
        let isSame = user.isSame(as: merged)
        if merged != stored { return .write(merged, isSame ? .written : .writtenInPart) }
        return .leave(isSame ? .kept : .differs)
    }
}

extension User {
    /// Whether both are equal except for the values that each database counts itself: wrong passwords and the time of creation.
    fileprivate func isSame(as other: User) -> Bool {
        var same = User(
            id: id, username: username, profile: profile, passwordHash: passwordHash,
            offlineSessionMax: offlineSessionMax, disabledByAdmin: disabledByAdmin, disabledByUser: disabledByUser,
            createdAt: other.createdAt)
        (same.claims, same.wrongPasswords, same.isAnonymous) = (claims, other.wrongPasswords, isAnonymous)
        return same == other
    }
}
