/// What a feed says, as those who follow it keep it: the last word about each session and each user, and all about tokens of before. So an
/// import of another store's feed adds what is new here, as often as it is run.
public struct RevocationSummary: Sendable {
    /// What a later word takes the place of an earlier one about.
    private enum Subject: Hashable {
        case session(Identifier<Session>?)
        case user(Identifier<User>?)
        case issued(Identifier<User>?, clientID: String?)
    }

    private var last: [Subject: Revocation] = [:]
    /// Up to which `iat` tokens are refused, until when: these add up.
    private var cutoffs: [Subject: [(at: Instant, until: Instant)]] = [:]

    /// A feed that says nothing.
    public init() {}

    private static func subject(of revocation: Revocation) -> Subject {
        switch revocation.kind {
        case .sessionEnded: .session(revocation.sessionID)
        case .userBlocked, .userUnblocked, .userDeleted: .user(revocation.userID)
        case .clientDeleted, .allSessionsEnded, .lifetimesShortened:
            .issued(revocation.userID, clientID: revocation.clientID)
        }
    }

    /// Takes up the next revocation of the feed.
    public mutating func note(_ revocation: Revocation) {
        let subject = Self.subject(of: revocation)
        if revocation.kind.addsUp {
            cutoffs[subject, default: []].append((revocation.at, revocation.until))
        } else {
            last[subject] = revocation
        }
    }

    /// Whether who follows the feed learns nothing by `revocation`.
    public func says(_ revocation: Revocation) -> Bool {
        let subject = Self.subject(of: revocation)
        if revocation.kind.addsUp {
            return cutoffs[subject, default: []].contains { $0.at >= revocation.at && $0.until >= revocation.until }
        }
        guard let last = last[subject] else { return revocation.kind == .userUnblocked }
        if last.kind != revocation.kind { return false }
        let reaches = !last.kind.hasCutoff || last.at >= revocation.at
        return last.kind == .userUnblocked || reaches && last.until >= revocation.until
    }
}

extension Revocation {
    /// Whether it is so in a store that has `user`, and may have the session alive, where it comes from another one: what has gone
    /// further here is kept. Who is told that a living session has ended would refuse every token that it ever gets. Pure.
    public func holds(user: User?, sessionLives: Bool) -> Bool {
        switch kind {
        case .sessionEnded: !sessionLives
        case .userBlocked: user?.rejectsRollingTokens == true
        case .userUnblocked: user?.rejectsRollingTokens != true
        case .userDeleted: user == nil
        case .clientDeleted, .allSessionsEnded, .lifetimesShortened: true
        }
    }
}
