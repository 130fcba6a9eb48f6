import Cryptography
import Sessions
import Testing

extension Fixture {
    /// A login with every member set.
    static func login(
        _ number: UInt8, of user: Identifier<User>, client: String = Client.mobileID, at: Instant = start,
        browser: Identifier<Session>? = nil
    ) -> PageLogin {
        var request = AuthorizationRequest(
            id: "00", clientID: client, redirectURI: "com.example.app:/callback",
            codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        (request.scope, request.nonce, request.keyThumbprint) = ("openid \u{E9}", "n\"1", "k")
        request.resources = ["https://one.example/api"]
        var login = PageLogin(
            id: sessionID(), request: request, remoteAddress: "192.0.2.7", userAgent: "Mozilla/5.0 (Zoë)", userID: user,
            methods: ["pwd", "otp"], authenticatedAt: at, epoch: 7, browserSession: browser,
            codeHash: [UInt8](repeating: number, count: 32), codeExpiresAt: at + PageLogin.codeLifetime, startedAt: at)
        login.phoneLoginID = sessionID()
        return login
    }
}

extension Store {
    /// Completes a login as the domain does.
    fileprivate func given(_ login: PageLogin, using token: OneTimeToken? = nil) async throws -> PageLogin? {
        let isDone = try await approveLogin(
            by: .user(login.userID), clientID: login.clientID, using: token, browser: nil
        ) { approval in
            if approval.isRequestSpent { return false }
            approval.login = login
            approval.events = [AuditEvent(.loginApproved, at: login.startedAt, by: Fixture.admin, userID: login.userID)]
            return true
        }
        return isDone == true ? login : nil
    }

    /// Exchanges a code as the domain does; nil: there is no such code.
    fileprivate func exchange(_ hash: [UInt8]) async throws(StoreError) -> Session? {
        try await exchangeCode(hash, deviceID: "phone") { exchange -> Session in
            let session = Session(
                id: exchange.login.id, userID: exchange.login.userID, clientID: exchange.login.clientID,
                device: Device(id: "phone"), startedAt: Fixture.start, epoch: 7)
            exchange.opening.session = session
            exchange.login.codeUsedAt = Fixture.start
            exchange.login.codeRequest = [1, 2, 3]
            return session
        }
    }
}

/// Logins on the server's page.
let loginRules: [StoreRule] = [
    StoreRule("a login comes back with every member, by its id and by its code") { store in
        let user = try await store.given(Fixture.user())
        var login = Fixture.login(1, of: user.id, browser: Fixture.sessionID())
        login.continuedID = Fixture.sessionID()
        let whole = login
        _ = try await store.given(whole)
        #expect(try await store.login(login.id) == login)
        #expect(try await store.login(Fixture.sessionID()) == nil)
        #expect(try await store.exchangeCode([UInt8](repeating: 1, count: 32), deviceID: "d") { $0.login } == login)
        #expect(try await store.exchangeCode([9], deviceID: "d") { $0.login } == nil)
    },
    StoreRule("a login that continues a session is one of that session, and its code is not used again") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id, device: "phone"))
        var login = Fixture.login(1, of: user.id, client: session.clientID)
        (login.continuedID, login.phoneLoginID) = (nil, nil)
        _ = try await store.given(login)
        let known = session
        let goesOn = try await store.exchangeCode([UInt8](repeating: 1, count: 32), deviceID: "phone") { exchange in
            var session = exchange.opening.previous
            session?.authenticationMode = .password
            exchange.opening.continued = session
            exchange.login.codeUsedAt = Fixture.start
            exchange.login.continuedID = session?.id
            return session?.id == known.id
        }
        #expect(goesOn == true)
        #expect(try await store.logins(ofSession: session.id).map(\.id) == [login.id])
        #expect(try await store.login(login.id)?.sessionID == session.id)
        #expect(try await store.wholeSession(session.id)?.session.authenticationMode == .password)
        // A second use is decided on the session that goes on, and can end it.
        let started = try await store.exchangeCode([UInt8](repeating: 1, count: 32), deviceID: "phone") { exchange in
            exchange.ending = Session.Ending(reason: .codeReused, at: Fixture.start)
            return exchange.started?.id
        }
        #expect(started == session.id)
        #expect(try await store.wholeSession(session.id)?.session.ending?.reason == .codeReused)
    },
    StoreRule("every login on the page is read in the order of ids, in parts") { store in
        let user = try await store.given(Fixture.user())
        #expect(try await store.logins(after: nil, limit: 2).isEmpty)
        let logins = (1...3).map { Fixture.login($0, of: user.id, browser: Fixture.sessionID()) }
        for login in logins { _ = try await store.given(login) }
        let sorted = logins.sorted { $0.id.bytes.lexicographicallyPrecedes($1.id.bytes) }
        #expect(try await store.logins(after: nil, limit: 2) == Array(sorted.prefix(2)))
        #expect(try await store.logins(after: sorted[1].id, limit: 2) == [sorted[2]])
        #expect(try await store.logins(after: sorted[2].id, limit: 2).isEmpty)
    },
    StoreRule("a session of a browser that goes on keeps how the user has logged in later") { store in
        let user = try await store.given(Fixture.user())
        let session = try await store.given(Fixture.session(of: user.id, device: "browser"))
        var later = session
        later.authenticationMethods = ["pwd", "hwk", "user", "mfa"]
        later.presence.provenAt = Fixture.start + .seconds(9)
        let kept = later
        try await store.approveLogin(by: .user(user.id), clientID: Client.browserID, using: nil, browser: session.id) {
            $0.kept = kept
        }
        #expect(try await store.session(session.id)?.session == kept)
    },
    StoreRule("a login without a code starts, keeps and ends the sessions of a browser") { store in
        let user = try await store.given(Fixture.user())
        let old = try await store.given(Fixture.session(of: user.id, device: "old"))
        let new = Fixture.session(of: user.id, device: "new")
        func approve(_ edit: @escaping @Sendable (inout PageLoginCompletion) -> Void) async throws {
            try await store.approveLogin(
                by: .user(user.id), clientID: Client.browserID, using: nil, browser: old.id, edit)
        }
        try await approve { approval in
            approval.kept = approval.browser
            approval.kept?.renewedAt = Fixture.start + .seconds(60)
        }
        #expect(try await store.session(old.id)?.session.renewedAt == Fixture.start + .seconds(60))
        try await approve { approval in
            approval.ended = .init(reason: .replaced, at: Fixture.start)
            approval.started = new
        }
        #expect(try await store.session(old.id)?.session.ending?.reason == .replaced)
        #expect(try await store.session(new.id)?.session == new)
        #expect(try await store.login(new.id) == nil)
    },
    StoreRule("an exchange starts the session of the login, and the next one finds both") { store in
        let user = try await store.given(Fixture.user())
        let old = try await store.given(Fixture.session(of: user.id))
        let login = try #require(try await store.given(Fixture.login(1, of: user.id)))
        let hash = try #require(login.codeHash)
        let session = try #require(try await store.exchange(hash))
        #expect(session.id == login.id)
        #expect(try await store.session(old.id)?.session.ending?.reason == .replaced)
        let again = try await store.exchangeCode(hash, deviceID: "phone") { $0 }
        #expect(again?.started?.id == login.id && again?.opening.previous?.id == login.id)
        #expect(again?.login.codeUsedAt == Fixture.start && again?.login.codeRequest == [1, 2, 3])
    },
    StoreRule("of two exchanges that have read a code as unused, the second one sees the first") { store in
        let user = try await store.given(Fixture.user())
        let login = try #require(try await store.given(Fixture.login(1, of: user.id)))
        let hash = try #require(login.codeHash)
        let second = ObservedStore(store) { call async throws(StoreError) in
            if call == .write { _ = try await store.exchange(hash) }
        }
        let usedAt = try await second.exchangeCode(hash, deviceID: "phone") { exchange in
            exchange.ending = .init(reason: .codeReused, at: Fixture.start)
            return exchange.login.codeUsedAt
        }
        #expect(usedAt == Fixture.start)
        #expect(try await store.session(login.id)?.session.ending?.reason == .codeReused)
    },
    StoreRule("an exchange can end the session that the code has started") { store in
        let user = try await store.given(Fixture.user())
        let login = try #require(try await store.given(Fixture.login(1, of: user.id)))
        _ = try await store.exchange(try #require(login.codeHash))
        _ = try await store.exchangeCode([UInt8](repeating: 1, count: 32), deviceID: "phone") { exchange in
            exchange.ending = .init(reason: .codeReused, at: Fixture.start)
        }
        #expect(try await store.session(login.id)?.session.ending?.reason == .codeReused)
    },
    StoreRule("a used token, or a missing user, completes no login") { store in
        let user = try await store.given(Fixture.user())
        let token = OneTimeToken(
            .pushedRequest, of: "a", id: "1", goodUntil: Fixture.start + .seconds(60), at: Fixture.start)
        #expect(try await store.given(Fixture.login(1, of: user.id), using: token) != nil)
        let second = Fixture.login(2, of: user.id)
        #expect(try await store.given(second, using: token) == nil)
        #expect(try await store.login(second.id) == nil)
        #expect(try await store.given(Fixture.login(3, of: Fixture.userID())) == nil)
    },
    StoreRule("an end of a user's sessions cancels the codes that wait, of that client") { store in
        let user = try await store.given(Fixture.user())
        let other = try await store.given(Fixture.user("bert"))
        for (number, id, client) in [
            (1, user.id, Client.mobileID), (2, user.id, "web"), (3, other.id, Client.mobileID),
        ] as [(UInt8, Identifier<User>, String)] {
            _ = try await store.given(Fixture.login(number, of: id, client: client))
        }
        func waiting() async throws -> [UInt8] {
            var numbers: [UInt8] = []
            for number in UInt8(1)...4 {
                let hash = [UInt8](repeating: number, count: 32)
                if try await store.exchangeCode(hash, deviceID: "d", { $0.login }) != nil { numbers.append(number) }
            }
            return numbers
        }
        func end(_ clientID: String?, device: String?) async throws {
            _ = try await store.updateUser(.id(user.id)) { change in
                change.ending = .init(.revokedByAdmin, at: Fixture.start, clientID: clientID, deviceID: device)
            }
        }
        try await end(nil, device: "phone")
        #expect(try await waiting() == [1, 2, 3])
        try await end("web", device: nil)
        #expect(try await waiting() == [1, 3])
        try await end(nil, device: nil)
        #expect(try await waiting() == [3])
    },
    StoreRule("old logins are deleted, except those of a browser whose session goes on") { store in
        let user = try await store.given(Fixture.user())
        let browser = Fixture.sessionID()
        let plain = Fixture.login(1, of: user.id)
        let kept = Fixture.login(2, of: user.id, browser: browser)
        let over = Fixture.login(3, of: user.id, browser: browser)
        let late = Fixture.login(4, of: user.id, at: Fixture.start + .seconds(1))
        for login in [plain, kept, over, late] { _ = try await store.given(login) }
        _ = try await store.exchange(try #require(kept.codeHash))
        let steps = try await [
            store.sweepLogins(before: Fixture.start + .seconds(1), limit: 2),
            store.sweepLogins(before: Fixture.start + .seconds(1), limit: 2),
            store.sweepLogins(before: Fixture.start + .seconds(1), limit: 2),
        ]
        #expect(steps.map(\.looks) == [2, 1, 0] && steps.map(\.deleted).reduce(0, +) == 2)
        var left: [PageLogin] = []
        for login in [plain, kept, over, late] {
            if let login = try await store.login(login.id) { left.append(login) }
        }
        #expect(left.map(\.id) == [kept.id, late.id])
    },
]
