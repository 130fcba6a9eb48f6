import Sessions

extension RandomHistory {
    /// A verifier that takes the feed's snapshot now refuses each token that the server refuses before it expires; and of the others
    /// only those for which a refresh gives a better one.
    func compareFeed(_ index: Int, _ refusal: SessionModel.Refusal?) async throws {
        let token = model.tokens[index]
        let (session, user) = (model.sessions[token.session], userIDs[model.sessions[token.session].user])
        var (isOver, isBlocked, isTooOld) = (false, false, false)
        for item in try await store.revocations(after: 0, at: clock.now, limit: 1_000_000) {
            switch item.kind {
            case .sessionEnded: isOver = isOver || item.sessionID == sessionIDs[token.session]
            case .userDeleted:
                isOver = isOver || item.userID == user && token.issuedAt <= item.at.secondsSinceEpoch
            case .userBlocked: if item.userID == user { isBlocked = true }
            case .userUnblocked: if item.userID == user { isBlocked = false }
            case .clientDeleted, .allSessionsEnded, .lifetimesShortened:
                let concerns = (item.userID ?? user) == user && (item.clientID ?? session.client) == session.client
                isTooOld = isTooOld || concerns && token.issuedAt <= item.at.secondsSinceEpoch
            // These are about tokens without a session.
            case .clientTokensEnded, .clientTokenRevoked: break
            }
        }
        switch refusal {
        case .invalidToken(nil): break
        case .invalidToken: try expect(isOver || isBlocked || isTooOld, true, "the feed refuses \(token)")
        case nil, .absent, .other: try expect(isOver || isBlocked, false, "the feed refuses for good \(token)")
        }
    }
}
