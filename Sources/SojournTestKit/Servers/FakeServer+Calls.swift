import SojournClient

/// A refusal of a token or of a login, before its form is chosen.
struct FakeRefusal {
    let reason: String

    /// Whether a new login helps.
    var reauthenticate: Bool {
        switch reason {
        case "user_deleted", "login_disabled_by_user", "login_disabled_by_admin", "device_mismatch", "binding_mismatch",
            "invalid_assertion":
            false
        default: true
        }
    }

    /// The form of `/v1`.
    var problem: HTTPAnswer { .problem(401, reason, reauthenticate: reauthenticate) }
    /// The form of `/oauth/token`.
    var oauth: HTTPAnswer { .oauth(400, "invalid_grant", reason: reason, reauthenticate: reauthenticate) }
}

extension FakeServer.World {
    /// The answer to a request at `now` (milliseconds).
    mutating func answer(to call: FakeCall, at now: Int64) -> HTTPAnswer {
        switch (call.method, call.path) {
        case ("POST", "/v1/login"): return logIn(call, at: now)
        case ("POST", "/v1/login/totp"): return addAuthenticatorAtLogin(call, at: now)
        case ("POST", "/v1/passkeys/options"): return passkeyOptions("login")
        case ("POST", "/oauth/token"): return token(call, at: now)
        case ("GET", "/.well-known/oauth-authorization-server"):
            let issuer = "https://sojourn.test"
            return .json(200, ["issuer": .string(issuer), "token_endpoint": .string(issuer + "/oauth/token")])
        case ("GET", "/oauth/authorize"): return authorize(call)
        case ("GET", "/login"): return loginPage(call)
        case ("POST", "/login/password"): return submitLoginPage(call, at: now)
        case ("POST", "/v1/refresh"):
            guard let token = call.authorization?.token ?? call.text("refresh_token") else {
                return .problem(400, "invalid_request")
            }
            return renew(token, call, at: now) { $0.problem }
        case ("POST", "/v1/logout"): return logOut(call, at: now)
        case (_, let path)
        where ["/v1/verifications", "/v1/sign-up", "/v1/password-reset"].contains { path.hasPrefix($0) }:
            return ofMailbox(call, at: now)
        case (_, let path) where path.hasPrefix("/v1/me") || path == "/v1/verify":
            return ofUser(call, at: now)
        default: return .problem(404, "not_found")
        }
    }

    // MARK: Logins

    private mutating func logIn(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let device = call.members["device"]?.members?.text("id") else { return .problem(400, "invalid_request") }
        if call.members["anonymous"]?.bool == true { return logInAnonymously(device: device, call, at: now) }
        if call.members["passkey"] != nil { return logInByPasskey(device: device, call, at: now) }
        if call.members["verification_token"] != nil { return logInByMail(device: device, call, at: now) }
        let (user, way): (FakeServer.User, String)
        switch firstProof(call, device: device, at: now) {
        case .success(let found): (user, way) = found
        case .failure(let refusal): return refusal.answer
        }
        if let refusal = loginRefusal(of: user, call) { return refusal }
        guard FakeServer.modes.contains(call.text("authentication_mode") ?? "NO") else {
            return .problem(400, "invalid_request")
        }
        let key = call.idempotencyKey ?? ""
        let repeated = logins["\(key) \(user.id) \(device)"].flatMap { sessions[$0] }.flatMap { session in
            ending(of: session, at: now) == nil && session.child == 1 ? session : nil
        }
        // The code of a repeated request is used up already.
        if repeated == nil,
            let refusal = secondFactorRefusal(call, user, device: device, first: way, at: now)
        {
            return refusal
        }
        let session = continued(call, user, device: device, at: now)
        if session == nil, let repeated { return granted(repeated, user, at: now) }
        let answer =
            session.map { goOn($0, call, user, by: way, at: now) } ?? begin(user, device: device, call, at: now)
        if let code = call.text("code"), isFactor(code, of: user) {
            noteFactors(session?.id ?? "session\(sessionCount)", at: now)
        }
        return answer
    }

    /// The user of a login, and the way of the first proof: that of the request, or of the first step that it continues.
    private func firstProof(
        _ call: FakeCall, device: String, at now: Int64
    ) -> Result<(FakeServer.User, String), Refused> {
        if let token = call.text("login_token") {
            guard let step = firstStep(token, device: device, at: now) else {
                return .failure(
                    Refused(answer: .problem(400, "invalid_request", more: ["member": .string("login_token")])))
            }
            return .success((step.user, step.first))
        }
        // The ID token of this fake is the user's name.
        let isByToken = call.members["id_token"] != nil
        let method = isByToken ? "provider:\(call.text("provider") ?? "")" : "password"
        if let refusal = refusal(ofMethod: method) { return .failure(Refused(answer: refusal)) }
        guard let user = call.text("id_token").map({ users[$0] }) ?? call.text("username").flatMap(user(named:)),
            isByToken || (user.password != nil && user.password == call.text("password"))
        else {
            return .failure(Refused(answer: .problem(401, isByToken ? "invalid_id_token" : "invalid_credentials")))
        }
        return .success((user, isByToken ? "id_token" : "password"))
    }

    /// The user of a name that comes with a password, where the client takes such names: blanks around it and its case do not
    /// matter, a username wins over an address, and an address of two users finds no user.
    func user(named typed: String) -> FakeServer.User? {
        let key = typed.split(separator: " ").joined(separator: " ").lowercased()
        if loginNames != .email, let user = users.values.first(where: { $0.username.lowercased() == key }) {
            return user
        }
        let owners = users.values.filter { $0.email?.lowercased() == key }
        return loginNames != .username && owners.count == 1 ? owners.first : nil
    }

    /// The refusal of a login by a word that `login_methods` do not name.
    func refusal(ofMethod method: String) -> HTTPAnswer? {
        loginMethods?.contains(method) ?? true ? nil : .problem(403, "login_method_not_allowed")
    }

    /// Begins a session, and ends the one that it replaces. `scope` is what was asked for before the call, if it was.
    mutating func begin(
        _ user: FakeServer.User, device: String, _ call: FakeCall, scope asked: String? = nil, at now: Int64
    ) -> HTTPAnswer {
        guard let granted = grantedScope(asked ?? call.text("scope")) else { return .problem(400, "invalid_scope") }
        let clientID = call.text("client_id") ?? "mobile"
        end("replaced", at: now) { $0.userID == user.id && $0.deviceID == device && $0.clientID == clientID }
        sessionCount += 1
        let session = FakeSession(
            id: "session\(sessionCount)", userID: user.id, deviceID: device, clientID: clientID,
            mode: call.text("authentication_mode") ?? "NO", scope: granted, key: call.provenKey,
            deviceKey: call.key("device_key"), startedAt: now, childAnsweredAt: now, renewedAt: now,
            presenceKey: call.key("presence_key"))
        sessions[session.id] = session
        sessions[session.id]?.platform =
            call.text("device_platform") ?? call.members["device"]?.members?.text("platform")
        if call.members["id_token"] != nil { sessions[session.id]?.shownAt["id_token"] = now }
        if let key = call.idempotencyKey { logins["\(key) \(user.id) \(device)"] = session.id }
        return self.granted(session, user, at: now)
    }

    /// The tokens of an authorization request that the client may have; all of them if none is asked for. Nil: it may have none.
    func knownScope(_ asked: String?) -> [String]? {
        guard let asked else { return scope }
        let tokens = asked.split(separator: " ").map(String.init).filter(scope.contains)
        return tokens.isEmpty ? nil : tokens
    }

    /// The tokens of a scope that the client may have; all of them if none is asked for. Nil for more than those.
    func grantedScope(_ asked: String?) -> [String]? {
        let tokens = asked?.split(separator: " ").map(String.init) ?? scope
        return tokens.allSatisfy(scope.contains) ? tokens : nil
    }

    /// Whether tokens of the session have the scope token.
    func has(_ token: String, _ session: FakeSession) -> Bool {
        session.scope.contains(token) && scope.contains(token)
    }

    func loginRefusal(of user: FakeServer.User) -> FakeRefusal? {
        if user.ownSwitch != nil { return FakeRefusal(reason: "login_disabled_by_user") }
        return user.isDisabledByAdmin ? FakeRefusal(reason: "login_disabled_by_admin") : nil
    }

    // MARK: Renewals

    private mutating func token(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        if let client = call.text("client_id"), client != "mobile" { return .oauth(401, "invalid_client") }
        switch call.text("grant_type") {
        case "authorization_code": return exchangeCode(call, at: now)
        case "refresh_token":
            guard let token = call.text("refresh_token") else { return .oauth(400, "invalid_request") }
            let answer = renew(token, call, at: now) { $0.oauth }
            return call.members["id_token"] == nil ? withIDToken(answer) : answer
        case "urn:ietf:params:oauth:grant-type:jwt-bearer":
            guard let assertion = call.text("assertion"), let claims = FakeCall.json(assertion, part: 1),
                let id = claims.text("iss")
            else { return FakeRefusal(reason: "invalid_assertion").oauth }
            guard let session = sessions[id] else { return FakeRefusal(reason: "unknown_session").oauth }
            guard session.deviceKey != nil else {
                return FakeRefusal(reason: ending(of: session, at: now) ?? "invalid_assertion").oauth
            }
            return renew(session, serial: nil, call, at: now) { $0.oauth }
        default: return .oauth(400, "unsupported_grant_type")
        }
    }

    private mutating func renew(
        _ token: String, _ call: FakeCall, at now: Int64, _ refuse: (FakeRefusal) -> HTTPAnswer
    ) -> HTTPAnswer {
        let parts = token.split(separator: "_")
        guard parts.count == 3, parts[0] == "sjr", let serial = Int(parts[2]) else {
            return refuse(FakeRefusal(reason: "malformed"))
        }
        guard let session = sessions[String(parts[1])] else { return refuse(FakeRefusal(reason: "unknown_session")) }
        return renew(session, serial: serial, call, at: now, refuse)
    }

    /// The checks in the order of the server, and then the table. No serial: the device key resumes.
    private mutating func renew(
        _ known: FakeSession, serial: Int?, _ call: FakeCall, at now: Int64, _ refuse: (FakeRefusal) -> HTTPAnswer
    ) -> HTTPAnswer {
        var session = known
        if isStale(call, at: now) { return Self.undecided }
        guard let user = users.values.first(where: { $0.id == session.userID }) else {
            return refuse(FakeRefusal(reason: session.ending ?? "user_deleted"))
        }
        if let ending = session.ending { return refuse(FakeRefusal(reason: ending)) }
        if (call.text("client_id") ?? session.clientID) != session.clientID
            || (session.key != nil && session.key != call.provenKey)
        {
            return refuse(FakeRefusal(reason: "binding_mismatch"))
        }
        if let device = call.text("device_id"), device != session.deviceID {
            return refuse(FakeRefusal(reason: "device_mismatch"))
        }
        let named = call.text("device_platform") ?? call.members["device"]?.members?.text("platform")
        let isMoved = appData == .refuse && !session.isConfirmed(by: named)
        if isMoved || (attestation == .refuse && session.attestation != "genuine") {
            return refuse(FakeRefusal(reason: "device_mismatch"))
        }
        if let refusal = loginRefusal(of: user) { return refuse(refusal) }
        if let ending = ending(of: session, at: now) {
            sessions[session.id]?.ending = ending
            return refuse(FakeRefusal(reason: ending))
        }
        let shown = evidence(in: call, of: user, session, at: now)
        if case .shown(let way) = shown { session.shownAt[way] = now }
        let keyNeedsUser =
            if case .shown("password") = shown { false } else { serial == nil && session.mode == "PASSWORD" }
        if secondFactorPolicy == .required, session.shownAt["mfa"] == nil {
            let asked = FakePresenceRequirement(ways: ["mfa"], maxAge: 300)
            return call.path == "/oauth/token" ? asked.oauth : asked.problem
        }
        let requirementOfMode = FakePresenceRequirement(ways: ["password", "id_token"], maxAge: refreshAfter)
        if let requirement = requirement(on: session, of: user, at: now) ?? (keyNeedsUser ? requirementOfMode : nil) {
            return call.path == "/oauth/token" ? requirement.oauth : requirement.problem
        }
        if let serial, let sentAt = sentAt(of: call), !decidesOvertaken, !decidesSleepers,
            session.hasRotated(since: sentAt * 1000, beyond: serial)
        {
            return Self.undecided
        }
        guard staysLoggedIn else {
            return .oauth(400, "unauthorized_client", reason: "unauthorized_client", reauthenticate: true)
        }
        var refusal: String?
        if let serial {
            refusal = session.rotate(
                serial: serial, requestKey: call.idempotencyKey, interval: interval * 1000, now: now)
        } else {
            session.moveAnswer(interval: interval * 1000, now: now)
        }
        if refusal == nil {
            session.noteRenewal(interval: interval * 1000, now: now)
            session.platform = named ?? session.platform
        }
        sessions[session.id] = session
        if let refusal { return refuse(FakeRefusal(reason: refusal)) }
        return granted(session, user, isLogin: false, at: now)
    }

    /// Whether the request slept on its way for longer than the half of W.
    private func isStale(_ call: FakeCall, at now: Int64) -> Bool {
        guard !decidesSleepers, let sentAt = sentAt(of: call) else { return false }
        let age = now / 1000 - sentAt
        return age > max(interval / 2, 2) || age < -30
    }

    /// When the request was sent, in Unix seconds, if it says so. Strict rotation does not look at it.
    private func sentAt(of call: FakeCall) -> Int64? {
        guard interval > 0 else { return nil }
        return call.text("sent_at").flatMap { Int64($0) } ?? call.members.integer("sent_at")
    }

    /// The answer to a request that was overtaken, or slept on its way.
    private static var undecided: HTTPAnswer {
        var answer = HTTPAnswer.oauth(503, "temporarily_unavailable", reason: "stale_request")
        answer.fields.append(HTTPMessageField("Retry-After", "0"))
        return answer
    }

    // MARK: Endings

    /// Why a session has ended, whether that is recorded or not.
    func ending(of session: FakeSession, at now: Int64) -> String? {
        if let ending = session.ending { return ending }
        if !users.values.contains(where: { $0.id == session.userID }) { return "user_deleted" }
        if now >= session.renewedAt + idle * 1000 { return "idle_expired" }
        return now >= session.startedAt + longest * 1000 ? "max_lifetime_reached" : nil
    }

    /// Ends the sessions for which `isMeant` is true. Returns how many there were.
    @discardableResult
    mutating func end(_ reason: String, at now: Int64, _ isMeant: (FakeSession) -> Bool) -> Int {
        var count = 0
        for session in sessions.values where ending(of: session, at: now) == nil && isMeant(session) {
            sessions[session.id]?.ending = reason
            count += 1
        }
        return count
    }

    private mutating func logOut(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let token = call.text("refresh_token") ?? call.authorization?.token else {
            return .problem(401, "unauthenticated")
        }
        let parts = token.split(separator: "_")
        guard parts.count > 2, let session = sessions[String(parts[1])] else {
            return .problem(401, "malformed", reauthenticate: true)
        }
        if session.key != nil, session.key != call.provenKey {
            return .problem(401, "binding_mismatch", reauthenticate: false)
        }
        end("logged_out", at: now) { $0.id == session.id }
        return HTTPAnswer(status: 204)
    }

    // MARK: Tokens

    /// How long an access token is valid, in seconds.
    private var tokenLifetime: Int64 { min(accessTokenLifetime ?? (staysLoggedIn ? idle : 3600), idle) }

    /// The longest life of a session, in seconds: that of its one access token where users do not stay logged in.
    private var longest: Int64 { staysLoggedIn ? maximum : min(maximum, tokenLifetime) }

    /// The answer with tokens.
    func granted(
        _ session: FakeSession, _ user: FakeServer.User, isLogin: Bool = true, at now: Int64
    ) -> HTTPAnswer {
        let idleEnd = (session.renewedAt + idle * 1000) / 1000
        let finalEnd = (session.startedAt + longest * 1000) / 1000
        let issuedAt = now / 1000
        let expiresAt = min(issuedAt + tokenLifetime, idleEnd, finalEnd)
        let standing = session.scope.filter(scope.contains).joined(separator: " ")
        var members: [String: JSONValue] =
            [
                "access_token": .string("sja_\(session.id)_\(issuedAt)_\(expiresAt)"),
                "token_type": .string(session.key == nil ? "Bearer" : "DPoP"),
                "expires_in": .integer(expiresAt - issuedAt), "issued_at": .integer(issuedAt),
                "expires_at": .integer(expiresAt),
                "refresh_after": .integer(issuedAt + min(refreshAfter, tokenLifetime)),
                "session_id": .string(session.id),
                "device_id": .string(session.deviceID), "session_idle_expires_at": .integer(idleEnd),
                "session_expires_at": .integer(finalEnd), "authentication_mode": .string(session.mode),
                "rotation_interval": .integer(interval), "user": .object(profile(user, in: session)),
            ]
        if !standing.isEmpty { members["scope"] = .string(standing) }
        if staysLoggedIn { members["refresh_token"] = .string("sjr_\(session.id)_\(session.child)") }
        if isLogin { members["renewal"] = .array(staysLoggedIn ? [.string("refresh_token")] : []) }
        return .json(200, members)
    }

    /// The user as far as the scope of the session discloses it.
    func profile(_ user: FakeServer.User, in session: FakeSession) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["user_id": .string(user.id)]
        if user.isAnonymous {
            members["anonymous"] = .bool(true)
        } else if has("account", session) || has("profile", session) {
            members["username"] = .string(user.username)
        }
        if let email = user.email, has("account", session) || has("email", session) {
            members["email"] = .string(email)
            members["email_verified"] = .bool(true)
        }
        if has("account", session) { members.merge(user.profile.filter { $0.key != "language" }) { $1 } }
        return members
    }
}
