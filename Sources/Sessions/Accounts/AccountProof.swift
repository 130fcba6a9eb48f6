/// What has shown who asks for a change of an account, before the change was begun.
///
/// It is looked at again in the transaction that writes the change: hashing takes its time, and who was logged out, disabled or
/// given another password meanwhile changes nothing any more.
public enum AccountProof: Hashable, Sendable {
    /// A rolling token of that session, and what has shown beside it that the user is there, if anything has.
    case session(Identifier<Session>, beside: PresenceProof? = nil)
    /// The password that has that hash.
    case password(hash: String?)
    /// An ID token of an identity of the user, which is used up by it.
    case identity

    /// The session that asks, if one does.
    var sessionID: Identifier<Session>? { if case .session(let id, _) = self { id } else { nil } }
}

extension PresenceProof {
    /// Why it says nothing of `user` any more; nil: it still does. Of a password only what is the user's at that moment says
    /// anything: it may have been replaced while it was hashed, in the very session that it came with, too, which goes on then.
    func refusal(for user: User?) -> ServiceError? {
        switch self {
        case .key: nil
        case .password(let hash): user?.passwordHash == hash ? nil : .invalidCredentials
        }
    }
}

extension UserChange {
    /// The session that asks, with what it hangs on as it was before this change.
    private var askingRecord: SessionRecord? {
        guard let asking, asking.userID == user.id else { return nil }
        return SessionRecord(
            session: asking, user: user, client: clients.first { $0.id == asking.clientID }, settings: settings)
    }

    /// Why `proof`, which was good when it was presented, is good for nothing any more; nil: it still is.
    func refusal(of proof: AccountProof, by policy: RefreshPolicy, at now: Instant) -> ServiceError? {
        switch proof {
        case .session(_, let presence):
            policy.refusal(ofTokensIn: askingRecord, at: now) ?? presence?.refusal(for: user)
        case .password(let hash): PresenceProof.password(hash: hash).refusal(for: user)
        // The token was used up before. That an admin unlinks the identity in this very moment takes nothing back.
        case .identity: nil
        }
    }
}

extension RefreshPolicy {
    /// Why rolling tokens of the session are good for nothing at `now`, whatever they say themselves; nil: they are good.
    func refusal(ofTokensIn record: SessionRecord?, at now: Instant) -> ServiceError? {
        guard let record else { return .invalidToken(.unknownSession) }
        if let ending = ending(of: record, at: now) { return .invalidToken(.ended(ending.reason)) }
        guard let user = record.user, user.rejectsRollingTokens, let refusal = user.loginRefusal else { return nil }
        return .invalidToken(refusal)
    }
}
