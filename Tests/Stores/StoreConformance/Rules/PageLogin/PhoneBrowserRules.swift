import Dispatch
import Locks
public import Sessions
import Testing

/// A phone, the browser that it has let in, and the sessions of apps of this browser.
private struct PhoneBrowser: Sendable {
    let phone: Session
    let browser: Session
    /// That of the phone login, two that the session of the browser has answered by it, and one by the password.
    let first: Session, second: Session, third: Session, typed: Session
    /// The login of a code that waits, by the phone login too.
    let waiting: [UInt8]

    var byPhone: [Session] { [first, second, third, browser] }
}

extension Store {
    /// The request of a login that a phone has approved.
    private static var byPhone: AuthorizationRequest {
        var request = authorization
        request.loginMethod = .phone
        return request
    }

    private static var authorization: AuthorizationRequest {
        AuthorizationRequest(
            id: "1", clientID: "web", redirectURI: "com.example.app:/callback", codeChallenge: "challenge")
    }

    fileprivate func givenPhoneBrowser(_ name: String = "anna", bond: PhoneLogin.Bond = .session) async throws
        -> PhoneBrowser
    {
        let user = try await given(Fixture.user(name))
        _ = try await updateCatalogue { change in
            for id in [Client.browserID, "web"] {
                change.change(id) { client in
                    if client.client != nil { return }
                    var made = Client(id: id, createdAt: Fixture.start, epoch: 1)
                    if id != Client.browserID { made.grantTypes = [.authorizationCode, .refreshToken] }
                    client.client = made
                }
            }
        }
        let phone = try await given(Fixture.session(of: user.id, device: "phone-1"))
        var browser = Fixture.session(of: user.id, client: Client.browserID, device: "b")
        browser.authenticationMethods = [PhoneLogin.authenticationMethod]
        let login = try await approved(by: phone, bond: bond)
        let secret = login.id.bytes + login.id.bytes
        browser.phoneID = bond == .none ? nil : phone.id
        let made = browser
        let done: Void? = try await collectOnPage(login.id, using: nil, browser: nil, by: Fixture.admin) { collection in
            _ = decideOnPhoneBrowser(.collect(browser: [1]), &collection.change)
            collection.change.login.browserSession = made.id
            collection.approval?.started = made
            collection.approval?.login = PageLogin(
                id: login.id, request: Self.byPhone, userID: user.id,
                methods: [PhoneLogin.authenticationMethod], authenticatedAt: Fixture.start, epoch: 1,
                browserSession: made.id, codeHash: secret, codeExpiresAt: Fixture.start + .seconds(60),
                startedAt: Fixture.start)
        }
        #expect(done != nil)
        let first = try await exchanged(secret, of: login.id, phone: made.phoneID, device: "d-0")
        var sessions: [Session] = []
        for number in 1...3 {
            let isByPhone = number < 3
            let answered = try await answered(by: isByPhone ? login.id : nil, made)
            sessions.append(
                try await exchanged(
                    answered.code, of: answered.id, phone: isByPhone ? made.phoneID : nil, device: "d-\(number)"))
        }
        let waiting = try await answered(by: login.id, made).code
        return PhoneBrowser(
            phone: phone, browser: made, first: first, second: sessions[0], third: sessions[1], typed: sessions[2],
            waiting: waiting)
    }

    /// A login on the page that the phone has approved.
    private func approved(by phone: Session, bond: PhoneLogin.Bond) async throws -> PhoneLogin {
        var request = PhoneLogin.Request()
        request.authorization = Self.authorization
        (request.factorRule, request.knownUsers) = (.notRequired, [phone.userID])
        let login = PhoneLogin(
            id: Fixture.sessionID(), kind: .authorize, clientID: "web", bond: bond, browser: [1], request: request,
            startedAt: Fixture.start,
            inputUntil: Fixture.start + .seconds(180))
        #expect(try await requestLogin(login))
        for act in [PhoneLogin.Act.claim(.scanned, PhoneLogin.Wishes()), .confirm(number: 42)] {
            let answer = try await changeLogin(login.id, phone: phone.id) { change in decideOnPhoneBrowser(act, &change)
            }
            #expect(answer == .accepted)
        }
        return login
    }

    /// A login that the session of the browser has answered.
    private func answered(
        by phoneLogin: Identifier<Session>?, _ browser: Session, joining joined: Session? = nil
    ) async throws -> (id: Identifier<Session>, code: [UInt8]) {
        let id = Fixture.sessionID()
        let code = id.bytes + id.bytes
        let done: Void? = try await approveLogin(
            by: .user(browser.userID), clientID: "web", using: nil, browser: browser.id
        ) { approval in
            var request = phoneLogin == nil ? Self.authorization : Self.byPhone
            request.joinedSession = joined?.id.description
            var login = PageLogin(
                id: id, request: request, userID: browser.userID,
                methods: phoneLogin == nil ? ["pwd"] : [PhoneLogin.authenticationMethod],
                authenticatedAt: Fixture.start, epoch: 1, browserSession: browser.id, codeHash: code,
                codeExpiresAt: Fixture.start + .seconds(60), startedAt: Fixture.start)
            login.phoneLoginID = phoneLogin
            approval.login = login
        }
        #expect(done != nil)
        return (id, code)
    }

    /// Uses a code that the phone login has answered for tokens of a session that lived before.
    fileprivate func join(_ session: Session, _ known: PhoneBrowser) async throws {
        let answered = try await answered(by: known.first.id, known.browser, joining: session)
        let isDone = try await exchangeCode(answered.code, deviceID: "d-9") { exchange in
            exchange.login.codeUsedAt = Fixture.start
            return true
        }
        #expect(isDone == true)
    }

    fileprivate func exchanged(
        _ code: [UInt8], of id: Identifier<Session>, phone: Identifier<Session>?, device: String
    ) async throws -> Session {
        try #require(try await exchangedIfValid(code, of: id, phone: phone, device: device))
    }

    /// The session of a code; nil if the code is canceled.
    fileprivate func exchangedIfValid(
        _ code: [UInt8], of id: Identifier<Session>, phone: Identifier<Session>?, device: String
    ) async throws -> Session? {
        try await exchangeCode(code, deviceID: device) { exchange -> Session in
            var session = Fixture.session(of: exchange.login.userID, client: "web", device: device, id: id)
            session.phoneID = phone
            exchange.opening.session = session
            exchange.login.codeUsedAt = Fixture.start
            return session
        }
    }

    fileprivate func reason(_ session: Session) async throws -> EndReason? {
        try await stored(session.id).ending?.reason
    }

    /// Ends the session, after what happens while it is locked.
    fileprivate func end(
        _ session: Session, _ reason: EndReason, after happening: @escaping @Sendable () -> Void = {}
    ) async throws {
        let done: Void? = try await updateSessionAndCompanions(session.id, by: Fixture.admin) { change in
            happening()
            if change.session.ending != nil { return }
            change.session.end(reason, at: Fixture.start)
        }
        #expect(done != nil)
    }

    /// Whether the code that waits starts a session.
    fileprivate func takes(_ code: [UInt8]) async throws -> Bool {
        try await exchangeCode(code, deviceID: "d-9") { $0.phoneLogin?.hasLetIn == true } == true
    }
}

/// Lets a login decide, as the service does.
private func decideOnPhoneBrowser(_ act: PhoneLogin.Act, _ change: inout PhoneLoginChange) -> PhoneLogin.Reply {
    let call = PhoneLoginAttempt(
        act, phone: change.phone.map { Phone($0.session) },
        claimant: change.claimant.map { Phone($0.session) }, drawnNumber: 42,
        hasSessions: !change.sessions.isEmpty)
    let outcome = PhoneLoginPolicy().decide(call, on: change.login, at: Fixture.start)
    change.login = outcome.login
    if outcome.effects.contains(where: { if case .endSession = $0 { true } else { false } }) {
        change.ending = Session.Ending(reason: .notMe, at: Fixture.start)
    }
    return outcome.reply
}

/// What ends with a login in which a phone let a browser in, from wherever the end comes.
let phoneBrowserRules: [StoreRule] = [
    StoreRule("an end that is about a phone login ends each of its sessions, and none that a password let in") {
        store in
        for (number, reason) in [EndReason.notMe, .parentEnded, .presenceLost, .revokedByAdmin].enumerated() {
            let known = try await store.givenPhoneBrowser("user-\(number)")
            try await store.end(known.second, reason)
            for session in known.byPhone { #expect(try await store.reason(session) == reason) }
            #expect(try await store.reason(known.typed) == nil)
            #expect(try await store.reason(known.phone) == nil)
            #expect(try await store.takes(known.waiting) == false)
            #expect(try await store.phoneLogin(.id(known.first.id))?.state.outcome == .signedOut)
        }
    },
    StoreRule("a code that has joined another session keeps back no end of its phone login") { store in
        let known = try await store.givenPhoneBrowser()
        try await store.join(known.typed, known)
        try await store.end(known.second, .notMe)
        for session in known.byPhone { #expect(try await store.reason(session) == .notMe) }
        #expect(try await store.reason(known.typed) == nil)
    },
    StoreRule("an app's own end spares the others, and the login is logged in until the last one") { store in
        let known = try await store.givenPhoneBrowser()
        for session in [known.first, known.second] {
            try await store.end(session, .loggedOut)
            #expect(try await store.phoneLogin(.id(known.first.id))?.state == .signedIn)
        }
        #expect(try await store.reason(known.browser) == .loggedOut)
        for session in [known.third, known.typed] { #expect(try await store.reason(session) == nil) }
        try await store.end(known.third, .refreshTokenReused)
        let login = try #require(try await store.phoneLogin(.id(known.first.id)))
        #expect(login.state.outcome == .signedOut && login.cause?.rawValue == "refresh_token_reused")
    },
    StoreRule("the end of the phone reaches what outlives the first session of its login") { store in
        let known = try await store.givenPhoneBrowser()
        try await store.end(known.first, .loggedOut)
        try await store.end(known.phone, .loggedOut)
        for session in [known.second, known.third] { #expect(try await store.reason(session) == .parentEnded) }
        #expect(try await store.reason(known.typed) == nil)
    },
    StoreRule("an act that ends a phone login ends each of its sessions, one without a bond too") { store in
        for (name, bond) in [("anna", PhoneLogin.Bond.session), ("bert", .none)] {
            let known = try await store.givenPhoneBrowser(name, bond: bond)
            let answer = try await store.changeLogin(known.first.id, phone: known.phone.id) { change in
                decideOnPhoneBrowser(.stop(isReport: true), &change)
            }
            #expect(answer == .accepted)
            for session in known.byPhone { #expect(try await store.reason(session) == .notMe) }
            #expect(try await store.takes(known.waiting) == false)
            let outcome = try await store.phoneLogin(.id(known.first.id))?.state.outcome
            #expect(outcome == (bond == .none ? .completed : .signedOut))
        }
    },
    StoreRule("a new login of the phone takes every session of its logins with it") { store in
        let known = try await store.givenPhoneBrowser()
        let next = try await store.given(Fixture.session(of: known.phone.userID, device: "phone-1"))
        for session in known.byPhone { #expect(try await store.stored(session.id).phoneID == next.id) }
        #expect(try await store.stored(known.typed.id).phoneID == nil)
        let record = try #require(try await store.wholeSession(known.browser.id))
        guard case .known(let phone, _, let login)? = record.phone else { throw Unexpected("no phone") }
        #expect(phone.id == next.id && login?.id == known.first.id)
    },
    StoreRule("a phone login that the page has completed has a row of each kind with one id, and is listed once") {
        store in
        let known = try await store.givenPhoneBrowser()

        let page = try #require(try await store.login(known.first.id))
        let phone = try #require(try await store.phoneLogin(.id(known.first.id)))
        let moved = try await store.logins(after: nil, limit: 50).map(\.id)
        let withIDToken = try await store.read(.long) { (reader) throws(TransactionError) in
            try reader.idTokenLogins(of: [known.first.id, known.second.id]).value()
        }

        #expect(page.browserSession == known.browser.id && phone.browserSession == known.browser.id)
        #expect(page.isByPhone && phone.state == .signedIn && phone.request.authorization != nil)
        #expect(Set(moved).isSuperset(of: [known.second.id, known.third.id]) && !moved.contains(known.first.id))
        let ids = withIDToken.map(\.id)
        #expect(Set(ids) == [known.first.id, known.second.id] && ids.count == 2)
    },
    StoreRule("the row of a phone login is kept for as long as a session of it lives") { store in
        let known = try await store.givenPhoneBrowser()
        try await store.end(known.first, .loggedOut)
        _ = try await store.sweepLogins(before: Fixture.start + .seconds(1), limit: 9)
        #expect(try await store.phoneLogin(.session(known.second.id))?.id == known.first.id)
    },
    StoreRule("ends from every side at once leave nothing of a phone login alive") { store in
        try await PhoneBrowserEnds.fromEverySide(in: store, rounds: 4)
    },
]

/// Ends of sessions that hang together, from all of them at once.
public enum PhoneBrowserEnds {
    /// Ends the sessions of a phone, of the browser that it has let in and of the apps of that browser, each in a call of its own,
    /// and expects that nothing is left.
    public static func fromEverySide(in store: any Store, rounds: Int) async throws {
        for round in 0..<rounds {
            let known = try await store.givenPhoneBrowser("user-\(round)")
            let sessions = known.byPhone + [known.typed, known.phone]
            _ = try await gather(sessions.count) { number in try await store.end(sessions[number], .loggedOut) }
            for session in sessions { #expect(try await store.reason(session) != nil) }
            #expect(try await store.phoneLogin(.id(known.first.id))?.state.outcome == .signedOut)
        }
    }

    /// A side from which the sessions of a phone login end.
    public enum Side: CaseIterable, Sendable { case session, browser, phone, act }

    /// Ends a phone login on one node, while another one exchanges a code of it after the sessions were locked, and expects that
    /// the session of this code has ended, too.
    public static func whileCodeIsExchanged(from side: Side, in store: any Store, on other: any Store) async throws {
        let known = try await store.givenPhoneBrowser()
        let exchange = BlockingExchange(of: known.waiting, phone: known.browser.phoneID, in: other)
        switch side {
        case .session: try await store.end(known.second, .notMe, after: exchange.run)
        case .browser: try await store.end(known.browser, .notMe, after: exchange.run)
        case .phone: try await store.end(known.phone, .loggedOut, after: exchange.run)
        case .act:
            _ = try await store.changeLogin(known.first.id, phone: known.phone.id) { change in
                exchange.run()
                return decideOnPhoneBrowser(.stop(isReport: true), &change)
            }
        }
        guard let made = try await exchange.session() else { return }
        #expect(try await store.reason(made) != nil, "\(side)")
    }
}

/// The exchange of a code, once, for as long as a transaction on another node waits for it.
private final class BlockingExchange: Sendable {
    private let code: [UInt8]
    private let phone: Identifier<Session>?
    private let store: any Store
    private let task = Locked<Task<Session?, any Error>?>(nil)

    init(of code: [UInt8], phone: Identifier<Session>?, in store: any Store) {
        (self.code, self.phone, self.store) = (code, phone, store)
    }

    /// Exchanges the code at the first call. An exchange that waits for the transaction itself is left to end after it.
    @Sendable func run() {
        let done = DispatchSemaphore(value: 0)
        let isFirst = task.withLock { task in
            if task != nil { return false }
            task = Task { [code, phone, store] in
                defer { done.signal() }
                let id = Identifier<Session>(bytes: code.prefix(16))
                return try await store.exchangedIfValid(code, of: try #require(id), phone: phone, device: "d-9")
            }
            return true
        }
        if isFirst { _ = done.wait(timeout: .now() + 5) }
    }

    /// The session; nil if the end came first and canceled the code, as on a machine that is slower than the wait above.
    func session() async throws -> Session? { try await task.withLock { $0 }?.value }
}
