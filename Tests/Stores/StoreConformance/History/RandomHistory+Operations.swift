import Sessions

/// The operations, each done to the real domain and to the model.
extension RandomHistory {
    mutating func login() async throws {
        guard let user = model.users.indices.randomElement(using: &random), let client = pick(Self.clientIDs),
            let device = pick(Self.devices)
        else { return }
        var request = SessionRequest(clientID: client, device: Device(id: device))
        request.authenticationMode = pick([.no, .no, .no, .biometric, .password]) ?? .no
        let isWrong = Int.random(in: 0..<12, using: &random) == 0
        let password = isWrong ? "wrong password" : "three odd words \(model.users[user].password)"
        let answer = await attempt { () async throws(ServiceError) in
            try await services.login.logIn(request, username: "USER-\(user)", password: password, from: Self.origin)
        }
        if isWrong { return try expect(answer.failure, .invalidCredentials, "wrong password") }
        let expected = model.login(
            user: user, client: client, device: device, mode: request.authenticationMode, now: now)
        try expect(answer.failure, expected.map(ServiceError.loginRefused), "login")
        guard case .success(let grant) = answer else { return }
        sessionIDs.append(grant.session.id)
        try take(grant, session: sessionIDs.count - 1, serial: 1)
    }

    mutating func refresh() async throws {
        // Mostly the newest tokens, sometimes any.
        let recent = Int.random(in: 0..<4, using: &random) > 0 ? Array(refreshTokens.suffix(8)) : refreshTokens
        guard let token = pick(recent) else { return }
        let key = pick([nil, nil, "key-a", "key-b"] as [String?]) ?? nil
        let device = pick([nil, nil, nil, nil, nil, "phone"] as [String?]) ?? nil
        let session = model.sessions[token.session]
        let client = Int.random(in: 0..<40, using: &random) == 0 ? "tablet" : session.client
        let expected = model.refresh(
            token.session, serial: token.serial, key: key, device: device, client: client, now: now)
        let request = RefreshAttempt(token: token.text, clientID: client, deviceID: device, idempotencyKey: key)
        let answer = await attempt { () async throws(ServiceError) in
            try await services.refresh.refresh(request, from: Self.origin)
        }
        switch answer {
        case .success(let grant):
            try expect(SessionModel.Answer.issued(grant.session.child), expected, "refresh of serial \(token.serial)")
            try take(grant, session: token.session, serial: grant.session.child)
        case .failure(.refused(let reason)):
            try expect(SessionModel.Answer.refused(reason), expected, "refresh of serial \(token.serial)")
        case .failure(.insufficientUserAuthentication(let demand)):
            try expect(SessionModel.Answer.absent(.init(demand)), expected, "refresh of serial \(token.serial)")
        case .failure(let error): throw error
        }
    }

    /// A user changes how the app guards its session, or only types the password.
    mutating func changeMode() async throws {
        guard let index = accessTokenIssuer.indices.suffix(8).randomElement(using: &random) else { return }
        let mode = pick([.no, .biometric, .password, nil] as [AuthenticationMode?]) ?? nil
        let withPassword = mode == nil || Bool.random(using: &random)
        let session = model.tokens[index].session
        let password = "three odd words \(model.users[model.sessions[session].user].password)"
        let evidence = PresenceEvidence(password: withPassword ? password : nil)
        var expected = model.authenticate(index, asksForUser: false, now: now)
        if expected == nil {
            let demand = model.change(
                session, to: mode ?? model.sessions[session].mode, withPassword: withPassword, now: now)
            expected = demand.map(SessionModel.Refusal.absent)
        }
        let answer = await attempt { () async throws(ServiceError) -> AuthenticationMode in
            let current = try await services.accessTokens.authenticate(
                accessTokenIssuer[index], requiresPresence: false, from: Self.origin)
            guard let mode else {
                return try await accounts.showPresence(evidence, in: current, from: Self.origin).session
                    .authenticationMode
            }
            return try await accounts.changeMode(
                ModeChange(mode: mode, evidence: evidence), in: current, from: Self.origin
            ).session.authenticationMode
        }
        try expect(answer.failure.map(SessionModel.Refusal.init), expected, "change of mode")
        if case .success(let mode) = answer { try expect(mode, model.sessions[session].mode, "mode") }
    }

    mutating func authenticate() async throws {
        let indices = accessTokenIssuer.indices
        let recent = Int.random(in: 0..<4, using: &random) > 0 ? indices.suffix(8) : indices
        guard let index = recent.randomElement(using: &random) else { return }
        let expected = model.authenticate(index, now: now)
        let answer = await attempt { () async throws(ServiceError) in
            try await services.accessTokens.authenticate(accessTokenIssuer[index], from: Self.origin).session.id
        }
        try expect(answer.failure.map(SessionModel.Refusal.init), expected, "authenticate")
        try await compareFeed(index, expected)
    }

    mutating func logOut() async throws {
        guard let token = pick(Array(refreshTokens.suffix(12))) else { return }
        model.end(token.session, .loggedOut, now: now)
        try await services.logout.logOut(token.text, from: Self.origin)
    }

    mutating func endSession() async throws {
        guard let index = sessionIDs.indices.suffix(6).randomElement(using: &random) else { return }
        model.end(index, .revokedByAdmin, now: now)
        try await admin.endSession(sessionIDs[index], by: Self.origin)
    }

    mutating func revokeUser() async throws {
        guard let user = userIDs.indices.randomElement(using: &random) else { return }
        let count = try await admin.revokeSessions(of: .id(userIDs[user]), by: Self.origin)
        try expect(count, model.endSessions(.revokedByAdmin, user: user), "revoked")
    }

    mutating func endDevice() async throws {
        guard let user = userIDs.indices.randomElement(using: &random) else { return }
        let device = pick(Self.devices + [nil] as [String?]) ?? nil
        let count = try await accounts.endSessions(of: userIDs[user], onDevice: device, from: Self.origin)
        try expect(count, model.endSessions(.revokedByUser, user: user, device: device), "ended")
    }

    mutating func switchLogins() async throws {
        guard let user = userIDs.indices.randomElement(using: &random) else { return }
        let effective: User.LoginDisabling.Effective = Bool.random(using: &random) ? .immediate : .onExpiry
        let isOff = Int.random(in: 0..<3, using: &random) == 0
        if Bool.random(using: &random) {
            let hash = try await store.user(.id(userIDs[user]))?.passwordHash
            _ = try await accounts.setLogins(
                of: userIDs[user], shownBy: .password(hash: hash), disabled: isOff, effective: effective,
                from: Self.origin)
            model.users[user].ownDisable = isOff ? effective : nil
        } else if isOff {
            let revoking = Bool.random(using: &random)
            let ended = try await admin.disable(
                .id(userIDs[user]), effective: effective, revokingSessions: revoking, note: nil, by: Self.origin
            ).endedSessions
            model.users[user].adminDisable = effective
            try expect(ended, revoking ? model.endSessions(.revokedByAdmin, user: user) : 0, "revoked at disable")
        } else {
            _ = try await admin.enable(.id(userIDs[user]), includingOwnSwitch: false, by: Self.origin)
            model.users[user].adminDisable = nil
        }
    }

    mutating func changePassword() async throws {
        guard let user = userIDs.indices.randomElement(using: &random) else { return }
        let new = model.users[user].password + 1
        if Bool.random(using: &random) {
            let (token, expiresAt) = try await admin.requestPasswordReset(of: .id(userIDs[user]), by: Self.origin)
            let wait = pick([0, 3599, 3600] as [Int64]) ?? 0
            clock.advance(by: .seconds(wait))
            let answer = await attempt { () async throws(ServiceError) in
                let reset = try await accounts.passwordReset(by: token)
                try await accounts.resetPassword(reset, to: "three odd words \(new)", from: Self.origin)
            }
            try expect(answer.failure == nil, clock.now < expiresAt, "reset accepted")
            guard case .success = answer else { return }
            model.users[user].password = new
            _ = model.endSessions(.passwordChanged, user: user)
        } else {
            try await admin.setPassword(of: .id(userIDs[user]), to: "three odd words \(new)", by: Self.origin)
            model.users[user].password = new
            _ = model.endSessions(.passwordChanged, user: user)
        }
    }

    mutating func changeSettings() async throws {
        let idle = pick([600, 5000, 1_209_600] as [Int64]) ?? 600
        let maximum = pick([400, 20_000, 15_552_000] as [Int64]) ?? 400
        let interval = pick([0, 60, 120] as [Int64]) ?? 0
        let isLimited = Bool.random(using: &random)
        let answer = await attempt { () async throws(ServiceError) in
            try await admin.changeSettings(by: Self.origin) { settings in
                settings.offlineSessionIdle = .seconds(idle)
                settings.offlineSessionMax = .seconds(maximum)
                settings.offlineSessionMaxLimited = isLimited
                settings.rotationInterval = .seconds(interval)
                settings.refreshAfter = .seconds(40)
            }
        }
        // Refused as a whole, when a client's token would outlive the idle time.
        let isImpossible = model.clients.values.contains { client in
            let theirs = client.idle > 0 ? client.idle : idle
            return client.tokenLife > theirs || interval * 2 > theirs
        }
        try expect(answer.failure != nil, isImpossible, "settings refused")
        guard case .success = answer else { return }
        (model.idle, model.maximum, model.interval, model.isLimited) = (idle, maximum, interval, isLimited)
        model.refreshAfter = 40
    }

    mutating func changeLimits() async throws {
        if Bool.random(using: &random) {
            guard let user = userIDs.indices.randomElement(using: &random) else { return }
            let maximum = pick([0, 1000, 30_000_000] as [Int64]) ?? 0
            _ = try await admin.changeUser(.id(userIDs[user]), by: Self.origin) {
                $0.offlineSessionMax = .seconds(maximum)
                return nil
            }
            model.users[user].maximum = maximum
            return
        }
        guard let id = pick(Self.clientIDs) else { return }
        let idle = pick([0, 700, 2_000_000] as [Int64]) ?? 0
        let maximum = pick([0, 900, 18_000_000] as [Int64]) ?? 0
        let tokenLife = pick([0, 300] as [Int64]) ?? 0
        let presenceAge = pick([0, 20, 100, 5000] as [Int64]) ?? 0
        _ = try await admin.changeClient(id, by: Self.origin) {
            $0.offlineSessionIdle = .seconds(idle)
            $0.offlineSessionMax = .seconds(maximum)
            $0.accessTokenLifetime = .seconds(tokenLife)
            $0.userPresenceMaxAge = .seconds(presenceAge)
            $0.refreshAfter = .seconds(50)
            return nil
        }
        model.clients[id] = SessionModel.ModelClient(
            idle: idle, maximum: maximum, tokenLife: tokenLife, refreshAfter: 50, presenceAge: presenceAge)
    }

    /// A client is deleted, and one of the same name is made: its sessions are over all the same.
    mutating func remakeClient() async throws {
        let id = "tablet"
        try await admin.deleteClient(id, by: Self.origin)
        _ = try await admin.createClient(id: id, by: Self.origin) {
            $0.refreshAfter = .seconds(50)
            return nil
        }
        for index in model.sessions.indices where model.sessions[index].client == id {
            model.sessions[index].isCut = true
        }
        model.clients[id] = SessionModel.ModelClient(refreshAfter: 50)
    }

    mutating func revokeAll() async throws {
        try await admin.revokeAllSessions(by: Self.origin)
        for index in model.sessions.indices { model.sessions[index].isCut = true }
    }

    /// The list of sessions says of each what the model says.
    mutating func compareLists() async throws {
        for (user, id) in userIDs.enumerated() {
            let living = try await accounts.livingSessions(of: id).map(\.session.id)
            let expected = model.sessions.indices.filter { index in
                let session = model.sessions[index]
                return session.user == user && model.ending(index) == nil
                    && now < min(session.renewedAt + model.idle(of: session), model.end(of: session))
            }
            try expect(Set(living), Set(expected.map { sessionIDs[$0] }), "living sessions of user \(user)")
        }
    }
}

extension Result {
    /// The error, if it is one.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
