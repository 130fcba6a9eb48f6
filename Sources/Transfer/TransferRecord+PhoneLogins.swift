internal import Sessions

extension PhoneLogin {
    /// Whether it is moved: its session lives and depends on a phone, or it is over. One that waits is over before a move is.
    var isMoved: Bool { claim != nil && (state.isFinal || isLoggedIn) }

    /// A login with a phone, after the approval: nothing with which a device could come for its session is in the line.
    init(_ line: inout TransferLine) throws(LineProblem) {
        var request = Request()
        (request.announceInfo, request.sessionInfo) = (
            try line.optionalText("announce_info"), try line.optionalText("session_info")
        )
        (request.remoteAddress, request.userAgent) = (
            try line.optionalText("remote_address"), try line.optionalText("user_agent")
        )
        guard
            let bond = PhoneLogin.Bond(word: try line.text("bond"), interval: try line.optionalDuration("ping_seconds"))
        else { throw LineProblem("'bond' must be none, session or ping with its seconds") }
        let startedAt = try line.instant("started_at")
        let userID = try line.optionalIdentifier("user_id") as Identifier<User>?
        if try line.value("browser_known", "true or false") ?? false {
            request.knownUsers = [userID].compactMap(\.self)
        }
        self.init(
            id: try line.identifier("login_id"), kind: try line.required("kind", try line.optionalWord("kind")),
            clientID: try line.text("client_id"), bond: bond,
            request: request,
            startedAt: startedAt, inputUntil: startedAt)
        let phase = try line.required("state", try line.optionalWord("state")) as Phase
        guard
            let state = State(
                phase, cause: try line.optionalText("cause").flatMap { Cause(rawValue: $0) },
                endedAt: try line.optionalInstant("ended_at"))
        else { throw LineProblem("'state' does not fit 'cause' and 'ended_at'") }
        self.state = state
        browserSession = try line.optionalIdentifier("browser_session_id")
        claim = Claim(
            sessionID: try line.identifier("phone_session_id"), userID: try line.identifier("phone_user_id"),
            clientID: try line.text("phone_client_id"), deviceID: try line.text("phone_device_id"),
            arrival: try line.required("arrival", try line.optionalWord("arrival")), wishes: Wishes())
        self.userID = userID
        approvedAt = try line.optionalInstant("approved_at")
        answeredAt = try line.optionalInstant("answered_at")
        guard isMoved, !isLoggedIn || userID != nil else {
            throw LineProblem("'state' must be signed_in or that of an end, and signed_in has a user")
        }
    }

    /// The line of the login.
    var members: TransferMembers {
        var members = TransferMembers(.phoneLogin)
        members.add("login_id", id.description)
        members.add("kind", kind.rawValue)
        members.add("client_id", clientID)
        members.add("bond", bond.word)
        members.add("ping_seconds", bond.interval)
        if isKnown(to: userID) { members.add("browser_known", true) }
        members.add("announce_info", request.announceInfo)
        members.add("session_info", request.sessionInfo)
        members.add("remote_address", request.remoteAddress)
        members.add("user_agent", request.userAgent)
        members.add("state", state.phase.rawValue)
        members.add("cause", cause?.rawValue)
        members.add("browser_session_id", browserSession?.description)
        members.add("phone_session_id", claim?.sessionID.description)
        members.add("phone_user_id", claim?.userID.description)
        members.add("phone_client_id", claim?.clientID)
        members.add("phone_device_id", claim?.deviceID)
        members.add("arrival", claim?.arrival.rawValue)
        members.add("user_id", userID?.description)
        members.add("approved_at", approvedAt)
        members.add("answered_at", answeredAt)
        members.add("started_at", startedAt)
        members.add("ended_at", endedAt)
        return members
    }
}
