import SojournClient

/// The calls of users, with an access token.
extension FakeServer.World {
    /// The answer to a call below `/v1/me`, or to `/v1/verify`.
    mutating func ofUser(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        let (session, user): (FakeSession, FakeServer.User)
        switch caller(call, at: now) {
        case .success(let found): (session, user) = found
        case .failure(let refusal): return refusal.answer
        }
        switch (call.method, call.path) {
        case ("POST", "/v1/me/presence/options"):
            guard passkeys.values.contains(where: { $0.userID == user.id }) else { return .problem(404, "not_found") }
            return passkeyOptions("presence \(session.id)", for: user)
        case ("POST", "/v1/me/presence"): return showPresence(call, session, user, at: now)
        case ("PUT", "/v1/me/authentication-mode"): return changeMode(call, session, user, at: now)
        case ("PUT", "/v1/me/pin") where has("account", session): return setPIN(call, session, user, at: now)
        case ("PUT", "/v1/me/encryption-key"): return setEncryptionKey(call, session)
        case ("DELETE", "/v1/me/encryption-key"):
            sessions[session.id]?.encryptionKey = nil
            return HTTPAnswer(status: 204)
        default: break
        }
        let takesAnyScope = call.path == "/v1/verify" || (call.method, call.path) == ("GET", "/v1/me")
        guard takesAnyScope || has("account", session) else { return .insufficientScope }
        if let requirement = requirement(on: session, of: user, at: now) { return requirement.problem }
        if let answer = passkeyCall(call, session, user, at: now) { return answer }
        if let answer = factorCall(call, session, user, at: now) { return answer }
        if let answer = accountCall(call, session, user, at: now) { return answer }
        if let answer = loginCall(call, session, user, at: now) { return answer }
        switch (call.method, call.path) {
        case (_, "/v1/verify"):
            return HTTPAnswer(
                status: 200,
                fields: [
                    HTTPMessageField("X-User-Id", user.id), HTTPMessageField("X-Session-Id", session.id),
                    HTTPMessageField("X-Device-Id", session.deviceID),
                ])
        case ("GET", "/v1/me"): return .json(200, profile(user, in: session))
        case ("POST", "/v1/me/account"): return name(user, call, session)
        case ("GET", "/v1/me/devices"): return devices(of: user, current: session, at: now)
        case ("DELETE", "/v1/me/devices"):
            let count = end("revoked_by_user", at: now) { $0.userID == user.id }
            forgetDevices(of: user.id)
            return .json(200, ["revoked": .integer(Int64(count))])
        case ("DELETE", let path) where path.hasPrefix("/v1/me/devices/"):
            let id = path.dropFirst("/v1/me/devices/".count)
            let count = end("revoked_by_user", at: now) { $0.userID == user.id && $0.deviceID == id }
            return count > 0 ? HTTPAnswer(status: 204) : .problem(404, "not_found")
        case ("GET", "/v1/me/pin"):
            return session.pin.map { .json(200, $0.members) } ?? .problem(404, "not_found")
        case ("DELETE", "/v1/me/pin"):
            sessions[session.id]?.pin = nil
            return HTTPAnswer(status: 204)
        case ("GET", "/v1/me/login-settings"): return Self.loginSettings(user)
        case ("PUT", "/v1/me/login-settings"):
            guard let isDisabled = call.members["logins_disabled"]?.bool else {
                return .problem(400, "invalid_request")
            }
            users[user.username]?.ownSwitch = isDisabled ? call.text("effective") ?? "immediate" : nil
            if call.members["revoke_sessions"]?.bool ?? false {
                end("revoked_by_user", at: now) { $0.userID == user.id }
                forgetDevices(of: user.id)
            }
            return users[user.username].map(Self.loginSettings) ?? .problem(404, "not_found")
        case ("PUT", "/v1/me/password"):
            guard user.password == call.text("old_password") else { return .problem(401, "invalid_credentials") }
            users[user.username]?.password = call.text("new_password")
            end("password_changed", at: now) { $0.userID == user.id && $0.id != session.id }
            forgetDevices(of: user.id)
            return HTTPAnswer(status: 204)
        default: return .problem(404, "not_found")
        }
    }

    struct Refused: Error {
        let answer: HTTPAnswer
    }

    /// The session and the user of the access token.
    func caller(_ call: FakeCall, at now: Int64) -> Result<(FakeSession, FakeServer.User), Refused> {
        guard let authorization = call.authorization else {
            return .failure(Refused(answer: .problem(401, "unauthenticated")))
        }
        let parts = authorization.token.split(separator: "_")
        guard parts.count == 4, parts[0] == "sja", let expiresAt = Int64(parts[3]), now < expiresAt * 1000 else {
            return .failure(Refused(answer: .problem(401, "invalid_token")))
        }
        guard let session = sessions[String(parts[1])] else {
            return .failure(Refused(answer: FakeRefusal(reason: "unknown_session").problem))
        }
        if (session.key ?? "") != (authorization.scheme == "dpop" ? call.provenKey ?? "" : "") {
            return .failure(Refused(answer: FakeRefusal(reason: "binding_mismatch").problem))
        }
        if let ending = ending(of: session, at: now) {
            return .failure(Refused(answer: FakeRefusal(reason: ending).problem))
        }
        guard let user = users.values.first(where: { $0.id == session.userID }) else {
            return .failure(Refused(answer: FakeRefusal(reason: "user_deleted").problem))
        }
        if user.isDisabledByAdmin {
            return .failure(Refused(answer: FakeRefusal(reason: "login_disabled_by_admin").problem))
        }
        if user.ownSwitch == "immediate" {
            return .failure(Refused(answer: FakeRefusal(reason: "login_disabled_by_user").problem))
        }
        return .success((session, user))
    }

    private func devices(of user: FakeServer.User, current: FakeSession, at now: Int64) -> HTTPAnswer {
        let living = sessions.values.filter { $0.userID == user.id && ending(of: $0, at: now) == nil }
        let items = living.sorted { ($0.renewedAt, $0.deviceID) > ($1.renewedAt, $1.deviceID) }.map { session in
            JSONValue.object([
                "device_id": .string(session.deviceID), "last_seen_at": .integer(session.renewedAt / 1000),
                "current": .bool(session.deviceID == current.deviceID),
            ])
        }
        return .json(200, ["items": .array(items)])
    }

    private static func loginSettings(_ user: FakeServer.User) -> HTTPAnswer {
        var members: [String: JSONValue] = ["logins_disabled": .bool(user.ownSwitch != nil)]
        members.set("effective", user.ownSwitch)
        return .json(200, members)
    }
}
