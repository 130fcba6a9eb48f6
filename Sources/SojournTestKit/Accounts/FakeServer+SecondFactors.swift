import SojournClient

// Second factors: authenticator apps, recovery codes, and logins in two steps.
extension FakeServer {
    /// The code that an authenticator app with that secret shows now. It is not the code of RFC 6238, and changes as often.
    public func code(ofAuthenticator secret: String) -> String {
        World.code(of: secret, step: World.step(at: now))
    }
}

extension FakeServer.World {
    /// The time step of a moment (milliseconds): half a minute.
    static func step(at now: Int64) -> Int64 { now / 30_000 }

    /// The code of a time step: six digits.
    static func code(of secret: String, step: Int64) -> String {
        let tag = SmallCrypto.hmacSHA256(key: Array(secret.utf8), message: Array("\(step)".utf8))
        let number = tag.prefix(4).reduce(0) { $0 << 8 | Int($1) } % 1_000_000
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    private func confirmed(of user: FakeServer.User) -> [FakeAuthenticator] {
        authenticators.values.filter { $0.userID == user.id && $0.confirmedAt != nil }.sorted {
            ($0.createdAt, $0.id) < ($1.createdAt, $1.id)
        }
    }

    /// Whether the user has a second factor.
    func hasFactor(_ user: FakeServer.User) -> Bool { !confirmed(of: user).isEmpty }

    /// Whether a code that was taken is that of an authenticator app: a recovery code only stands in for one.
    func isFactor(_ code: String, of user: FakeServer.User) -> Bool {
        secondFactorPolicy != .off && hasFactor(user) && recoveryCodes[user.id]?[Self.typed(code)] == nil
    }

    /// A code without what people type between its signs.
    private static func typed(_ code: String) -> String { code.filter { $0 != " " && $0 != "-" }.uppercased() }

    // MARK: Codes

    /// Looks at a code of an authenticator app, or at a recovery code. A code counts once, a wrong one for the user: after ten
    /// in a row the next one waits, and after fifty none is taken. Nil: it is right.
    ///
    /// - Parameter only: the authenticator that is being added; nil: all that the user has.
    mutating func refusal(
        ofCode code: String, _ user: FakeServer.User, confirming only: FakeAuthenticator? = nil, at now: Int64
    ) -> HTTPAnswer? {
        let typed = Self.typed(code)
        if only == nil, let used = recoveryCodes[user.id]?[typed] {
            guard !used else { return .problem(401, "wrong_second_factor", reauthenticate: false) }
            recoveryCodes[user.id]?[typed] = true
            wrongFactors[user.id] = nil
            return nil
        }
        let wrong = wrongFactors[user.id] ?? (count: 0, at: 0)
        if wrong.count >= 50 { return .problem(403, "second_factor_blocked") }
        if wrong.count > 0, wrong.count.isMultiple(of: 10), now < wrong.at + 900_000 {
            var answer = HTTPAnswer.problem(429, "too_many_requests")
            answer.fields.append(HTTPMessageField("Retry-After", "\((wrong.at + 900_000 - now + 999) / 1000)"))
            return answer
        }
        let step = Self.step(at: now)
        for known in only.map({ [$0] }) ?? confirmed(of: user) {
            for candidate in [step + 1, step, step - 1]
            where candidate > known.lastStep && Self.code(of: known.secret, step: candidate) == typed {
                authenticators[known.id]?.lastStep = candidate
                authenticators[known.id]?.lastUsedAt = now
                wrongFactors[user.id] = nil
                return nil
            }
        }
        wrongFactors[user.id] = (wrong.count + 1, now)
        let differs = confirmed(of: user).contains { known in
            (step - 20...step + 20).contains { Self.code(of: known.secret, step: $0) == typed && $0 > known.lastStep }
        }
        return .problem(
            401, "wrong_second_factor", reauthenticate: false, more: differs ? ["clock_differs": .bool(true)] : [:])
    }

    // MARK: Logins

    /// Whether a login by `first` still lacks its second factor: the answer that asks for it, or refuses a wrong code. Nil: it
    /// begins a session.
    mutating func secondFactorRefusal(
        _ call: FakeCall, _ user: FakeServer.User, device: String, first: String, at now: Int64
    ) -> HTTPAnswer? {
        let hasPasskey = passkeys.values.contains { $0.userID == user.id }
        let isDemanded = [.requiredAtLogin, .required].contains(secondFactorPolicy)
        guard secondFactorPolicy != .off, hasFactor(user) || isDemanded else { return nil }
        if let code = call.text("code"), first != "email" {
            guard !hasFactor(user), !hasPasskey else { return refusal(ofCode: code, user, at: now) }
            return refusal(enrollingBy: code, user, at: now)
        }
        let hasCodes = recoveryCodes[user.id]?.values.contains(false) ?? false
        let methods =
            (hasFactor(user) ? ["totp"] : []) + (hasPasskey ? ["passkey"] : [])
            + (hasFactor(user) && hasCodes ? ["recovery_code"] : [])
        var members: [String: JSONValue] = ["methods": .array(methods.map { .string($0) })]
        if methods.isEmpty { members["enrols"] = .bool(true) }
        if first == "password" {
            challengeCount += 1
            let token = "sjl_\(challengeCount)"
            firstSteps[token] = FakeFirstStep(
                userID: user.id, password: user.password, device: device, first: first, expiresAt: now + 300_000)
            members["login_token"] = .string(token)
        }
        return .problem(401, "second_factor_required", reauthenticate: false, more: members)
    }

    /// Confirms the authenticator app that a login has added. Nil: the code is right.
    private mutating func refusal(enrollingBy code: String, _ user: FakeServer.User, at now: Int64) -> HTTPAnswer? {
        let added = authenticators.values.filter { known in
            known.userID == user.id && known.confirmedAt == nil
                && now < known.createdAt + FakeAuthenticator.confirmationLifetime
        }
        guard let latest = added.max(by: { $0.createdAt < $1.createdAt }) else {
            return .problem(401, "wrong_second_factor", reauthenticate: false)
        }
        if let refusal = refusal(ofCode: code, user, confirming: latest, at: now) { return refusal }
        authenticators[latest.id]?.confirmedAt = now
        return nil
    }

    /// `POST /v1/login/totp`: adds an authenticator app to a login of a user without second factor.
    mutating func addAuthenticatorAtLogin(_ call: FakeCall, at now: Int64) -> HTTPAnswer {
        guard let device = call.members["device"]?.members?.text("id"),
            let step = firstStep(call.text("login_token") ?? "", device: device, at: now)
        else { return .problem(400, "invalid_request", more: ["member": .string("login_token")]) }
        guard !hasFactor(step.user) else { return .problem(409, "second_factor_exists") }
        return addAuthenticator(call, step.user, isAtLogin: true, at: now)
    }

    /// The second step of a login: the user and the way of the first one, or the refusal.
    func firstStep(
        _ token: String, device: String, at now: Int64
    ) -> (user: FakeServer.User, first: String)? {
        guard let step = firstSteps[token], step.device == device, now < step.expiresAt,
            let user = users.values.first(where: { $0.id == step.userID }), user.password == step.password
        else { return nil }
        return (user, step.first)
    }

    /// Notes that the session was shown two factors.
    mutating func noteFactors(_ id: String?, at now: Int64) {
        if let id { sessions[id]?.shownAt["mfa"] = now }
    }

    // MARK: Guards

    /// The refusal of a change that guards the account: the user has to have been there in the last five minutes, with a second
    /// factor if there is one.
    mutating func guardRefusal(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer? {
        var shown = session
        switch evidence(in: call, of: user, session, at: now) {
        case .wrongPassword: return .problem(401, "invalid_credentials")
        case .shown(let way):
            shown.shownAt[way] = now
            sessions[session.id] = shown
        case .none: break
        }
        if hasFactor(user) {
            let last = shown.shownAt["mfa"] ?? 0
            return now - last < 300_000 ? nil : FakePresenceRequirement(ways: ["mfa"], maxAge: 300).problem
        }
        let last = max(shown.startedAt, shown.shownAt.values.max() ?? 0)
        return now - last < 300_000
            ? nil : asked(["presence", "password", "id_token"], 300, shown, user).problem
    }

    /// `POST /v1/me/presence` with a code, or with code and password.
    mutating func showFactors(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer? {
        guard let code = call.text("code") else { return nil }
        if let password = call.text("password"), password != user.password {
            return .problem(401, "invalid_credentials")
        }
        if let refusal = refusal(ofCode: code, user, at: now) { return refusal }
        if call.text("password") != nil { sessions[session.id]?.shownAt["password"] = now }
        let password = sessions[session.id]?.shownAt["password"] ?? session.startedAt
        if now - password < 300_000 { noteFactors(session.id, at: now) }
        return nil
    }

    // MARK: Factors

    /// The answer to a call about second factors; nil for another path.
    mutating func factorCall(
        _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer? {
        let parts = call.path.split(separator: "/").dropFirst(2).map(String.init)
        switch (call.method, parts.first, parts.count) {
        case ("GET", "totp"?, 1): return listFactors(of: user)
        case ("POST", "totp"?, 1):
            if let refusal = guardRefusal(call, session, user, at: now) { return refusal }
            return addAuthenticator(call, user, at: now)
        case ("POST", "totp"?, 3) where parts[2] == "confirm":
            return confirmAuthenticator(parts[1], call, session, user, at: now)
        case ("DELETE", "totp"?, 2):
            if let refusal = guardRefusal(call, session, user, at: now) { return refusal }
            guard authenticators[parts[1]]?.userID == user.id else { return .problem(404, "not_found") }
            authenticators[parts[1]] = nil
            if !hasFactor(user) { recoveryCodes[user.id] = nil }
            return HTTPAnswer(status: 204)
        case ("POST", "recovery-codes"?, 1):
            if let refusal = guardRefusal(call, session, user, at: now) { return refusal }
            guard hasFactor(user) else { return .problem(409, "second_factor_missing") }
            return .json(201, ["recovery_codes": makeRecoveryCodes(of: user)])
        default: return nil
        }
    }

    private func listFactors(of user: FakeServer.User) -> HTTPAnswer {
        let items = confirmed(of: user).map { known in
            var members: [String: JSONValue] = [
                "id": .string(known.id), "name": .string(known.name), "created_at": .integer(known.createdAt / 1000),
            ]
            members.set("last_used_at", known.lastUsedAt.map { $0 / 1000 })
            return JSONValue.object(members)
        }
        let left = recoveryCodes[user.id]?.values.count { !$0 } ?? 0
        let isBlocked = wrongFactors[user.id]?.count ?? 0 >= 50
        return .json(
            200,
            ["items": .array(items), "recovery_codes_left": .integer(Int64(left)), "blocked": .bool(isBlocked)])
    }

    private mutating func addAuthenticator(
        _ call: FakeCall, _ user: FakeServer.User, isAtLogin: Bool = false, at now: Int64
    ) -> HTTPAnswer {
        guard let name = call.text("name") else { return .problem(400, "invalid_request") }
        // A factor of an account with an unproven mailbox would lock the owner of the mailbox out.
        guard isAtLogin || user.email != nil || passkeys.values.contains(where: { $0.userID == user.id }) else {
            return .problem(409, "email_needs_proof")
        }
        guard confirmed(of: user).count < 5 else { return .problem(409, "too_many_factors") }
        challengeCount += 1
        let id = "totp\(challengeCount)"
        let secret = Self.secret(challengeCount)
        authenticators[id] = FakeAuthenticator(
            id: id, userID: user.id, name: name, secret: secret, createdAt: now)
        let uri = "otpauth://totp/Sojourn:\(user.username)?secret=\(secret)&issuer=Sojourn"
        return .json(
            201, ["id": .string(id), "secret": .string(secret), "uri": .string(uri), "svg": .string("<svg/>")])
    }

    private mutating func confirmAuthenticator(
        _ id: String, _ call: FakeCall, _ session: FakeSession, _ user: FakeServer.User, at now: Int64
    ) -> HTTPAnswer {
        guard let known = authenticators[id], known.userID == user.id else { return .problem(404, "not_found") }
        guard known.confirmedAt == nil, now < known.createdAt + FakeAuthenticator.confirmationLifetime else {
            return .problem(401, "wrong_second_factor", reauthenticate: false)
        }
        let isFirst = !hasFactor(user)
        if let refusal = refusal(ofCode: call.text("code") ?? "", user, confirming: known, at: now) { return refusal }
        authenticators[id]?.confirmedAt = now
        noteFactors(session.id, at: now)
        let members: [String: JSONValue] = isFirst ? ["recovery_codes": makeRecoveryCodes(of: user)] : [:]
        return .json(200, members)
    }

    private mutating func makeRecoveryCodes(of user: FakeServer.User) -> JSONValue {
        challengeCount += 1
        let codes = (0..<8).map { Self.secret(challengeCount * 8 + $0).prefix(24) }
        recoveryCodes[user.id] = Dictionary(uniqueKeysWithValues: codes.map { (String($0), false) })
        return .array(
            codes.map { code in
                let groups = stride(from: 0, to: 24, by: 4).map { String(code.dropFirst($0).prefix(4)) }
                return .string(groups.joined(separator: "-"))
            })
    }

    /// A secret in Base32: 32 signs.
    private static func secret(_ number: Int) -> String {
        let signs = Array("ABCDEFGHJKMNPQRSTVWXYZ234567AEHQ")
        return String(SmallCrypto.sha256(Array("secret \(number)".utf8)).map { signs[Int($0) % 32] })
    }
}

/// The first step of a login that waits for its second factor.
struct FakeFirstStep {
    var userID: String
    var password: String?
    var device: String
    var first: String
    var expiresAt: Int64
}
