import HTTP
import Locks
import Sessions
import Testing

@testable import Endpoints

/// A browser after its user has paused logins, or half an hour after its last use: "Sign out" ends its session as in any other,
/// and its pages change nothing but the switch.
struct PausedBrowserTests {
    private static let shared = #","browser_session":"shared""#

    /// What keeps the session of a browser from opening anything.
    enum Rest: CaseIterable {
        case paused, pausedOnExpiry, idle, disabled

        fileprivate func begin(_ account: AccountPages) async throws {
            switch self {
            case .idle: account.server.moveClock(to: 1800)
            case .disabled:
                let answer = await account.server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
                #expect(answer.status == 200, "\(answer.text)")
            case .paused, .pausedOnExpiry:
                let page = try await account.open("/account/security")
                let effective = self == .paused ? "immediate" : "on_expiry"
                _ = try await account.act("/account/logins", of: page, ["pause": "1", "effective": effective])
            }
        }
    }

    @Test(
        "A browser at rest is signed out with the apps that began in it, and not only loses its cookie",
        arguments: Rest.allCases)
    func signsOut(_ rest: Rest) async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let account = AccountPages(login.server)
            let tokens = try Tokens(await login.exchange(try await login.code(account.browser)))
            try await rest.begin(account)
            let question = await account.browser.get("/oauth/logout?client_id=shop")
            #expect(question.text.contains("anna"), "\(question.text)")
            let page = try Page(question)
            let answer = await account.browser.post(
                "/oauth/logout", ["r": page.request.htmlDecoded, "csrf": page.csrf])
            #expect(answer.text.contains("You are signed out"), "\(answer.text)")
            #expect(account.browser.cookies[AccountPages.cookie] == nil)
            let session = await login.server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == "logged_out", "\(session.text)")
        }
    }

    @Test("The page of a paused user signs out by its own button")
    func buttonOfThePage() async throws {
        try await PageLoginFixture.with(Self.shared) { login in
            let account = AccountPages(login.server)
            let tokens = try Tokens(await login.exchange(try await login.code(account.browser)))
            try await Rest.paused.begin(account)
            let page = try await account.open("/account/security")
            let answer = try await account.send("/oauth/logout", of: page, [:])
            #expect(answer.text.contains("You are signed out"), "\(answer.text)")
            let session = await login.server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(session.string("ended_reason") == "logged_out", "\(session.text)")
        }
    }

    @Test(
        "A page that a phone has let in hears no end when its user pauses, and hears that of an admin's",
        arguments: [true, false])
    func followedPage(_ isOwnSwitch: Bool) async throws {
        try await PhonePageFixture.with(PhoneBrowserTests.shared) { waiting, phone in
            let server = waiting.server
            try await waiting.approveByScan(phone)
            _ = try Redirect(try await waiting.finish())
            let answer =
                isOwnSwitch
                ? await server.call(.put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: phone.access)
                : await server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
            #expect(answer.status == 200, "\(answer.text)")
            let cookie = try #require(waiting.browser.cookies[AccountPages.cookie])
            let request = Request(
                .get, "/account/events",
                fields: ["Cookie": "\(AccountPages.cookie)=\(cookie)", "Accept": "text/event-stream"], body: [])
            let caller = Caller(remoteAddress: "192.0.2.1", listener: .public, isSecure: true)
            guard case .streaming(let reply) = server.endpoints.reply(to: request, from: caller),
                case .stream(let stream) = await reply.respond()
            else { throw CancellationError() }
            let reader = RevocationTests.Reader()
            let reading = Task { await stream.produce(reader) }
            let watch = server.endpoints.services.phoneLogins.watch
            func isEnded() -> Bool { reader.text.withLock { $0.contains("event: ended") } }
            while watch.waitingCount == 0, !isEnded() { await Task.yield() }
            #expect(isEnded() == !isOwnSwitch)
            reading.cancel()
            await reading.value
        }
    }

    @Test(
        "Without a way to log in on the pages a user does not pause there, whatever providers there are",
        arguments: ["immediate", "on_expiry"], [true, false])
    func wayBack(_ effective: String, _ hasPasskey: Bool) async throws {
        try await WaysIn.with { ways in
            let server = ways.server
            let user = "/admin/v1/users/username:anna"
            let linked = await server.admin(.put, user + "/identities", #"{"provider":"acme","subject":"a1"}"#)
            #expect(linked.status < 300, "\(linked.text)")
            let account = AccountPages(server)
            let page = try await account.open("/account/security")
            let id = try #require(Identifier<User>(ways.phone.userID))
            _ = try await server.store.updateUser(.id(id)) { $0.user.passwordHash = nil }
            if !hasPasskey {
                for passkey in try await server.store.passkeys(of: id) {
                    #expect(try await server.store.deletePasskey(passkey.id, of: id, events: []))
                }
            }
            let answer = try await account.send(
                "/account/logins", of: page, ["pause": "1", "effective": effective])
            #expect(answer.status == (hasPasskey ? 303 : 409), "\(answer.text)")
            #expect(answer.text.contains("Without a password or a passkey") == !hasPasskey)
            #expect(
                try await server.store.user(.id(id))?.disabledByUser?.effective.rawValue
                    == (hasPasskey ? effective : nil))
        }
    }

    @Test(
        "A kept browser gets its cookie anew with the first page after it was closed, which took the cookie of its forms"
    )
    func renewedCookie() async throws {
        try await EndpointsFixture.with { server in
            let account = AccountPages(server)
            _ = try await account.open(more: ["remember": "1"])
            server.moveClock(to: EndpointsFixture.day)
            account.browser.plant("__Host-sojourn-flow", "")
            let cookies = await account.browser.get("/account").response.fields.values("Set-Cookie")
            #expect(cookies.contains { $0.hasPrefix("__Host-sojourn-flow=") })
            #expect(
                cookies.contains { $0.hasPrefix(AccountPages.cookie) && $0.hasSuffix("Max-Age=1209600") }, "\(cookies)")
        }
    }

    @Test(
        "The lists have a browser for half an hour after its use, and one that is kept as long as it lives",
        arguments: [false, true])
    func listed(_ isKept: Bool) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn(device: #"phone-1","name":"Phone"#)
            let (account, other) = (AccountPages(server), AccountPages(server))
            _ = try await account.open(more: isKept ? ["remember": "1"] : [:])
            for (time, isListed) in [(1799, true), (1800, isKept)] as [(Int64, Bool)] {
                server.moveClock(to: time)
                // The phone and the first browser, beside this one.
                let count = isListed ? 2 : 1
                #expect(try await other.open(more: ["remember": "1"]).sessions.count == count)
                let devices = await server.call(.get, "/v1/me/devices", bearer: phone.access).items
                #expect(devices.count == count + 1)
            }
            #expect(await account.browser.get("/account").status == (isKept ? 200 : 303))
        }
    }
}
