/// The outcome for one imported record.
public enum ImportOutcome: Hashable, Sendable {
    /// Written, possibly without a difference.
    case written
    /// Only the stricter part was written; the rest differs here, and is kept.
    case writtenInPart
    /// The store has the record, unchanged or further progressed. Nothing was written.
    case kept
    /// The store's record differs, or it was deleted here; that is kept. Nothing was written.
    case differs
    /// The username belongs to a user with another id. Nothing was written.
    case usernameTaken
    /// The verified address belongs to a user with another id. Nothing was written.
    case emailTaken
    /// The record's user does not exist. Nothing was written.
    case unknownUser
}

extension ProviderCheckChange {
    /// Imports another store's provider check, and the time at which the provider last confirmed the session there. Pure.
    ///
    /// A check that has progressed further here is kept. The other store may have continued its checks and may have exchanged
    /// the token. The imported check is therefore in doubt, as after a restore, and a single refusal ends no session.
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

/// A session from another store, with the rows of this one that it is compared with. The store reads them for each session and
/// carries out `decision`, in one transaction.
///
/// An import can be repeated in any order and any number of times, because the state that has progressed further wins. An
/// interrupted import is run again from the start. A database that is in use can be moved beforehand, and its later changes
/// after it.
public struct SessionImport: Hashable, Sendable {
    /// The imported session.
    public let session: Session
    /// The session with the same id, if the store has it.
    public let stored: Session?
    /// Another session without a recorded end with the same user, client and device, if there is one.
    public let living: Session?
    /// Whether the session's user exists in the store.
    public let hasUser: Bool
    /// Whether sessions of that time have ended here since (`ImportMode.hasEnded`).
    public let isOver: Bool

    /// An imported session with the rows that it is compared with.
    public init(session: Session, stored: Session?, living: Session?, hasUser: Bool, isOver: Bool) {
        self.session = session
        self.stored = stored
        self.living = living
        self.hasUser = hasUser
        self.isOver = isOver
    }

    /// The decision that the store carries out.
    public enum Decision: Hashable, Sendable {
        /// Write nothing: the stored session has progressed as far or further.
        case keep
        /// Write nothing: the session would be active, and sessions of that time have ended here.
        case leaveOut
        /// Write nothing: an active session needs a user.
        case refuse
        /// Add or replace that session. `ended`, if set, is `living` with its end, to be written before.
        case write(Session, ended: Session?)
    }

    /// The decision that the store carries out. Pure.
    public var decision: Decision {
        if let stored {
            // An end is final, and serials only increase.
            if stored.ending != nil || stored == session { return .keep }
            if session.ending == nil,
                (session.child, session.childAnsweredAt, session.renewedAt)
                    <= (stored.child, stored.childAnsweredAt, stored.renewedAt)
            {
                return .keep
            }
            return .write(session, ended: nil)
        }
        if session.ending != nil { return .write(session, ended: nil) }
        guard hasUser else { return .refuse }
        if isOver { return .leaveOut }
        guard var living else { return .write(session, ended: nil) }
        // A device has one active session, which is that of the last login.
        if living.startedAt > session.startedAt {
            var session = session
            session.end(.replaced, at: living.startedAt)
            return .write(session, ended: nil)
        }
        living.end(.replaced, at: session.startedAt)
        return .write(session, ended: living)
    }
}
