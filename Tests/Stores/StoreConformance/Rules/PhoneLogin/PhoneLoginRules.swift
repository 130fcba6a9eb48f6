import Cryptography
import Sessions
import Testing

extension Fixture {
    /// A login with a phone that has every member of its request.
    fileprivate static func phoneLogin(_ number: UInt8, bond: PhoneLogin.Bond = .ping(.seconds(300))) -> PhoneLogin {
        var request = PhoneLogin.Request()
        (request.scope, request.resources) = (
            Scope("openid profile"), ["https://one.example/api", "https://two.example"]
        )
        (request.announceInfo, request.sessionInfo) = (#"{"text":"Zoë"}"#, #"{"a":1}"#)
        (request.remoteAddress, request.userAgent, request.epoch) = ("192.0.2.7", "Mozilla/5.0 (Zoë)", 7)
        request.handle = [UInt8](repeating: number, count: PhoneLoginCode.handleCount)
        request.userCode = "BCDFGHJ" + String(UnicodeScalar(UInt8(ascii: "K") + number))
        request.pollHash = [UInt8](repeating: number, count: 32)
        request.returnURI = "https://app.example/back?x=1"
        (request.factorRule, request.knownUsers) = (.required, [userID(), userID()])
        request.keyThumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        var login = PhoneLogin(
            id: sessionID(), kind: .device, clientID: Client.mobileID, bond: bond, browser: [1, 2, 3],
            request: request, startedAt: start,
            inputUntil: start + .seconds(180))
        login.browserSession = sessionID()
        return login
    }
}

extension Fixture {
    /// A login that a backend has requested of that user.
    fileprivate static func backchannelLogin(
        _ number: UInt8, to userID: Identifier<User>, at time: Instant = start
    ) -> PhoneLogin {
        var request = PhoneLogin.Request()
        (request.scope, request.resources) = (Scope("openid"), ["https://one.example/api"])
        request.backchannel = BackchannelRequest(
            to: userID, scope: request.scope, resources: request.resources, bindingMessage: "Zoë 1",
            sealedToken: [1, 2, 3])
        request.handle = [UInt8](repeating: 100 + number, count: PhoneLoginCode.handleCount)
        request.pollHash = [UInt8](repeating: 100 + number, count: 32)
        return PhoneLogin(
            id: sessionID(), kind: .backchannel, clientID: Client.mobileID, request: request,
            startedAt: time, inputUntil: time + .seconds(180))
    }
}

extension Store {
    /// Lets the phone of `session` act, as the domain does.
    fileprivate func act(
        _ act: PhoneLogin.Act, on id: Identifier<Session>, as session: Session?, key: UInt64? = nil, at now: Instant
    ) async throws -> PhoneLogin.Reply? {
        try await changeLogin(id, phone: session?.id) { change in
            let call = PhoneLoginAttempt(
                act, key: key, phone: change.phone.map { Phone($0.session) },
                claimant: change.claimant.map { Phone($0.session) }, drawnNumber: 42)
            let outcome = PhoneLoginPolicy().decide(call, on: change.login, at: now)
            change.login = outcome.login
            return outcome.reply
        }
    }
}

/// Logins with a phone.
let loginSessionRules: [StoreRule] = [
    StoreRule("a login with a phone comes back with every member, by each of its keys") { store in
        let bonds: [PhoneLogin.Bond] = [.none, .session, .ping(.seconds(300))]
        for (number, bond) in bonds.enumerated() {
            let login = Fixture.phoneLogin(UInt8(number), bond: bond)
            try await store.requestLogin(login)
            let keys: [PhoneLogin.Lookup] = [
                .id(login.id), .handle(login.request.handle ?? []), .userCode(login.request.userCode ?? ""),
                .poll(hash: login.request.pollHash ?? []),
            ]
            for key in keys { #expect(try await store.phoneLogin(key) == login) }
        }
        #expect(try await store.phoneLogin(.id(Fixture.sessionID())) == nil)
        #expect(try await store.phoneLogin(.handle([9])) == nil)
    },
    StoreRule("logins that bring an ID token are listed for their logout tokens, and no enrolment is") { store in
        var ids: Set<Identifier<Session>> = []
        var requested: [Identifier<Session>] = []
        for (number, kind) in PhoneLogin.Kind.allCases.enumerated() {
            var login = Fixture.phoneLogin(UInt8(number))
            login = PhoneLogin(
                id: login.id, kind: kind, clientID: login.clientID, request: login.request,
                startedAt: login.startedAt, inputUntil: login.inputUntil)
            try await store.requestLogin(login)
            requested.append(login.id)
            if kind.bringsIDToken { ids.insert(login.id) }
        }
        let all = requested
        let listed = try await store.read(.long) { (reader) throws(TransactionError) in
            try reader.idTokenLogins(of: all).value()
        }
        #expect(Set(listed.map(\.id)) == ids && ids.count == PhoneLogin.Kind.allCases.count - 1)
    },
    StoreRule("an enrolment comes back with its invitation and its phone, and has a bound of its own") { store in
        let profile = User.Profile(
            email: "zoë@example.org", phoneNumber: "+43 1", displayName: "Zoë", givenName: "Z", familyName: "Å",
            country: "AT")
        var request = PhoneLogin.Request()
        request.invitation = Invitation(
            newUser: Identifier(random: .system), username: "zoë", profile: profile, source: .link)
        request.handle = [UInt8](repeating: 4, count: PhoneLoginCode.handleCount)
        var login = PhoneLogin(
            id: Fixture.sessionID(), kind: .enrolment, clientID: Client.mobileID, bond: .none, request: request,
            startedAt: Fixture.start, inputUntil: Fixture.start + .seconds(86_400))
        try await store.requestLogin(login)
        #expect(try await store.phoneLogin(.id(login.id)) == login)
        #expect(try await store.requestLogin(Fixture.phoneLogin(1), atMost: 1))
        var other = request
        other.handle = [UInt8](repeating: 5, count: PhoneLoginCode.handleCount)
        let further = PhoneLogin(
            id: Fixture.sessionID(), kind: .enrolment, clientID: Client.mobileID, bond: .none, request: other,
            startedAt: Fixture.start, inputUntil: Fixture.start + .seconds(86_400))
        #expect(try await !store.requestLogin(further, atMost: 1))
        let phone = try #require(
            Phone(enrolling: login, deviceID: "new-1", secretHash: [1, 2, 3], at: Fixture.start))
        let call = PhoneLoginAttempt(.claim(.scanned, PhoneLogin.Wishes()), phone: phone)
        login = PhoneLoginPolicy().decide(call, on: login, at: Fixture.start).login
        let claimed = login
        _ = try await store.changeLogin(login.id, phone: nil) { change in change.login = claimed }
        #expect(try await store.phoneLogin(.id(login.id)) == claimed)
        #expect(claimed.claim?.secretHash == [1, 2, 3])
    },
    StoreRule("a login that a backend requests is found by its user before the claim, and three wait at most") {
        store in
        let user = try await store.given(Fixture.user())
        let other = try await store.given(Fixture.user("berta"))
        let phone = try await store.given(Fixture.session(of: user.id))
        let logins = (0..<5).map { Fixture.backchannelLogin($0, to: user.id) }
        for login in logins.prefix(3) {
            #expect(try await store.pushLogin(login, to: user.id, [], atMost: 10) == .admitted)
            #expect(try await store.phoneLogin(.id(login.id)) == login)
        }
        #expect(try await store.pushLogin(logins[3], to: user.id, [], atMost: 10) == .userIsBusy)
        #expect(try await store.phoneLogin(.id(logins[3].id)) == nil)
        let elsewhere = Fixture.backchannelLogin(7, to: other.id)
        #expect(try await store.pushLogin(elsewhere, to: other.id, [], atMost: 3) == .storeIsFull)
        let unknown = Fixture.userID()
        #expect(
            try await store.pushLogin(Fixture.backchannelLogin(8, to: unknown), to: unknown, [], atMost: 10)
                == .unknownUser)
        let found = try await store.phoneLogins(ofUser: user.id, in: nil, after: nil, limit: 10)
        #expect(Set(found.items.map(\.id)) == Set(logins.prefix(3).map(\.id)))
        #expect(try await store.phoneLogins(ofUser: other.id, in: nil, after: nil, limit: 10).items.isEmpty)
        let claim = PhoneLogin.Act.claim(.pushed, PhoneLogin.Wishes())
        #expect(try await store.act(claim, on: logins[0].id, as: phone, at: Fixture.start) == .accepted)
        // A claimed one waits for the user as well; one that is over does not.
        #expect(try await store.pushLogin(logins[3], to: user.id, [], atMost: 10) == .userIsBusy)
        #expect(
            try await store.act(.stop(isReport: false), on: logins[0].id, as: phone, at: Fixture.start) == .accepted)
        #expect(try await store.pushLogin(logins[3], to: user.id, [], atMost: 10) == .admitted)
        // Its client is told: the row says when.
        let stopped = try #require(try await store.phoneLogin(.id(logins[0].id)))
        #expect(stopped.pingAt == Fixture.start && stopped.pingTries == 0)
        let due = { (now: Instant) async throws(StoreError) in
            try await store.read(.short) { (reader) throws(TransactionError) in
                try reader.duePings(by: now, limit: 10).value()
            }
        }
        #expect(try await due(Fixture.start + .seconds(-1)).isEmpty)
        #expect(try await due(Fixture.start) == [LoginReference(id: stopped.id, clientID: Client.mobileID)])
        _ = try await store.changeLogin(stopped.id, phone: nil) { change in
            (change.login.pingAt, change.login.pingTries) = (Fixture.start + .seconds(6), 1)
        }
        #expect(try await due(Fixture.start).isEmpty)
        #expect(try await store.phoneLogin(.id(stopped.id))?.pingTries == 1)
        let late = Fixture.backchannelLogin(9, to: user.id, at: Fixture.start + .seconds(180))
        #expect(try await store.pushLogin(late, to: user.id, [], atMost: 10) == .admitted)
    },
    StoreRule("a login with a phone and one on the page do not see each other") { store in
        let user = try await store.given(Fixture.user())
        let login = Fixture.phoneLogin(1)
        try await store.requestLogin(login)
        #expect(try await store.login(login.id) == nil)
        let other = Fixture.login(1, of: user.id)
        _ = try await store.approveLogin(by: .user(user.id), clientID: other.clientID, using: nil, browser: nil) {
            $0.login = other
        }
        #expect(try await store.phoneLogin(.id(other.id)) == nil)
    },
    StoreRule("acts of a phone are kept with every member, answers included") { store in
        let user = try await store.given(Fixture.user())
        let phone = try await store.given(Fixture.session(of: user.id))
        let login = Fixture.phoneLogin(1)
        try await store.requestLogin(login)
        var options = PhoneLogin.Wishes()
        (options.startsByHand, options.demandsSecondFactor) = (true, true)
        let acts: [(PhoneLogin.Act, PhoneLogin.Reply)] = [
            (.claim(.scanned, options), .accepted), (.start, .accepted), (.confirm(number: 42), .accepted),
            (.proveFactor(PhoneFactor(isValid: false)), .refused(.wrongFactor(attemptsLeft: 2))),
            (.proveFactor(PhoneFactor(isValid: true)), .accepted),
        ]
        for (key, (act, answer)) in acts.enumerated() {
            let key = UInt64.max - UInt64(key)
            let first = try await store.act(act, on: login.id, as: phone, key: key, at: Fixture.start)
            #expect(first == answer)
            let kept = try #require(try await store.phoneLogin(.id(login.id)))
            #expect(kept.answered.last == PhoneLogin.AnsweredAct(key: key, reply: answer))
            // A retry gets what is kept, and changes nothing.
            #expect(try await store.act(act, on: login.id, as: phone, key: key, at: Fixture.start) == answer)
            #expect(try await store.phoneLogin(.id(login.id)) == kept)
        }
        let kept = try #require(try await store.phoneLogin(.id(login.id)))
        #expect(kept.state == .approved && kept.userID == user.id && kept.number == 42 && kept.wrongFactors == 1)
        #expect(kept.claim?.wishes == options && kept.claim?.sessionID == phone.id)
        #expect(kept.collectUntil == Fixture.start + .seconds(60) && kept.approvedAt == Fixture.start)
    },
    StoreRule("what phones have let in with a key is found by it, ended or not, the newest first") { store in
        let key = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
        var expected: [Identifier<Session>] = []
        for (number, name) in ["anna", "berta", "carla"].enumerated() {
            let user = try await store.given(Fixture.user(name))
            for (method, thumbprint) in [("phone", key), ("pwd", key), ("phone", "another")] {
                let session = try await store.given(
                    Session(
                        id: Fixture.sessionID(), userID: user.id, clientID: Client.mobileID,
                        device: Device(id: method + thumbprint), authenticationMethods: [method],
                        keyThumbprint: thumbprint, startedAt: Fixture.start + .seconds(Int64(number)), epoch: 1))
                if method == "phone", thumbprint == key { expected.insert(session.id, at: 0) }
            }
        }
        _ = try await store.updateSession(expected[1]) { change in
            change.session.end(.notMe, at: Fixture.start + .seconds(9))
        }
        let found = try await store.sessions([], letInWithKey: key)
        #expect(found.sessions.map(\.id) == expected && found.sessions[1].ending?.reason == .notMe)
        #expect(try await store.sessions([], letInWithKey: "none").sessions.isEmpty)
        #expect(try await store.sessions([expected[2]], letInWithKey: nil).sessions.map(\.id) == [expected[2]])
    },
    StoreRule("presence that a second factor proves is written in the phone's session, with the act") { store in
        let user = try await store.given(Fixture.user())
        let phone = try await store.given(Fixture.session(of: user.id))
        let login = Fixture.phoneLogin(1)
        try await store.requestLogin(login)
        _ = try await store.changeLogin(login.id, phone: phone.id) { change in
            change.shown = (.password(hash: nil), Fixture.start + .seconds(7))
        }
        #expect(try await store.stored(phone.id).presence.passwordAt == Fixture.start + .seconds(7))
        #expect(try await store.phoneLogin(.id(login.id)) == login)
    },
    StoreRule("a login that is over is found by its id and its secret only, and its codes are free again") { store in
        let login = Fixture.phoneLogin(1)
        try await store.requestLogin(login)
        let late = Fixture.start + .seconds(180)
        #expect(try await store.act(.tick, on: login.id, as: nil, at: late) == .refused(.terminated))
        let over = try #require(try await store.phoneLogin(.id(login.id)))
        #expect(over.state == .ended(.init(.aborted, .timedOut, at: late)))
        #expect(try await store.phoneLogin(.handle(login.request.handle ?? [])) == nil)
        #expect(try await store.phoneLogin(.userCode(login.request.userCode ?? "")) == nil)
        #expect(try await store.phoneLogin(.poll(hash: login.request.pollHash ?? [])) == over)
        var request = login.request
        request.pollHash = [5]
        let next = PhoneLogin(
            id: Fixture.sessionID(), kind: .device, clientID: Client.mobileID, request: request,
            startedAt: Fixture.start, inputUntil: late)
        try await store.requestLogin(next)
        #expect(try await store.phoneLogin(.userCode(login.request.userCode ?? "")) == next)
    },
    StoreRule("of two phones that claim one login at the same time, none gets it") { store in
        let user = try await store.given(Fixture.user())
        var phones: [Session] = []
        for device in ["one", "two"] {
            phones.append(
                try await store.given(
                    Session(
                        id: Fixture.sessionID(), userID: user.id, clientID: Client.mobileID, device: Device(id: device),
                        startedAt: Fixture.start, epoch: 1)))
        }
        let login = Fixture.phoneLogin(1)
        try await store.requestLogin(login)
        let claim = PhoneLogin.Act.claim(.scanned, PhoneLogin.Wishes())
        let answers = try await withThrowingTaskGroup(of: PhoneLogin.Reply?.self) { group in
            for phone in phones {
                group.addTask { try await store.act(claim, on: login.id, as: phone, at: Fixture.start) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers) == [.accepted, .refused(.contested)])
        #expect(try await store.phoneLogin(.id(login.id))?.cause == .contested)
    },
]
