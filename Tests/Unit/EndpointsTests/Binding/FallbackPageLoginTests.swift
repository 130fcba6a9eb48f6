import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Biometry is locked, and the user logs in on the server's page: the session of the app and its keys go on.
@Suite struct FallbackPageLoginTests {
    private static let scope = ["scope": "openid read account"]
    private static let shared = #","browser_session":"shared""#

    /// An app in the mode `BIOMETRIC`. Its presence key has signed.
    private struct GuardedApp {
        let hosted: PageLoginFixture
        let finger = ProvingDevice(.eddsa)
        let tokens: Tokens
        var server: EndpointsFixture { hosted.server }

        init(
            _ hosted: PageLoginFixture, mode: String = "BIOMETRIC", browser: Browser? = nil,
            scope: [String: String?] = FallbackPageLoginTests.scope
        ) async throws {
            self.hosted = hosted
            var changes: [String: String?] = ["authentication_mode": mode]
            if mode == "BIOMETRIC" { changes["presence_key"] = finger.jwk }
            let code = try await hosted.code(browser, scope)
            tokens = try Tokens(await hosted.exchange(code, changes))
            guard mode == "BIOMETRIC" else { return }
            let shown = await hosted.server.call(
                .post, "/v1/me/presence", #"{"user_assertion":"\#(finger.assertion(hosted.server, tokens))"}"#,
                bearer: tokens.access)
            #expect(shown.status == 200, "\(shown.text)")
        }

        /// Exchanges a code, and names the session.
        func goOn(
            _ code: String, _ changes: [String: String?] = [:], fields: Fields = Fields()
        ) async -> Answer {
            let named: [String: String?] = ["session_id": tokens.sessionID]
            return await hosted.exchange(code, named.merging(changes) { $1 }, fields: fields)
        }

        /// Why the session has ended; nil: it goes on.
        func ending() async -> String? {
            await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)").string("ended_reason")
        }
    }

    @Test("the session, its start and its keys go on, and the ID token names it") func theSessionGoesOn() async throws {
        try await PageLoginFixture.with { hosted in
            let app = try await GuardedApp(hosted)
            let end = app.tokens.answer.integer("session_expires_at")
            hosted.server.moveClock(to: 5000)
            let answer = await app.goOn(
                try await hosted.code(nil, Self.scope), ["authentication_mode": "PASSWORD"])
            #expect(answer.status == 200 && answer.string("session_id") == app.tokens.sessionID, "\(answer.text)")
            #expect(answer.integer("session_expires_at") == end)
            #expect(answer.string("authentication_mode") == "PASSWORD")
            let claims = try Answer.claims(of: try #require(answer.string("id_token")))
            #expect(claims.string("sid") == app.tokens.sessionID)
            #expect(claims.integer("auth_time") == EndpointsFixture.start + 5000)
            let access = try #require(answer.string("access_token"))
            #expect(try Answer.claims(of: access).string("acr") == "password")
            // The key of before leads back to biometry.
            let touch = app.finger.assertion(hosted.server, app.tokens)
            let back = await hosted.server.call(
                .put, "/v1/me/authentication-mode",
                #"{"authentication_mode":"BIOMETRIC","user_assertion":"\#(touch)"}"#, bearer: access)
            #expect(back.status == 200, "\(back.text)")
            let events = await hosted.server.admin(.get, "/admin/v1/events").items.compactMap { $0.string("event") }
            #expect(events.contains("session_continued") && !events.contains("session_ended"), "\(events)")
        }
    }

    @Test("a second use of the code ends the session that it has continued") func aSecondUseEndsIt() async throws {
        try await PageLoginFixture.with(Self.shared) { hosted in
            let app = try await GuardedApp(hosted)
            let browser = Browser(hosted.server)
            let code = try await hosted.code(browser, Self.scope)
            let token = try #require(await app.goOn(code).string("refresh_token"))
            #expect(await hosted.server.refresh(token, more: "&client_id=shop").status == 200)
            #expect(await app.goOn(code).string("error") == "invalid_grant")
            let refused = await hosted.server.refresh(token, more: "&client_id=shop")
            #expect(refused.string("reason") == "code_reused", "\(refused.text)")
            // The browser of the login asks again.
            let silent = try Redirect(await browser.get(PageLoginFixture.url(["prompt": "none"])))
            #expect(silent["error"] == "login_required")
        }
    }

    @Test("the answer to a lost exchange comes again, until its session was used", arguments: [false, true])
    func aLostAnswerComesAgain(isRefreshed: Bool) async throws {
        try await PageLoginFixture.with { hosted in
            let app = try await GuardedApp(hosted)
            hosted.server.moveClock(to: 400)
            let rotated = await hosted.server.refresh(app.tokens.refresh, more: "&client_id=shop")
            #expect(rotated.status == 200)
            hosted.server.moveClock(to: 600)
            let (code, key) = (try await hosted.code(nil, Self.scope), ["Idempotency-Key": "k-1"] as Fields)
            let first = try Tokens(await app.goOn(code, fields: key))
            #expect(first.sessionID == app.tokens.sessionID)
            hosted.server.moveClock(to: 610)
            if isRefreshed {
                hosted.server.moveClock(to: 625)
                // Not a rotation, but its holder has the answer.
                #expect(await hosted.server.refresh(first.refresh, more: "&client_id=shop").status == 200)
            }
            let again = await app.goOn(code, fields: key)
            #expect(again.string("session_id") == (isRefreshed ? nil : first.sessionID), "\(again.text)")
            #expect(again.string("refresh_token") == (isRefreshed ? nil : first.refresh))
            #expect(await app.ending() == (isRefreshed ? "code_reused" : nil))
        }
    }

    @Test("the app's logout ends the browser's session of the login too") func theLogoutReachesTheBrowser() async throws
    {
        try await PageLoginFixture.with(Self.shared) { hosted in
            let app = try await GuardedApp(hosted)
            let browser = Browser(hosted.server)
            let answer = await app.goOn(try await hosted.code(browser, Self.scope))
            #expect(answer.string("session_id") == app.tokens.sessionID)
            func silent() async throws -> Redirect {
                try Redirect(await browser.get(PageLoginFixture.url(["prompt": "none"])))
            }
            #expect(try await silent()["code"] != nil)
            #expect(await hosted.server.call(.post, "/v1/logout", bearer: app.tokens.access).status == 204)
            #expect(try await silent()["error"] == "login_required")
        }
    }

    /// What a login does that begins anew although it names the session.
    enum Other: CaseIterable {
        case device, presenceKey, scope, ended
    }

    @Test(
        "a login with another device, key or scope, or after the end, begins a new session", arguments: Other.allCases)
    func whatIsNotTheSameBeginsAnew(_ other: Other) async throws {
        try await PageLoginFixture.with { hosted in
            let app = try await GuardedApp(hosted)
            var (changes, scope): ([String: String?], [String: String?]) = ([:], Self.scope)
            switch other {
            case .device: changes["device_id"] = "phone-2"
            case .presenceKey:
                changes = ["authentication_mode": "BIOMETRIC", "presence_key": ProvingDevice().jwk]
            case .scope: scope["scope"] = "openid read account email"
            case .ended: _ = await hosted.server.admin(.delete, "/admin/v1/sessions/\(app.tokens.sessionID)")
            }
            let answer = await app.goOn(try await hosted.code(nil, scope), changes)
            #expect(answer.status == 200 && answer.string("session_id") != app.tokens.sessionID, "\(answer.text)")
            let reason = other == .device ? nil : other == .ended ? "revoked_by_admin" : "replaced"
            #expect(await app.ending() == reason)
        }
    }

    @Test("a browser that answers without the user proves nothing of the user", arguments: ["NO", "PASSWORD"])
    func anAnswerWithoutTheUser(_ mode: String) async throws {
        try await PageLoginFixture.with(Self.shared) { hosted in
            let browser = Browser(hosted.server)
            let app = try await GuardedApp(hosted, mode: mode, browser: browser)
            hosted.server.moveClock(to: 600)
            let silent = try Redirect(await browser.get(PageLoginFixture.url(["scope": "openid read account"])))
            let answer = await app.goOn(try #require(silent["code"]))
            #expect(answer.status == 200, "\(answer.text)")
            let claims = try Answer.claims(of: try #require(answer.string("access_token")))
            #expect(claims.integer("auth_time") == EndpointsFixture.start)
            // The mode `PASSWORD` takes the password of this login alone.
            #expect((answer.string("session_id") == app.tokens.sessionID) == (mode == "NO"))
        }
    }

    @Test("a browser that answers without the user changes no mode", arguments: ["BIOMETRIC", "NO"])
    func aSilentAnswerChangesNoMode(_ mode: String) async throws {
        try await PageLoginFixture.with(Self.shared) { hosted in
            let browser = Browser(hosted.server)
            let app = try await GuardedApp(hosted, browser: browser)
            hosted.server.moveClock(to: 600)
            let silent = try Redirect(await browser.get(PageLoginFixture.url(["scope": "openid read account"])))
            let answer = await app.goOn(try #require(silent["code"]), ["authentication_mode": mode])
            #expect(answer.status == 200, "\(answer.text)")
            #expect((answer.string("session_id") == app.tokens.sessionID) == (mode == "BIOMETRIC"))
            #expect(await app.ending() == (mode == "BIOMETRIC" ? nil : "replaced"))
        }
    }

    @Test("a login with a phone never continues a session") func aPhoneBeginsAnew() async throws {
        try await PhonePageFixture.with { page, phone in
            let hosted = page.hosted
            // All that the page asks for is what the session has.
            let app = try await GuardedApp(hosted, scope: ["scope": "openid email read account"])
            try await page.approveByScan(phone)
            let code = try #require(Redirect(await page.finish())["code"])
            let answer = await app.goOn(code)
            #expect(answer.status == 200 && answer.string("session_id") != app.tokens.sessionID, "\(answer.text)")
            #expect(await app.ending() == "replaced")
        }
    }

    @Test("a login without the phone never continues a session that depends on a phone") func aBoundSessionBeginsAnew()
        async throws
    {
        try await PhonePageFixture.with { page, phone in
            let hosted = page.hosted
            try await page.approveByScan(phone)
            let bound = try Tokens(await hosted.exchange(try #require(Redirect(await page.finish())["code"])))
            let answer = await hosted.exchange(try await hosted.code(), ["session_id": bound.sessionID])
            #expect(answer.status == 200 && answer.string("session_id") != bound.sessionID, "\(answer.text)")
            let old = await hosted.server.admin(.get, "/admin/v1/sessions/\(bound.sessionID)")
            #expect(old.string("ended_reason") == "replaced")
        }
    }

    @Test("a check with prompt=none joins the session that a login in the browser has continued")
    func aCheckJoinsTheContinuedSession() async throws {
        try await PageLoginFixture.with(Self.shared) { hosted in
            let app = try await GuardedApp(hosted, mode: "NO")
            let browser = Browser(hosted.server)
            let continued = await app.goOn(try await hosted.code(browser, Self.scope))
            #expect(continued.string("session_id") == app.tokens.sessionID, "\(continued.text)")
            hosted.server.moveClock(to: 900)
            let check = PageLoginFixture.url(Self.scope.merging(["prompt": "none"]) { $1 })
            let code = try #require(try Redirect(await browser.get(check))["code"])
            let answer = await hosted.exchange(code, ["device_id": nil])
            #expect(answer.string("session_id") == app.tokens.sessionID, "\(answer.text)")
            #expect(answer.status == 200 && answer.string("refresh_token") == nil)
        }
    }
}
