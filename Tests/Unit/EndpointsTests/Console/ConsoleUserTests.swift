import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What the pages of users and sessions show and do.
@Suite struct ConsoleUserTests {
    /// The last event, as kind, actor and reason.
    private func lastEvent(_ server: EndpointsFixture, _ kind: String) async throws -> Answer {
        try #require(await server.admin(.get, "/admin/v1/events?limit=200").items.last { $0.string("event") == kind })
    }

    private func keyID(_ server: EndpointsFixture) async throws -> String {
        try #require(try await server.store.adminKeys().first { $0.name == "Grace <b>" }).id
    }

    @Test func loginsAreDisabledAndEnabled() async throws {
        try await ConsoleBrowser.with(.support) { browser, server in
            let tokens = try await server.logIn()
            let path = "/console/users/\(tokens.userID)"
            let page = await browser.get(path)
            #expect(page.words.contains("Disable logins …") && page.words.contains("sojourn user revoke anna"))
            #expect(page.words.contains("curl -X POST http://localhost:8081/admin/v1/users/\(tokens.userID)/revoke"))
            let disabled = try await browser.follow(
                page, path, ["act": "disable", "reason": "lost & <found>", "effective": "on_expiry"])
            #expect(disabled.words.contains("Logins are disabled. 0 sessions ended."))
            #expect(disabled.words.contains("by admin key Grace <b>"))
            #expect(disabled.words.contains("“lost & <found>”") && disabled.words.contains("work until they expire"))
            let event = try await lastEvent(server, "logins_disabled")
            #expect(event.string("actor") == "admin:\(try await keyID(server))" && event.string("request_id") != nil)
            #expect(await server.refresh(tokens.refresh).status == 400)
            let enabled = try await browser.follow(disabled, path, ["act": "enable"])
            #expect(enabled.words.contains("Logins are enabled again."))
            #expect(await server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test("The page says where names, address and password come from")
    func sources() async throws {
        try await ConsoleBrowser.with { browser, server in
            let tokens = try await server.logIn()
            let page = await browser.get("/console/users/\(tokens.userID)")
            #expect(page.words.contains("username: admin, e-mail: admin, password: admin, access: admin"))
        }
    }

    @Test func aValueThatIsRefusedIsSaid() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let answer = try await browser.act(
                await browser.get(path), path, ["act": "disable", "reason": String(repeating: "x", count: 2000)])
            #expect(answer.status == 422 && answer.words.contains("reason must have 1 to 1024 bytes"))
        }
    }

    @Test func sessionsEndOneByOneAndAllTogether() async throws {
        try await ConsoleBrowser.with(.support) { browser, server in
            let (one, two) = (try await server.logIn(), try await server.logIn(device: "tablet"))
            let session = "/console/sessions/\(one.sessionID)"
            let page = await browser.get(session)
            #expect(page.words.contains("Log anna (\(one.userID)) out on phone-1?"))
            #expect(page.words.contains("sojourn session end \(one.sessionID)"))
            let ended = try await browser.follow(page, session, ["act": "end"])
            #expect(ended.words.contains("The session is over.") && ended.words.contains("It ended"))
            #expect(ended.words.contains("It was admin key Grace <b>"))
            #expect(try await lastEvent(server, "session_ended").string("actor") == "admin:\(try await keyID(server))")
            let user = "/console/users/\(one.userID)"
            let revoked = try await browser.follow(await browser.get(user), user, ["act": "revoke"])
            #expect(revoked.words.contains("1 session ended."))
            #expect(await server.refresh(two.refresh).status == 400)
            #expect(revoked.words.contains("No session on this page is active."))
        }
    }

    @Test func aLinkForANewPasswordIsShownOnce() async throws {
        try await ConsoleBrowser.with { browser, server in
            let path = "/console/users/" + (try await server.logIn().userID)
            let answer = try await browser.act(await browser.get(path), path, ["act": "reset"])
            let token = try #require(
                answer.words.firstMatch(of: #/https:\/\/login\.example\/reset#(sjv_[A-Za-z0-9_-]+)/#)?.1)
            #expect(answer.status == 200 && answer.field("Cache-Control") == "no-store")
            let set = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"a new long word"}"#)
            #expect(set.status == 204)
            #expect(!(await browser.get(path)).text.contains(token))
        }
    }

    /// A scope sees the acts that it may do and no others, and cannot do them by hand either.
    @Test(arguments: [AdminKey.Scope.read, .support]) func aScopeSeesWhatItMayDo(_ scope: AdminKey.Scope) async throws {
        try await ConsoleBrowser.with(scope) { browser, server in
            let tokens = try await server.logIn()
            let (user, session) = ("/console/users/\(tokens.userID)", "/console/sessions/\(tokens.sessionID)")
            let pages = [await browser.get(user), await browser.get(session)]
            let isSupport = scope == .support
            for page in pages { #expect(page.text.contains("<details class=\"act\">") == isSupport) }
            #expect(!pages[0].words.contains("Link for a new password"))
            if isSupport {
                let answer = try await browser.act(pages[0], user, ["act": "reset"])
                #expect(answer.status == 403 && answer.words.contains("needs an admin key with the scope owner"))
            } else {
                for path in [user, session] {
                    let answer = await browser.post(path, ["act": "end", "csrf": "x"])
                    #expect(answer.status == 403 && answer.words.contains("needs an admin key with the scope support"))
                }
            }
            #expect(await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)").string("ended_reason") == nil)
        }
    }

    @Test("a session shows its PIN, which support removes") func pin() async throws {
        try await ConsoleBrowser.with(.support) { browser, server in
            let tokens = try await server.logIn()
            let path = "/console/sessions/\(tokens.sessionID)"
            #expect(!(await browser.get(path)).words.contains("PIN"))
            let set = await server.call(
                .put, "/v1/me/pin",
                #"{"pin":"\#(String(repeating: "A", count: 43))","password":"\#(EndpointsFixture.password)"}"#,
                bearer: tokens.access)
            #expect(set.status == 200, "\(set.text)")
            let page = await browser.get(path)
            #expect(page.words.contains("3 wrong ones left"), "\(page.words)")
            #expect(page.words.contains("sojourn session remove-pin \(tokens.sessionID)"))
            let removed = try await browser.follow(page, path, ["act": "remove-pin"])
            #expect(removed.words.contains("The session has no PIN."), "\(removed.words)")
            #expect(await server.call(.get, "/v1/me/pin", bearer: tokens.access).status == 404)
        }
    }

    @Test func aSessionSaysWhyItEndedAndWhatToDo() async throws {
        try await ConsoleBrowser.with { browser, server in
            let tokens = try await server.logIn(more: "")
            server.moveClock(to: 15 * EndpointsFixture.day)
            try await browser.enter()
            let words = await browser.get("/console/sessions/\(tokens.sessionID)").words
            #expect(
                words.contains("idle expired. The device did not refresh for longer than offline_session_idle allows."))
            #expect(words.contains("Change it for everyone"))
            let user = await browser.get("/console/users/\(tokens.userID)")
            #expect(user.words.contains("idle expired"))
        }
    }

    @Test func aSessionSaysWhatTheNextRefreshAnswers() async throws {
        try await ConsoleBrowser.with { browser, server in
            let tokens = try await server.logIn()
            server.moveClock(to: 300)
            _ = await server.refresh(tokens.refresh)
            let page = await browser.get("/console/sessions/\(tokens.sessionID)")
            #expect(page.words.contains("refreshes with the newest one: the same refresh token again, number 2"))
            #expect(page.words.contains("sends the one before: the newest refresh token again, number 2"))
            #expect(page.words.contains("not refreshed for 14 days: by the settings."))
            #expect(page.words.contains("in any case after 180 days: by the settings (offline_session_max)."))
            #expect(page.text.contains("<svg"))
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"offline_session_max":864000}"#)
            #expect(
                await browser.get("/console/sessions/\(tokens.sessionID)").words.contains(
                    "10 days: by the user's own maximum."))
        }
    }

    @Test func aDeletedUserIsStillFound() async throws {
        try await ConsoleBrowser.with { browser, server in
            let tokens = try await server.logIn()
            _ = await server.admin(.delete, "/admin/v1/users/username:anna")
            #expect(await browser.get("/console/users/\(tokens.userID)").words.contains("The user was deleted."))
            #expect(await browser.get("/console/sessions/\(tokens.sessionID)").words.contains("user deleted"))
            #expect(await browser.get("/console/users/\(String(repeating: "0", count: 32))").status == 404)
            #expect(await browser.get("/console/sessions/x").status == 404)
        }
    }

    @Test func placesComeFromAddresses() async throws {
        try await ConsoleBrowser.with { browser, server in
            let tokens = try await server.logIn()
            #expect(await browser.get("/console/users/\(tokens.userID)").words.contains("Graz <b>, Austria"))
        }
    }
}
