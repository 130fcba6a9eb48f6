import SojournClient

/// What a session asks of its user (RFC 9470), in the order and the words of the server.
struct FakePresenceRequirement {
    var ways: [String]
    /// In seconds.
    var maxAge: Int64
    /// Whether only a login helps.
    var takesLogin = false

    /// The form of `/v1`.
    var problem: HTTPAnswer { answer(.problem(401, Self.word, reauthenticate: takesLogin)) }
    /// The form of `/oauth/token`.
    var oauth: HTTPAnswer { answer(.oauth(400, Self.word, reason: Self.word, reauthenticate: takesLogin)) }

    private static let word = "insufficient_user_authentication"

    private func answer(_ plain: HTTPAnswer) -> HTTPAnswer {
        var answer = plain
        var members = JSONValue(parsing: plain.body)?.members ?? [:]
        members["acr_values"] = .string(ways.joined(separator: " "))
        members["max_age"] = .integer(maxAge)
        answer.body = JSONValue.object(members).bytes
        return answer
    }
}

extension FakeServer.World {
    /// What a request shows of the user.
    enum Evidence {
        case none, wrongPassword
        case shown(String)
    }

    /// Looks at the proof in a request. A passkey shows the same as the presence key. An assertion counts once, and only if the
    /// session has a presence key. Signatures are not checked.
    mutating func evidence(
        in call: FakeCall, of user: FakeServer.User, _ session: FakeSession, at now: Int64
    ) -> Evidence {
        if let password = call.text("password") {
            return password == user.password ? .shown("password") : .wrongPassword
        }
        if let token = call.text("id_token"), token != "false" {
            return token == user.username ? .shown("id_token") : .none
        }
        if let credential = call.members["passkey"]?.members {
            return isShown(by: credential, session) ? .shown("presence") : .none
        }
        guard let text = call.text("user_assertion"), session.presenceKey != nil,
            isGood(text, session, at: now)
        else { return .none }
        return .shown("presence")
    }

    /// Whether an assertion is for this session, timely and new. It is used up.
    mutating func isGood(_ text: String, _ session: FakeSession, at now: Int64) -> Bool {
        guard let claims = FakeCall.json(text, part: 1), claims.text("iss") == session.id,
            claims.text("sub") == session.userID, let id = claims.text("jti"),
            let expiry = claims.integer("exp"), now < expiry * 1000
        else { return false }
        return usedAssertions.insert(id).inserted
    }

    /// What the mode of the session asks of its user now; nil: nothing, or it was shown.
    func requirement(on session: FakeSession, of user: FakeServer.User, at now: Int64) -> FakePresenceRequirement? {
        let maxAge = presenceMaxAge.flatMap { $0 > 0 ? $0 : nil }
        switch session.mode {
        case "BIOMETRIC": return maxAge.flatMap { unmet(["presence", "password", "id_token"], $0, session, user, now) }
        case "PASSWORD":
            let limits = [maxAge, refreshAfter > 0 ? refreshAfter : nil].compactMap(\.self)
            return unmet(["password", "id_token"], limits.min() ?? 0, session, user, now)
        default: return nil
        }
    }

    /// The requirement of a proof in one of these ways; nil if there is one that is recent enough.
    private func unmet(
        _ ways: [String], _ maxAge: Int64, _ session: FakeSession, _ user: FakeServer.User, _ now: Int64
    ) -> FakePresenceRequirement? {
        let last = ways.compactMap { session.shownAt[$0] }.max() ?? session.startedAt
        let age = now - max(last, session.startedAt)
        return age <= 0 || age < maxAge * 1000 ? nil : asked(ways, maxAge, session, user)
    }

    /// The requirement as this session and its user can meet it.
    func asked(
        _ ways: [String], _ maxAge: Int64, _ session: FakeSession, _ user: FakeServer.User
    ) -> FakePresenceRequirement {
        let (hasPassword, hasIdentity) = (user.password != nil, session.shownAt["id_token"] != nil)
        let hasPasskey = passkeys.values.contains { $0.userID == user.id }
        let asked = ways.filter { way in
            switch way {
            case "password": hasPassword || !hasIdentity
            case "id_token": hasIdentity
            default: true
            }
        }
        let helps = asked.contains { way in
            switch way {
            case "presence": session.presenceKey != nil || hasPasskey
            case "password": hasPassword
            default: hasIdentity
            }
        }
        return FakePresenceRequirement(ways: asked, maxAge: maxAge, takesLogin: !helps)
    }

    /// `POST /v1/me/presence`.
    mutating func showPresence(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer {
        if call.text("code") != nil { return showFactors(call, session, user, at: now) ?? modeAnswer(session.id) }
        switch evidence(in: call, of: user, session, at: now) {
        case .wrongPassword: return .problem(401, "invalid_credentials")
        case .none:
            return asked(["presence", "password", "id_token"], 300, session, user).problem
        case .shown(let way):
            sessions[session.id]?.shownAt[way] = now
            return modeAnswer(session.id)
        }
    }

    /// `PUT /v1/me/authentication-mode`.
    mutating func changeMode(
        _ call: FakeCall, _ known: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer {
        guard let mode = call.text("authentication_mode"), FakeServer.modes.contains(mode) else {
            return .problem(400, "invalid_request")
        }
        var session = known
        let newKey = call.members["presence_key"]?.members.flatMap(FakeCall.key)
        if newKey != nil {
            guard mode == "BIOMETRIC", let text = call.text("user_assertion"), isGood(text, session, at: now) else {
                return .problem(400, "invalid_request")
            }
        }
        var proof = call
        if newKey != nil { proof.members["user_assertion"] = nil }
        switch evidence(in: proof, of: user, session, at: now) {
        case .wrongPassword: return .problem(401, "invalid_credentials")
        case .shown(let way): session.shownAt[way] = now
        case .none: break
        }
        if mode == "PASSWORD", user.password == nil, session.shownAt["id_token"] == nil {
            return .problem(409, "password_missing")
        }
        if mode != session.mode || newKey != nil {
            if session.isActivationPending { return .problem(409, "activation_pending") }
            if let ways = ways(from: session, to: mode, isNewKey: newKey != nil),
                let requirement = unmet(ways, 300, session, user, now)
            {
                return requirement.problem
            }
            session.mode = mode
            if let newKey { (session.presenceKey, session.shownAt["presence"]) = (newKey, now) }
        }
        sessions[session.id] = session
        return modeAnswer(session.id)
    }

    /// How the user must have been shown before a change; nil: not at all.
    private func ways(from session: FakeSession, to mode: String, isNewKey: Bool) -> [String]? {
        let (any, credentials) = (["presence", "password", "id_token"], ["password", "id_token"])
        switch (session.mode, mode) {
        case ("NO", _) where !isNewKey, ("BIOMETRIC", "PASSWORD") where !isNewKey: return nil
        case ("PASSWORD", "BIOMETRIC") where !isNewKey && session.presenceKey != nil: return any
        case ("PASSWORD", _): return credentials
        default: return any
        }
    }

    private func modeAnswer(_ id: String) -> HTTPAnswer {
        let session = sessions[id]
        return .json(
            200,
            [
                "authentication_mode": .string(session?.mode ?? ""),
                "activation_pending": .bool(session?.isActivationPending ?? false),
                "auth_time": .integer((session?.shownAt.values.max() ?? session?.startedAt ?? 0) / 1000),
            ])
    }

    // MARK: Logins

    /// The session of this user and device that a login continues, if it names it and asks for nothing that only a new one has.
    func continued(_ call: FakeCall, _ user: FakeServer.User, device: String, at now: Int64) -> FakeSession? {
        guard let id = call.text("session_id"), let session = sessions[id], session.userID == user.id,
            session.deviceID == device, session.clientID == call.text("client_id") ?? "mobile",
            ending(of: session, at: now) == nil, session.key == call.provenKey
        else { return nil }
        func isOwn(_ name: String, _ key: String?) -> Bool {
            guard let own = call.key(name) else { return true }
            return own == key
        }
        let mode = call.text("authentication_mode") ?? session.mode
        let asked = call.text("scope")?.split(separator: " ").map(String.init) ?? []
        let platform = call.text("device_platform") ?? call.members["device"]?.members?.text("platform")
        guard appData != .refuse || session.isConfirmed(by: platform),
            attestation != .refuse || session.attestation == "genuine",
            asked.allSatisfy(session.scope.contains), isOwn("device_key", session.deviceKey),
            isOwn("presence_key", session.presenceKey),
            mode == session.mode || !session.isActivationPending
        else { return nil }
        return session
    }

    /// Continues a session by a login.
    mutating func goOn(
        _ known: FakeSession, _ call: FakeCall, _ user: FakeServer.User, by way: String, at now: Int64
    ) -> HTTPAnswer {
        var session = known
        session.mode = call.text("authentication_mode") ?? session.mode
        session.shownAt[way] = now
        session.moveAnswer(interval: interval * 1000, now: now)
        session.noteRenewal(interval: interval * 1000, now: now)
        sessions[session.id] = session
        return granted(session, user, at: now)
    }
}
