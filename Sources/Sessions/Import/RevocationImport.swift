/// The content of a feed for a resource server that follows it: the last revocation of each session and each user, and all
/// cutoffs of tokens. An import of another store's feed therefore adds only new revocations, however often it runs.
public struct RevocationSummary: Sendable {
    /// The subject of a revocation. A later revocation replaces an earlier one of the same subject.
    private enum Subject: Hashable {
        case session(Identifier<Session>?)
        case user(Identifier<User>?)
        case issued(Identifier<User>?, clientID: String?)
        case ownTokens(clientID: String?, tokenID: String?)
    }

    private var last: [Subject: Revocation] = [:]
    /// The cutoffs, which accumulate.
    private var cutoffs: [Subject: [Revocation]] = [:]

    /// The summary of an empty feed.
    public init() {}

    private static func subject(of revocation: Revocation) -> Subject {
        switch revocation.kind {
        case .sessionEnded: .session(revocation.sessionID)
        case .userBlocked, .userUnblocked, .userDeleted: .user(revocation.userID)
        case .clientDeleted, .allSessionsEnded, .lifetimesShortened:
            .issued(revocation.userID, clientID: revocation.clientID)
        case .clientTokensEnded, .clientTokenRevoked:
            .ownTokens(clientID: revocation.clientID, tokenID: revocation.tokenID)
        }
    }

    /// Records the next revocation of the feed.
    public mutating func note(_ revocation: Revocation) {
        let subject = Self.subject(of: revocation)
        if revocation.kind.addsUp {
            cutoffs[subject, default: []].append(revocation)
        } else {
            last[subject] = revocation
        }
    }

    /// Whether the feed already implies `revocation`.
    public func says(_ revocation: Revocation) -> Bool {
        let subject = Self.subject(of: revocation)
        if revocation.kind.addsUp {
            return cutoffs[subject, default: []].contains { $0.covers(revocation) }
        }
        guard let last = last[subject] else { return revocation.kind == .userUnblocked }
        if last.kind != revocation.kind { return false }
        let reaches = !last.kind.hasCutoff || last.at >= revocation.at
        return last.kind == .userUnblocked || reaches && last.until >= revocation.until
    }
}

extension Revocation {
    /// Whether this cutoff refuses every token that `other`, one of the same subject, refuses.
    fileprivate func covers(_ other: Revocation) -> Bool {
        let reaches = kind.hasCutoff ? at >= other.at : (tokenEpoch ?? 0) >= (other.tokenEpoch ?? 0)
        return reaches && until >= other.until
    }

    /// Whether a revocation from another store is true in this one, with its `user` and the state of its session; what has
    /// progressed further here is kept. If the feed reported the end of an active session, resource servers would refuse all
    /// its later access tokens. Pure.
    public func holds(user: User?, sessionLives: Bool) -> Bool {
        switch kind {
        case .sessionEnded: !sessionLives
        case .userBlocked: user?.rejectsAccessTokens == true
        case .userUnblocked: user?.rejectsAccessTokens != true
        case .userDeleted: user == nil
        case .clientDeleted, .allSessionsEnded, .lifetimesShortened, .clientTokensEnded, .clientTokenRevoked: true
        }
    }
}
