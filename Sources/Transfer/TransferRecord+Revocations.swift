internal import Sessions

extension Revocation {
    /// A revocation of the feed of another database, without its number there.
    init(_ line: inout TransferLine) throws(LineProblem) {
        let kind: Kind = try line.required("kind", line.optionalWord("kind"))
        self.init(
            number: 0, kind, at: try line.instant("at"), until: try line.instant("until"),
            userID: try line.optionalIdentifier("user_id"), sessionID: try line.optionalIdentifier("session_id"),
            clientID: try line.optionalText("client_id"), reason: try line.optionalText("reason"))
        (tokenID, tokenEpoch) = (try line.optionalText("jti"), try line.optionalInteger("epoch"))
        switch kind {
        case .sessionEnded: _ = try line.required("session_id", sessionID)
        case .userBlocked, .userUnblocked, .userDeleted: _ = try line.required("user_id", userID)
        case .clientDeleted: _ = try line.required("client_id", clientID)
        case .allSessionsEnded, .lifetimesShortened: break
        case .clientTokensEnded: _ = try line.required("epoch", tokenEpoch)
        case .clientTokenRevoked:
            _ = try line.required("client_id", clientID)
            _ = try line.required("jti", tokenID)
        }
    }

    /// The line of a revocation.
    var members: TransferMembers {
        var members = TransferMembers(.revocation)
        members.add("kind", kind.rawValue)
        members.add("at", at)
        members.add("until", until)
        members.add("session_id", sessionID?.description)
        members.add("user_id", userID?.description)
        members.add("client_id", clientID)
        members.add("jti", tokenID)
        members.add("epoch", tokenEpoch)
        members.add("reason", reason)
        return members
    }
}
