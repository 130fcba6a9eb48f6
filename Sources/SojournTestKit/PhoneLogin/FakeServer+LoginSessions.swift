public import Foundation
public import SojournClient

/// The device that wants to be logged in.
extension FakeServer {
    /// Requests a login, as a browser or another device does.
    public func requestLogin(_ request: TestLoginRequest = TestLoginRequest()) async throws -> TestLogin {
        let now = now
        return state.withLock { state in
            state.world.loginCount += 1
            let number = state.world.loginCount
            let id = "login\(number)"
            var login = FakeLogin(id: id, startedAt: now, inputUntil: now + FakeLogin.inputSeconds * 1000)
            login.request = request
            login.knownUsers = state.world.users(knowing: request.device, at: now)
            state.world.phoneLogins[id] = login
            func code(_ kind: Character) -> String {
                let digits = String(number).map { FakeLogin.letters[$0.wholeNumberValue ?? 0] }
                let filler = Array(repeating: FakeLogin.letters[0], count: 24 - digits.count)
                // The last character of 16 bytes has three bits alone.
                return "HTTPS://SOJOURN.TEST/L/" + String([kind] + filler + digits + [FakeLogin.letters[0]])
            }
            let push = JSONValue.object(["login": .string(code("P"))]).bytes
            return TestLogin(
                id: id, picture: code("S"), link: code("L"), secret: "secret-\(id)", push: Data(push))
        }
    }

    /// The number that the device shows; nil while it shows the picture, or if none is needed.
    public func number(of login: TestLogin) async throws -> Int? {
        state.withLock { $0.world.phoneLogins[login.id]?.number }
    }

    /// Lets the device come for its session. Returns the answer with its tokens, for `Sojourn.adopt`; nil: the user has not let it
    /// in, or it has come before.
    ///
    /// - Parameter returnURL: what the app on the phone has opened (`LoginDetails.returnURL`). A login by a link takes it.
    @discardableResult
    public func collect(
        _ login: TestLogin, device: String = "desktop", returnURL: URL? = nil
    ) async throws -> Data? {
        let now = now
        return state.withLock {
            $0.world.collectLogin(login.id, device: device, returnURL: returnURL?.absoluteString, at: now)
        }
    }

    /// Makes the device one that the user's phone has let in before.
    public func letIn(_ device: String, by username: String) async throws {
        try change("POST /admin/v1/test/logins", username) { world, user in
            world.letIn[device, default: []].append((userID: user.id, sessionID: nil))
        }
    }

    /// Lets the device give up.
    public func cancel(_ login: TestLogin) async throws {
        let now = now
        state.withLock { state in
            state.world.expireLogin(login.id, at: now)
            guard let known = state.world.phoneLogins[login.id], !known.status.isFinal, !known.isLoggedIn else {
                return
            }
            state.world.phoneLogins[login.id]?.end(.done, .aborted, "canceled", now)
        }
    }

    /// Exchanges what an AppLogin has brought, once, as a web browser does. Returns the answer with its tokens; nil: it is not good.
    public func exchange(webNonce: String, device: String = "web") async throws -> Data? {
        let now = now
        return state.withLock { state in
            guard let id = state.world.phoneLogins.values.first(where: { $0.webNonce == webNonce })?.id else {
                return nil
            }
            return state.world.collectLogin(id, device: device, at: now)
        }
    }

    /// How a login stands at the server; nil if there is none.
    public func status(of login: TestLogin) -> LoginStatus? {
        state.withLock { $0.world.phoneLogins[login.id]?.status }
    }
}

/// The calls of phones.
extension FakeServer.World {
    /// The answer to a call about logins with a phone; nil if it is another call.
    mutating func loginCall(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer? {
        let path = "/v1/me/logins"
        switch (call.method, call.path) {
        case ("POST", "/v1/me/app-login"): return appLogin(call, session, user, at: now)
        case ("GET", path): return listLogins(call, user, at: now)
        case ("POST", path): return claimLogin(call, session, at: now)
        case ("POST", path + "/ping"): return pingLogins(session, at: now)
        case (_, let other) where other.hasPrefix(path + "/"):
            let parts = other.dropFirst(path.count + 1).split(separator: "/").map(String.init)
            guard let id = parts.first, parts.count <= 2 else { return .problem(404, "not_found") }
            expireLogin(id, at: now)
            guard let login = phoneLogins[id],
                login.claim?.sessionID == session.id || login.userID == user.id || login.claim?.userID == user.id
            else { return .problem(404, "not_found") }
            if call.method == "GET" { return parts.count == 1 ? .json(200, members(login)) : nil }
            return act(parts.count == 2 ? parts[1] : "", on: id, call, session, user, at: now)
        default: return nil
        }
    }

    /// Ends what time, or the end of the phone's session or of the device's, has ended.
    mutating func expireLogin(_ id: String, at now: Int64) {
        guard let login = phoneLogins[id] else { return }
        var isAlive = true
        if let phone = login.claim.flatMap({ sessions[$0.sessionID] }) {
            let ending = ending(of: phone, at: now)
            isAlive = ending == nil
            if ending == "user_deleted", login.userID == phone.userID {
                phoneLogins[id]?.status.history = .deleted
                if !login.status.isFinal { phoneLogins[id]?.end(.done, .deleted, "user_deleted", now) }
                return
            }
        }
        if login.isLoggedIn, let device = login.startedID.flatMap({ sessions[$0] }),
            let ending = ending(of: device, at: now)
        {
            phoneLogins[id]?.end(.done, .loggedOut, ending, now)
        }
        phoneLogins[id]?.expire(at: now, isPhoneAlive: isAlive)
        endDevice(of: id, at: now)
    }

    /// Ends the session of a login with a bond that is over.
    private mutating func endDevice(of id: String, at now: Int64) {
        guard let login = phoneLogins[id], login.status.history == .loggedOut, let startedID = login.startedID else {
            return
        }
        end(login.status.cause == "presence_lost" ? "presence_lost" : "parent_ended", at: now) { $0.id == startedID }
    }

    /// Starts the session of the device; nil if the user has not let it in.
    mutating func collectLogin(
        _ id: String, device: String, returnURL: String? = nil, at now: Int64
    ) -> Data? {
        expireLogin(id, at: now)
        guard refusal(ofMethod: "phone") == nil, var login = phoneLogins[id], login.collect(returnURL, at: now),
            let user = users.values.first(where: { $0.id == login.userID })
        else { return nil }
        let answer = begin(user, device: device, FakeCall.none, at: now)
        login.startedID = JSONValue(parsing: answer.body)?.members?.text("session_id")
        if let device = login.request.device { letIn[device, default: []].append((user.id, login.startedID)) }
        phoneLogins[id] = login
        return Data(answer.body)
    }

    /// Makes every device unknown that a user has let in before; nil: those of all users.
    mutating func forgetDevices(of userID: String?) {
        letIn = letIn.mapValues { entries in entries.filter { userID != nil && $0.userID != userID } }
    }

    /// The users that let that device in by phone, unless the end of its session says that it may be another person's.
    func users(knowing device: String?, at now: Int64) -> Set<String> {
        let ends = ["logged_out", "replaced", "idle_expired", "max_lifetime_reached", "parent_ended", "presence_lost"]
        var known: Set<String> = []
        // The newest session of each user decides.
        for (userID, sessionID) in device.flatMap({ letIn[$0] }) ?? [] {
            let reason = sessionID.flatMap { sessions[$0] }.flatMap { ending(of: $0, at: now) }
            if reason.map(ends.contains) ?? true { known.insert(userID) } else { known.remove(userID) }
        }
        return known
    }

    /// Whether the phone's mode, or the time since the last proof of presence, demands a second factor.
    private func isPresenceDue(_ session: FakeSession, at now: Int64) -> Bool {
        guard let user = users.values.first(where: { $0.id == session.userID }) else { return true }
        if requirement(on: session, of: user, at: now) != nil { return true }
        let last = max(session.shownAt.values.max() ?? session.startedAt, session.startedAt)
        return presenceMaxAge.map { $0 > 0 && now - last >= $0 * 1000 } ?? false
    }

    private mutating func claimLogin(_ call: FakeCall, _ session: FakeSession, at now: Int64) -> HTTPAnswer {
        let ways = ["S": ("qr", "scanned"), "L": ("deep_link", "linked"), "P": ("push", "pushed")]
        let text = call.text("code")?.split(separator: "/").last ?? ""
        let number = text.dropFirst().dropLast().drop { $0 == FakeLogin.letters[0] }
            .compactMap { FakeLogin.letters.firstIndex(of: $0) }.reduce(0) { $0 * 10 + $1 }
        guard text.count == 26, let way = ways[String(text.prefix(1))], way.0 == call.text("source"),
            let id = phoneLogins["login\(number)"]?.id
        else { return .problem(404, "not_found") }
        expireLogin(id, at: now)
        var claim = FakeLogin.Claim(
            sessionID: session.id, userID: session.userID, clientID: session.clientID, deviceID: session.deviceID,
            arrival: way.1)
        claim.startsByHand = call.members["manual_start"]?.bool ?? false
        claim.skipsConfirmation = call.members["skip_confirmation"]?.bool ?? false
        claim.demandsSecondFactor = call.members["second_factor"]?.bool ?? false
        claim.isPresenceDue = isPresenceDue(session, at: now)
        return decide(id, call, session, at: now) { login throws(FakeLogin.Refused) in
            try login.claim(claim, number: 42, at: now)
        }
    }

    private mutating func appLogin(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer {
        let id: String
        if let known = call.text("login_id") {
            guard phoneLogins[known]?.claim?.sessionID == session.id else { return .problem(404, "not_found") }
            id = known
            expireLogin(id, at: now)
            let answer = act("second-factor", on: id, call, session, user, at: now)
            guard answer.status == 200 else { return answer }
        } else {
            guard call.text("client_id") != nil else { return .problem(400, "invalid_request") }
            if let refusal = refusal(ofMethod: "phone") { return refusal }
            loginCount += 1
            id = "login\(loginCount)"
            var login = FakeLogin(
                id: id, kind: "app", startedAt: now, inputUntil: now + FakeLogin.inputSeconds * 1000)
            login.claim = FakeLogin.Claim(
                sessionID: session.id, userID: session.userID, clientID: session.clientID, deviceID: session.deviceID,
                arrival: "in_app")
            login.open(0)
            phoneLogins[id] = login
        }
        guard let login = phoneLogins[id] else { return .problem(404, "not_found") }
        var answer: [String: JSONValue] = ["login": .object(members(login))]
        if login.status == LoginStatus(.active), let nonce = login.webNonce {
            answer["web_nonce"] = .string(nonce)
            answer["url"] = .string("https://sojourn.test/login/app#" + nonce)
            answer["expires_in"] = .integer(FakeLogin.nonceSeconds)
        }
        return .json(200, answer)
    }

    private mutating func listLogins(_ call: FakeCall, _ user: FakeServer.User, at now: Int64) -> HTTPAnswer {
        for id in phoneLogins.keys { expireLogin(id, at: now) }
        let isWithHistory = call.text("history") == "true"
        let items = phoneLogins.values
            .filter { $0.userID == user.id || $0.claim?.userID == user.id }
            .filter { isWithHistory || !$0.status.isFinal }
            .sorted { ($0.startedAt, $0.id.count, $0.id) > ($1.startedAt, $1.id.count, $1.id) }
        let start = call.text("cursor").flatMap { Int($0) } ?? 0
        let end = min(start + (call.text("limit").flatMap { Int($0) } ?? 50), items.count)
        var answer: [String: JSONValue] = [
            "items": .array(items[min(start, end)..<end].map { .object(members($0)) })
        ]
        if isWithHistory, end < items.count { answer["next_cursor"] = .string(String(end)) }
        return .json(200, answer)
    }

    private mutating func pingLogins(_ session: FakeSession, at now: Int64) -> HTTPAnswer {
        var count: Int64 = 0
        for id in phoneLogins.keys {
            expireLogin(id, at: now)
            guard let login = phoneLogins[id], login.isLoggedIn, case .ping = login.request.bond,
                login.claim?.sessionID == session.id
            else { continue }
            phoneLogins[id]?.answeredAt = now
            count += 1
        }
        return .json(200, ["kept": .integer(count)])
    }

    private mutating func act(
        _ name: String, on id: String, _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer {
        let typed = call.members.integer("number").map { Int(clamping: $0) }
        if call.members["pin"] != nil {
            guard name == "second-factor", let mac = call.mac("pin"), call.presenceProofs.isEmpty else {
                return .problem(400, "invalid_request")
            }
            return proveByPIN(mac, number: typed, on: id, call, session, at: now)
        }
        let isValid: Bool
        var signed: Int?
        if let text = call.text("user_assertion") {
            let claims = FakeCall.json(text, part: 1)
            isValid = claims?.text("login") == id && isGood(text, session, at: now)
            signed = claims?.integer("number").map { Int(clamping: $0) }
        } else {
            isValid = call.text("password").map { $0 == user.password } ?? false
            signed = typed
        }
        let way = call.text("user_assertion") == nil ? "password" : "presence"
        var isDecided = false
        let answer = decide(id, call, session, isOwn: name != "adopt", at: now) { login throws(FakeLogin.Refused) in
            isDecided = true
            switch name {
            case "start": login.open(42)
            case "confirm": try login.confirm(typed, at: now)
            case "second-factor": try login.prove(isValid: isValid, number: signed, at: now)
            case "stop": login.stop(at: now)
            case "adopt":
                guard login.isLoggedIn, login.userID == user.id else { throw FakeLogin.Refused("not_awaited") }
                guard isValid else { throw FakeLogin.Refused("wrong_second_factor", left: 0) }
                login.claim?.sessionID = session.id
                login.answeredAt = now
            default: throw FakeLogin.Refused("not_found")
            }
        }
        if isDecided, isValid, ["second-factor", "adopt"].contains(name), answer.status == 200 {
            sessions[session.id]?.shownAt[way] = now
            if name == "second-factor" { sessions[session.id]?.pin?.wrongCount = 0 }
        }
        return answer
    }

    /// Decides a second factor by the PIN of the phone's session, which proves no presence.
    private mutating func proveByPIN(
        _ mac: String, number: Int?, on id: String, _ call: FakeCall, _ session: FakeSession, at now: Int64
    ) -> HTTPAnswer {
        var (pin, isDecided) = (session.pin, false)
        let answer = decide(id, call, session, isOwn: true, at: now) { login throws(FakeLogin.Refused) in
            isDecided = true
            try login.prove(
                isValid: false, number: number,
                pin: {
                    let refused = pin?.refusal(of: mac)
                    return pin == nil ? FakeLogin.Refused("pin_not_set") : refused
                }, at: now)
        }
        if isDecided, answer.status == 200 { pin?.wrongCount = 0 }
        sessions[session.id]?.pin = pin
        return answer
    }

    /// Decides an act once for each `Idempotency-Key`.
    private mutating func decide(
        _ id: String, _ call: FakeCall, _ session: FakeSession, isOwn: Bool = false, at now: Int64,
        _ body: (inout FakeLogin) throws(FakeLogin.Refused) -> Void
    ) -> HTTPAnswer {
        guard var login = phoneLogins[id] else { return .problem(404, "not_found") }
        let key = call.idempotencyKey.map { "\(call.path) \(session.id) \($0)" }
        var result = key.flatMap { login.answered[$0] }
        if result == nil {
            do throws(FakeLogin.Refused) {
                if login.status.isFinal {
                    guard undo(login, call, session, at: now) else { throw FakeLogin.Refused("session_terminated") }
                } else {
                    if isOwn, login.claim?.sessionID != session.id { throw FakeLogin.Refused("not_claimant") }
                    if isOwn { login.claim?.isPresenceDue = isPresenceDue(session, at: now) }
                    try body(&login)
                }
                result = ("", nil)
            } catch { result = (error.word, error.left) }
            if let key { login.answered[key] = result }
            phoneLogins[id] = login
            endDevice(of: id, at: now)
        }
        guard let result, !result.word.isEmpty else { return .json(200, members(login)) }
        return FakeLogin.Refused(result.word, left: result.left).answer
    }

    /// Ends the session of a login without a bond, if the user says that it was another person. The login stays as it is.
    private mutating func undo(_ login: FakeLogin, _ call: FakeCall, _ session: FakeSession, at now: Int64) -> Bool {
        guard call.path.hasSuffix("/stop"), call.members["not_me"] == .bool(true),
            login.status.history == .loggedInOneShot, login.claim?.sessionID == session.id,
            let startedID = login.startedID, let device = sessions[startedID], ending(of: device, at: now) == nil
        else { return false }
        end("not_me", at: now) { $0.id == startedID }
        return true
    }

    /// A login as the phone sees it.
    private func members(_ login: FakeLogin) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "login_id": .string(login.id), "kind": .string(login.kind),
            "client": .object(["client_id": .string("mobile")]), "phase": .string(login.status.phase),
            "state": .string(login.status.state.rawValue), "history": .string(login.status.history.rawValue),
            "is_registration": .bool(login.request.isEnrolment), "is_app_login": .bool(login.kind == "app"),
            "number_required": .bool(login.needsNumber && login.status.awaitsInput),
            "browser_known": .bool(login.isDeviceKnown), "version": .string(login.version),
            "attempts_left": .integer(Int64(FakeLogin.factorAttempts - login.wrongFactors)),
            "started_at": .integer(login.startedAt / 1000),
        ]
        members.set("input", login.status.input?.rawValue)
        members.set("cause", login.status.cause)
        members.set("expires_at", login.status.awaitsInput ? login.inputUntil / 1000 : nil)
        members.set("user_id", login.userID)
        members.set("return_url", login.returnURL)
        members.set("ended_at", login.endedAt.map { $0 / 1000 })
        if case .ping(let seconds) = login.request.bond { members["ping_seconds"] = .integer(seconds) }
        members["announce_info"] = login.request.announceInfo.flatMap { JSONValue(parsing: Array($0.utf8)) }
        members.set("announce_quote", login.request.announceQuote)
        if [.loggedIn, .loggedInOneShot].contains(login.status.history) {
            members.set("session_quote", login.request.sessionQuote)
            members["session_info"] = login.request.sessionInfo.flatMap { JSONValue(parsing: Array($0.utf8)) }
        }
        return members
    }
}
