/// What an import does with what is here already.
public enum ImportMode: Hashable, Sendable {
    /// It stays, and what was deleted or ended here stays so: no older state comes back by a file that is imported again. A store
    /// adds to the memory what the trail tells by the moment at which it writes.
    case keeping(ImportLedger)
    /// It is overwritten, and what was deleted comes back.
    case replacing

    /// What a store has to do with a user.
    public enum UserDecision: Hashable, Sendable {
        /// Nothing.
        case leave(ImportOutcome)
        /// Add that user, or put them in the place of the stored one, which comes to the outcome.
        case write(User, ImportOutcome)
    }

    /// From which place on the trail has news; nil: they do not matter.
    public var place: Int64? { if case .keeping(let memory) = self { memory.place } else { nil } }

    /// The mode, after it has heard what the trail tells since `place`.
    public func knowing(_ news: [RecordedEvent]) -> ImportMode {
        guard case .keeping(var memory) = self else { return self }
        for recorded in news { memory.note(recorded.event) }
        return .keeping(memory)
    }

    /// Whether the user was deleted here, and stays so.
    public func hasDeleted(_ id: Identifier<User>) -> Bool {
        if case .keeping(let memory) = self { memory.hasDeleted(id) } else { false }
    }

    /// Whether the identity was unlinked here, and stays so.
    public func hasUnlinked(_ identity: Identity) -> Bool {
        if case .keeping(let memory) = self { memory.hasUnlinked(identity) } else { false }
    }

    /// Whether sessions of then have ended here, and that one is over with them, wherever it was.
    public func hasEnded(_ session: Session) -> Bool {
        if case .keeping(let memory) = self { memory.hasEnded(session) } else { false }
    }

    /// Whether the token was ended or used here, and stays so; one that was exchanged tells just that.
    public func hasEnded(_ token: ForeignToken) -> Bool {
        if case .keeping(let memory) = self { token.exchange == nil && memory.hasEnded(token) } else { false }
    }

    /// What becomes of `user`, when the store has `stored` with the same id, and `namesake` with the same name. Pure.
    public func decision(on user: User, stored: User?, namesake: Identifier<User>?) -> UserDecision {
        if case .keeping(let memory) = self {
            if let stored { return Self.decision(on: user, stored: stored, memory) }
            if memory.hasDeleted(user.id) { return .leave(.differs) }
        }
        if let namesake, namesake != user.id { return .leave(.usernameTaken) }
        return user == stored ? .leave(.kept) : .write(user, .written)
    }

    /// Of the user who comes, only logins that are off count: switched off there later than they were switched on here, if ever.
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
    /// Whether both say the same, but for what each database counts by itself: wrong passwords, and when the user came to be here.
    fileprivate func isSame(as other: User) -> Bool {
        var same = User(
            id: id, username: username, profile: profile, passwordHash: passwordHash,
            offlineSessionMax: offlineSessionMax, disabledByAdmin: disabledByAdmin, disabledByUser: disabledByUser,
            passwordReset: passwordReset, createdAt: other.createdAt)
        (same.claims, same.wrongPasswords) = (claims, other.wrongPasswords)
        return same == other
    }
}
