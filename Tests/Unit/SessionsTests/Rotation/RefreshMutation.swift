import Sessions

/// A row of the table, broken: the exhaustive tests must turn red for each of them.
enum RefreshMutation: String, CaseIterable, Sendable {
    case repeatedRotates, rotatedRepeats, convergedReissues, convergedWithoutMove, sameRequestReissues
    case reissuedEnds, reissuedConverges, caughtUpEnds, reuseIsForgiven, restoredEnds, boundParentReissues
    case repeatedConfirmsNothing, confirmedConverges, confirmedMoves, confirmedEndsAtOnce

    /// The policy's decision, except on the broken row.
    func decide(
        _ attempt: RefreshAttempt, _ session: inout Session, settings: Settings, now: Instant,
        user: User, client: Client
    ) -> RefreshDecision {
        let before = session
        let decision = Sample.policy.renew(
            attempt, &session, user: user, client: client, settings: settings, now: now)
        let isRecent = now - before.childAnsweredAt < settings.sessions.rotationInterval
        let isSameRequest = attempt.requestKey != nil && attempt.requestKey == before.childRequestKey
        let isConfirmed = before.childConfirmedAt.map { $0 > before.childAnsweredAt } ?? false
        let isParent = attempt.serial == before.parent
        func issue(_ serial: UInt64) {
            session.parent = attempt.serial
            session.child = serial
            session.childAnsweredAt = now
            session.childRequestKey = attempt.requestKey
        }
        switch (self, decision) {
        case (.repeatedRotates, .repeated): issue(before.child + 1)
        case (.rotatedRepeats, .rotated), (.reissuedConverges, .reissued), (.convergedWithoutMove, .converged):
            session = before
        case (.convergedReissues, .converged) where isRecent: issue(before.child + 1)
        case (.sameRequestReissues, .converged) where !isRecent && isSameRequest: issue(before.child + 1)
        case (.boundParentReissues, .converged) where !isRecent && !isSameRequest: issue(before.child + 1)
        case (.reissuedEnds, .reissued), (.caughtUpEnds, .caughtUp), (.restoredEnds, .restored):
            session = before
            session.end(.refreshTokenReused, at: now)
            return .refused(.ended(.refreshTokenReused))
        case (.reuseIsForgiven, .refused(.ended(.refreshTokenReused))) where before.ending == nil:
            session = before
            return .caughtUp
        case (.repeatedConfirmsNothing, .repeated): session = before
        case (.confirmedConverges, .refused(.ended(.refreshTokenReused)))
        where before.ending == nil && isParent && isConfirmed:
            session = before
            return .converged
        case (.confirmedMoves, .converged) where isConfirmed: session.childAnsweredAt = now
        case (.confirmedEndsAtOnce, .converged) where isConfirmed:
            session.end(.refreshTokenReused, at: now)
            return .refused(.ended(.refreshTokenReused))
        default: break
        }
        return decision
    }
}
