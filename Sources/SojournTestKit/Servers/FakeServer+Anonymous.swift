import SojournClient

/// Anonymous users: their logins, and their naming.
extension FakeServer.World {
    /// Makes a user and a session. A retry gets the same session; another use of the key is refused.
    mutating func logInAnonymously(device: String, _ call: FakeCall, at now: Int64) -> HTTPAnswer {
        if let refusal = refusal(ofMethod: "anonymous") { return refusal }
        guard anonymousUsers else { return .problem(400, "unauthorized_client") }
        for name in ["username", "password", "id_token", "provider"] where call.members[name] != nil {
            return .problem(400, "invalid_request")
        }
        if let key = call.idempotencyKey, let id = logins["\(key) anonymous"] {
            guard let session = sessions[id], session.deviceID == device, session.child == 1,
                session.childConfirmedAt == nil,
                now - session.startedAt < 600_000, ending(of: session, at: now) == nil,
                let user = users.values.first(where: { $0.id == session.userID }), user.isAnonymous
            else { return .problem(409, "idempotency_key_used") }
            return granted(session, user, at: now)
        }
        userCount += 1
        let id = "user\(userCount)"
        var user = FakeServer.User(id: id, username: "anonymous-\(id)")
        user.isAnonymous = true
        users[user.username] = user
        let answer = begin(user, device: device, call, at: now)
        if let key = call.idempotencyKey { logins["\(key) anonymous"] = "session\(sessionCount)" }
        return answer
    }

    /// Names an anonymous user. A request that was fulfilled before gets the same answer.
    mutating func name(_ user: FakeServer.User, _ call: FakeCall, _ session: FakeSession) -> HTTPAnswer {
        // The ID token of this fake is the user's name.
        let token = call.text("id_token")
        guard let name = token ?? call.text("username"), token != nil || call.text("password") != nil else {
            return .problem(400, "invalid_request")
        }
        guard user.isAnonymous else {
            let isSame = user.username == name && (token != nil || user.password == call.text("password"))
            return isSame ? .json(200, profile(user, in: session)) : .problem(409, "not_anonymous")
        }
        if token == nil, name.contains("@") { return .problem(400, "invalid_request") }
        guard users[name] == nil else { return .problem(409, token == nil ? "username_taken" : "identity_taken") }
        users[user.username] = nil
        var named = user
        (named.username, named.password, named.isAnonymous) = (name, call.text("password"), false)
        users[name] = named
        return .json(200, profile(named, in: session))
    }
}
