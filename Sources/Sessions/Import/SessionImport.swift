/// What became of one record that was imported.
public enum ImportOutcome: Hashable, Sendable {
    /// Written, or written again as it was.
    case written
    /// What is stricter was written; the rest is otherwise here, and stays so.
    case writtenInPart
    /// The store holds it already, as it is or further on: nothing was written.
    case kept
    /// The store has it otherwise, or it was deleted here, and that stays so: nothing was written.
    case differs
    /// The username belongs to a user with another id: nothing was written.
    case usernameTaken
    /// It needs a user who is not there: nothing was written.
    case unknownUser
}

extension ProviderCheckChange {
    /// Takes over what another store asked a provider with, and when the provider last stood by the session there. Pure.
    ///
    /// What has been asked here since has gone further, and is kept. The other store may have gone on asking, and have got
    /// another token for this one: so it comes in doubt, as from a backup, and a "no" alone logs nobody out.
    public mutating func take(_ imported: ProviderCheck, confirmedAt: Instant) -> ImportOutcome {
        if session.ending != nil { return .kept }
        if let confirmation = session.confirmation, confirmation.at >= confirmedAt { return .kept }
        if let check, check.revision > imported.revision { return .kept }
        check = imported
        check?.isInDoubt = true
        session.confirmation = ProviderConfirmation(provider: imported.provider, at: confirmedAt)
        return .written
    }
}

/// A session that comes from another store, with what it meets in this one. The store reads this for each session and
/// does what `decision` says, in one transaction.
///
/// The rules make an import repeatable, in any order and as often as one likes: what has gone further wins. So an
/// import that was interrupted is run again from the start, and a database that is still in use can be moved
/// beforehand, and what has changed since moved after it.
public struct SessionImport: Hashable, Sendable {
    /// What comes.
    public let session: Session
    /// The session with the same id, if the store has it.
    public let stored: Session?
    /// Another session on the same (user, client, device) without a recorded end, if there is one.
    public let living: Session?
    /// Whether the session's user is in the store.
    public let hasUser: Bool
    /// Whether sessions of then have ended here since (`ImportMode.hasEnded`).
    public let isOver: Bool

    /// What comes, and what it meets.
    public init(session: Session, stored: Session?, living: Session?, hasUser: Bool, isOver: Bool) {
        self.session = session
        self.stored = stored
        self.living = living
        self.hasUser = hasUser
        self.isOver = isOver
    }

    /// What the store has to do.
    public enum Decision: Hashable, Sendable {
        /// Nothing: what is there is as new.
        case keep
        /// Nothing: it would live, and its like has ended here.
        case leaveOut
        /// Nothing: a session that lives must have a user.
        case refuse
        /// Add or replace that session; `ended`, if set, is the `living` one with its end, to be written before.
        case write(Session, ended: Session?)
    }

    /// What the store has to do. Pure.
    public var decision: Decision {
        if let stored {
            // An end is final, and serials only go up.
            if stored.ending != nil || stored == session { return .keep }
            if session.ending == nil, (session.child, session.childAnsweredAt) <= (stored.child, stored.childAnsweredAt)
            {
                return .keep
            }
            return .write(session, ended: nil)
        }
        if session.ending != nil { return .write(session, ended: nil) }
        guard hasUser else { return .refuse }
        if isOver { return .leaveOut }
        guard var living else { return .write(session, ended: nil) }
        // One session lives on a device: the one of the last login.
        if living.startedAt > session.startedAt {
            var session = session
            session.end(.replaced, at: living.startedAt)
            return .write(session, ended: nil)
        }
        living.end(.replaced, at: session.startedAt)
        return .write(session, ended: living)
    }
}
