/// The proof that authorised a change of an account, checked before the change began.
///
/// The transaction that writes the change checks the proof again, because hashing takes time, and a logout, a disabled login or
/// a new password in between must prevent the change.
public enum AccountProof: Hashable, Sendable {
    /// An access token of that session, and the proof of the user's presence beside it, if the request had one.
    case session(Identifier<Session>, beside: PresenceProof? = nil)
    /// The password with that hash.
    case password(hash: String?)
    /// An ID token of an identity of the user. The check has marked the token as used.
    case identity
    /// The session of a browser in which the user has authenticated a moment ago. It also stands while the user's own switch is
    /// on, because the user switches logins on again in the browser.
    case browser(Identifier<Session>)

    /// The session that asks; nil for other proofs.
    var sessionID: Identifier<Session>? {
        switch self {
        case .session(let id, _), .browser(let id): id
        case .password, .identity: nil
        }
    }
}

extension PresenceProof {
    /// Returns the error if the proof is no longer valid for `user`, else nil. A password is valid only if it is still the
    /// user's, because the same session may have replaced it while it was hashed.
    func refusal(for user: User?) -> ServiceError? {
        switch self {
        // The ID token was used up before, so that unlinking the identity at this moment does not revoke the proof.
        case .key, .passkey, .code, .identity: nil
        case .password(let hash), .passwordAndCode(let hash): user?.passwordHash == hash ? nil : .invalidCredentials
        }
    }
}

extension UserChange {
    /// The session of the access token with its user, client and settings before this change; nil if it is not a session of the
    /// user.
    private var askingRecord: SessionRecord? {
        guard let asking, asking.userID == user.id else { return nil }
        return SessionRecord(
            session: asking, user: user, client: clients.first { $0.id == asking.clientID }, settings: settings)
    }

    /// Returns the error if `proof` is no longer valid, else nil.
    func refusal(of proof: AccountProof, by policy: RefreshPolicy, at now: Instant) -> ServiceError? {
        switch proof {
        case .session(_, let presence):
            policy.refusal(ofTokensIn: askingRecord, at: now) ?? presence?.refusal(for: user)
        case .password(let hash): PresenceProof.password(hash: hash).refusal(for: user)
        // The token was marked as used before, so that unlinking the identity at this moment does not revoke the proof.
        case .identity: nil
        case .browser: policy.refusal(ofBrowser: askingRecord, at: now)
        }
    }
}

extension RefreshPolicy {
    /// The error of the session of a browser as the proof of a change; nil if it is one.
    func refusal(ofBrowser record: SessionRecord?, at now: Instant) -> ServiceError? {
        guard let record, record.session.clientID == Client.browserID else { return .invalidToken(.unknownSession) }
        if let ending = ending(of: record, at: now) { return .invalidToken(.ended(ending.reason)) }
        if record.user?.disabledByAdmin != nil { return .invalidToken(.loginDisabledByAdmin) }
        let requirement = PresenceRequirement.ofChanges
        if requirement.isMet(by: record.session, at: now) { return nil }
        return .insufficientUserAuthentication(requirement.asked(of: record.user, in: record.session))
    }

    /// The error of an access token of the session at `now`, whatever the token contains; nil if it is valid.
    func refusal(ofTokensIn record: SessionRecord?, at now: Instant) -> ServiceError? {
        guard let record else { return .invalidToken(.unknownSession) }
        if let ending = ending(of: record, at: now) { return .invalidToken(.ended(ending.reason)) }
        guard let user = record.user, user.rejectsAccessTokens, let refusal = user.loginRefusal else { return nil }
        return .invalidToken(refusal)
    }
}
