internal import Sessions

extension PageLogin {
    /// A login on the page. It binds a session to that of the browser in which it began.
    init(_ line: inout TransferLine) throws(LineProblem) {
        guard let request = AuthorizationRequest(json: Array(try line.text("request").utf8)) else {
            throw LineProblem("'request' is not an authorization request")
        }
        self.init(
            id: try line.identifier("login_id"), request: request,
            remoteAddress: try line.optionalText("remote_address"), userAgent: try line.optionalText("user_agent"),
            userID: try line.identifier("user_id"), methods: try line.value("methods", "a list of strings") ?? [],
            authenticatedAt: try line.instant("authenticated_at"), epoch: try line.integer("epoch"),
            browserSession: try line.optionalIdentifier("browser_session_id"),
            codeHash: try line.optionalBytes("code_hash"), codeExpiresAt: try line.instant("code_expires_at"),
            codeRequest: try line.optionalBytes("code_request"), codeUsedAt: try line.optionalInstant("code_used_at"),
            startedAt: try line.instant("started_at"))
        phoneLoginID = try line.optionalIdentifier("phone_login_id")
        continuedID = try line.optionalIdentifier("continued_session_id")
    }

    /// The line of a login.
    var members: TransferMembers {
        var members = TransferMembers(.login)
        members.add("login_id", id.description)
        members.add("request", String(decoding: request.json, as: UTF8.self))
        members.add("remote_address", remoteAddress)
        members.add("user_agent", userAgent)
        members.add("user_id", userID.description)
        if !methods.isEmpty { members.add("methods", methods) }
        members.add("authenticated_at", authenticatedAt)
        members.add("epoch", epoch)
        members.add("browser_session_id", browserSession?.description)
        members.add("phone_login_id", phoneLoginID?.description)
        members.add("continued_session_id", continuedID?.description)
        members.add("code_hash", bytes: codeHash)
        members.add("code_expires_at", codeExpiresAt)
        members.add("code_request", bytes: codeRequest)
        members.add("code_used_at", codeUsedAt)
        members.add("started_at", startedAt)
        return members
    }
}
