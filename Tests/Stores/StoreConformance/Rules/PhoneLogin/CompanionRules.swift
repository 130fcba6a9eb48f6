import Sessions
import Testing

extension Store {
    /// A browser with the sessions of two apps that began in it, and one login whose code waits.
    fileprivate func givenBrowser() async throws -> (browser: Session, apps: [Session], code: [UInt8]) {
        let user = try await given(Fixture.user())
        _ = try await updateCatalogue { change in
            for id in [Client.browserID, "web", "shop"] {
                change.change(id) { client in
                    var made = Client(id: id, createdAt: Fixture.start, epoch: 1)
                    if id != Client.browserID { made.grantTypes = [.authorizationCode, .refreshToken] }
                    client.client = made
                }
            }
        }
        let browser = try await given(Fixture.session(of: user.id, client: Client.browserID, device: "b"))
        var apps: [Session] = []
        for (number, client) in [(UInt8(1), "web"), (2, "shop"), (3, "web")] {
            let login = Fixture.login(number, of: user.id, client: client, browser: browser.id)
            let done: Void? = try await approveLogin(
                by: .user(user.id), clientID: client, using: nil, browser: nil
            ) { $0.login = login }
            #expect(done != nil)
            if number == 3 { return (browser, apps, [UInt8](repeating: 3, count: 32)) }
            let session = Fixture.session(of: user.id, client: client, device: "d", id: login.id)
            _ = try await exchangeCode([UInt8](repeating: number, count: 32), deviceID: "d") { exchange in
                exchange.opening.session = session
                exchange.login.codeUsedAt = Fixture.start
            }
            apps.append(session)
        }
        throw Unexpected("no login")
    }

    fileprivate func reason(_ session: Session) async throws -> EndReason? {
        try await stored(session.id).ending?.reason
    }

    fileprivate func end(_ session: Session, _ reason: EndReason) async throws {
        let done: Void? = try await updateSessionAndCompanions(session.id, by: Fixture.admin) { change in
            change.session.end(reason, at: Fixture.start)
            change.events.append(AuditEvent(.sessionEnded, at: Fixture.start, by: Fixture.admin, session: session))
        }
        #expect(done != nil)
    }

    fileprivate func ends(of client: String) async throws -> [Identifier<Session>?] {
        try await sessionEnds(ofClient: client, after: 0, limit: 9).map(\.event.sessionID)
    }
}

/// What ends together: a browser's session and those of the apps that began in it.
let companionRules: [StoreRule] = [
    StoreRule("an app's end ends the browser's session in the same transaction, and no other app") { store in
        let (browser, apps, _) = try await store.givenBrowser()
        try await store.end(apps[0], .refreshTokenReused)
        #expect(try await store.reason(apps[0]) == .refreshTokenReused)
        #expect(try await store.reason(browser) == .refreshTokenReused)
        #expect(try await store.reason(apps[1]) == nil)
        #expect(try await store.ends(of: "web") == [apps[0].id])
        #expect(try await store.ends(of: Client.browserID) == [browser.id])
        #expect(try await store.ends(of: "shop") == [])
    },
    StoreRule("the end of a browser's session ends each of its apps, and cancels the codes that wait") { store in
        let (browser, apps, code) = try await store.givenBrowser()
        #expect(try await store.exchangeCode(code, deviceID: "d", { _ in true }) == true)
        try await store.end(browser, .loggedOut)
        for session in [browser] + apps { #expect(try await store.reason(session) == .loggedOut) }
        #expect(try await store.exchangeCode(code, deviceID: "d", { _ in true }) == nil)
        #expect(try await store.ends(of: "web") == [apps[0].id])
        #expect(try await store.ends(of: "shop") == [apps[1].id])
    },
    StoreRule("a session that a login continues and the browser of that login end together, from both sides") { store in
        let (browser, _, code) = try await store.givenBrowser()
        let known = try await store.given(Fixture.session(of: browser.userID, client: "web", device: "phone"))
        func goOn() async throws {
            let done = try await store.exchangeCode(code, deviceID: "phone") { exchange in
                exchange.opening.continued = exchange.opening.previous
                exchange.login.codeUsedAt = Fixture.start
                exchange.login.continuedID = exchange.opening.previous?.id
                return exchange.opening.previous?.id == known.id
            }
            #expect(done == true)
        }
        #expect(try await !store.hasDependents(known.id))
        try await goOn()
        #expect(try await store.hasDependents(known.id))
        try await store.end(browser, .loggedOut)
        #expect(try await store.reason(known) == .loggedOut)
    },
    StoreRule("the end of a session that a login has continued ends the browser's") { store in
        let (browser, apps, code) = try await store.givenBrowser()
        let known = try await store.given(Fixture.session(of: browser.userID, client: "web", device: "phone"))
        _ = try await store.exchangeCode(code, deviceID: "phone") { exchange in
            exchange.opening.continued = exchange.opening.previous
            exchange.login.codeUsedAt = Fixture.start
            exchange.login.continuedID = exchange.opening.previous?.id
        }
        try await store.end(known, .refreshTokenReused)
        #expect(try await store.reason(browser) == .refreshTokenReused)
        #expect(try await store.reason(apps[1]) == nil)
    },
    StoreRule("neither the clock nor a session in place of another ends companions") { store in
        let (browser, apps, _) = try await store.givenBrowser()
        try await store.end(apps[0], .idleExpired)
        try await store.end(browser, .replaced)
        #expect(try await store.reason(apps[0]) == .idleExpired)
        #expect(try await store.reason(browser) == .replaced)
        #expect(try await store.reason(apps[1]) == nil)
    },
    StoreRule("a change of the user that ends the sessions of one client ends their browsers', but not the asker's") {
        store in
        let (browser, apps, _) = try await store.givenBrowser()
        _ = try await store.updateUser(.id(browser.userID)) { change in
            change.ending = .init(.revokedByUser, at: Fixture.start, except: browser.id, clientID: "web")
        }
        #expect(try await store.reason(apps[0]) == .revokedByUser)
        #expect(try await store.reason(browser) == nil)
        #expect(try await store.reason(apps[1]) == nil)
        _ = try await store.updateUser(.id(browser.userID)) { change in
            change.ending = .init(.revokedByUser, at: Fixture.start, clientID: "shop")
        }
        #expect(try await store.reason(apps[1]) == .revokedByUser)
        #expect(try await store.reason(browser) == .revokedByUser)
    },
    StoreRule("the deletion of a user ends all of them, each with its event") { store in
        let (browser, apps, _) = try await store.givenBrowser()
        _ = try await store.updateUser(.id(browser.userID)) { change in
            change.deletes = true
            change.events = [AuditEvent(.userDeleted, at: Fixture.start, by: Fixture.admin, userID: browser.userID)]
        }
        for session in [browser] + apps { #expect(try await store.reason(session) == .userDeleted) }
        #expect(try await store.ends(of: "web") == [apps[0].id])
        // What the token of the end has to name is still there.
        #expect(try await store.login(apps[0].id) != nil)
    },
    StoreRule("a code that is used twice ends the browser's session") { store in
        let (browser, apps, _) = try await store.givenBrowser()
        _ = try await store.exchangeCode([UInt8](repeating: 1, count: 32), deviceID: "d") { exchange in
            exchange.ending = Session.Ending(reason: .codeReused, at: Fixture.start)
        }
        #expect(try await store.reason(apps[0]) == .codeReused)
        #expect(try await store.reason(browser) == .codeReused)
    },
    StoreRule("a provider that no longer confirms an app's session ends the browser's") { store in
        let (browser, apps, _) = try await store.givenBrowser()
        let done: Void? = try await store.updateProviderCheck(apps[0].id) { change in
            change.session.end(.revokedByProvider, at: Fixture.start)
        }
        #expect(done != nil)
        #expect(try await store.reason(apps[0]) == .revokedByProvider)
        #expect(try await store.reason(browser) == .revokedByProvider)
    },
    StoreRule("the ends of a client come in the order of the trail, after a cursor, and nothing else") { store in
        let user = try await store.given(Fixture.user())
        var sessions: [Session] = []
        for number in 0..<5 {
            sessions.append(Fixture.session(of: user.id, client: number == 2 ? "shop" : "web", device: "d\(number)"))
        }
        for session in sessions {
            try await store.append([
                AuditEvent(.sessionStarted, at: Fixture.start, by: Fixture.admin, session: session),
                AuditEvent(.sessionEnded, at: Fixture.start, by: Fixture.admin, session: session, reason: "logged_out"),
            ])
        }
        let first = try await store.sessionEnds(ofClient: "web", after: 0, limit: 2)
        #expect(first.map(\.event.sessionID) == [sessions[0].id, sessions[1].id])
        let rest = try await store.sessionEnds(ofClient: "web", after: first[1].id, limit: 9)
        #expect(rest.map(\.event.sessionID) == [sessions[3].id, sessions[4].id])
        #expect(try await store.sessionEnds(ofClient: "we", after: 0, limit: 9).isEmpty)
    },
    StoreRule("the logins of a client that gets logout tokens are kept as long as their sessions and tombstones") {
        store in
        let (browser, apps, _) = try await store.givenBrowser()
        try await store.end(browser, .loggedOut)
        _ = try await store.updateCatalogue { change in
            change.change("web") { $0.client?.page.backchannelLogoutURI = "https://web.example/out" }
        }
        // That of `shop` and the code that was never exchanged.
        #expect(try await store.sweepLogins(before: Fixture.start + .seconds(1), limit: 9).deleted == 2)
        #expect(try await store.login(apps[0].id) != nil)
        #expect(try await store.login(apps[1].id) == nil)
    },
]
