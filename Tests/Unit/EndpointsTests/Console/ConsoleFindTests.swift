import HTTP
import Sessions
import Testing

@testable import Endpoints

/// What the console finds, and what it says of a pasted token.
@Suite struct ConsoleFindTests {
    @Test func namesAndIDsLeadToTheThing() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#)
            for text in ["anna", " ANNA ", tokens.userID, "anna@example.org"] {
                #expect(try await browser.find(text).words.contains("User anna"), "\(text)")
            }
            #expect(
                try await browser.find(tokens.sessionID).words.contains("Session of anna (\(tokens.userID)) on phone-1")
            )
        }
    }

    /// Logs, headers and databases write the same in other ways.
    @Test func whatIsCopiedElsewhereIsFound() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            var groups = tokens.sessionID.uppercased()
            for place in [8, 13, 18, 23] { groups.insert("-", at: groups.index(groups.startIndex, offsetBy: place)) }
            for text in [tokens.sessionID.uppercased(), groups, "\"\(groups)\""] {
                #expect(
                    try await browser.find(text).words.contains("Session of anna (\(tokens.userID)) on phone-1"),
                    "\(text)")
            }
            for text in [
                "authorization: bearer \(tokens.access)", "Authorization:DPoP  \(tokens.access)", "'\(tokens.access)'",
                "BEARER \(tokens.access)",
            ] { #expect(try await browser.find(text).words.contains("Its session is active"), "\(text.prefix(24))") }
            #expect(try await browser.find("mobile").words.contains("Client mobile"))
            let kid = try #require(Administration(server.context).signingKeys().first?.id)
            let key = try #require(try await server.store.adminKeys().first?.id)
            for id in [kid, key] { #expect(try await browser.find(id).words.contains("Signing keys")) }
            let long = try await browser.find(String(repeating: "x", count: 8193))
            #expect(long.status == 404 && long.words.contains("This is too long for a name"))
        }
    }

    @Test func aLoginLeadsToItsUser() async throws {
        try await PageLoginFixture.with { login in
            let browser = ConsoleBrowser(login.server)
            try await browser.enter()
            let code = try await login.code()
            #expect(try await browser.find(code).words.contains("A code of the login"))
            let event = try #require(
                await login.server.admin(.get, "/admin/v1/events").items.last { $0.string("event") == "login_approved" }
            )
            #expect(try await browser.find(try #require(event.string("session_id"))).words.contains("User anna"))
        }
    }

    @Test("the beginning of a username is enough, and a telephone number is found as a whole")
    func beginningsAndNumbersAreFound() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"Annabel","phone_number":"+433161234"}"#)
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"Zoe","phone_number":"+43 316 (99)"}"#)
            for text in ["annab", "+433161234", "+43 316/12-34"] {
                #expect(try await browser.find(text).words.contains("User Annabel ("), "\(text)")
            }
            #expect(try await browser.find("+43 316 (99)").words.contains("User Zoe ("))
            let both = try await browser.find("AN")
            #expect(both.status == 200 && both.words.contains("2 users are like AN."))
            #expect(both.words.contains("anna (") && both.words.contains("Annabel ("))
            for text in ["nnab", "+43 316 9999", "316 1234", "316"] {
                #expect(try await browser.find(text).status == 404, "\(text)")
            }
        }
    }

    @Test func whatIsNotFoundIsLookedForFurther() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            _ = try await server.logIn(device: "tablet-9")
            let answer = try await browser.find("nn")
            #expect(
                answer.status == 404
                    && answer.words.contains("No user, session, login, client or key has the name or id nn."))
            #expect(await browser.get("/console/users?q=nn").words.contains("anna"))
            #expect(await browser.get("/console/users?q=nobody").words.contains("No user has this"))
            let login = try #require(await server.admin(.get, "/admin/v1/events").items.last)
            let id = try #require(login.string("request_id"))
            #expect(await browser.get("/console/events?request=\(id)").words.contains("session started"))
            #expect(await browser.get("/console/events?device=tablet-9").words.contains("session started"))
            #expect(await browser.get("/console/events?device=x").words.contains("No event here matches."))
        }
    }

    @Test func aRefreshTokenIsExplained() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            let words = try await browser.find("Bearer \(tokens.refresh)").words
            #expect(words.contains("Number 1, the newest refresh token of its session."))
            #expect(words.contains("the same refresh token again, number 1, with a new access token"))
            server.moveClock(to: 200)
            #expect(try await browser.find(tokens.refresh).words.contains("a new refresh token, number 2"))
            let second = try Tokens(await server.refresh(tokens.refresh))
            #expect(try await browser.find(tokens.refresh).words.contains("the parent of the newest"))
            #expect(try await browser.find(tokens.refresh).words.contains("a lost answer logs nobody out"))
            server.moveClock(to: 400)
            _ = await server.refresh(second.refresh)
            #expect(try await browser.find(tokens.refresh).words.contains("taken for a stolen copy"))
            // To ask spends nothing.
            #expect(await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)").string("ended_reason") == nil)
            _ = await server.admin(.delete, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(try await browser.find(tokens.refresh).words.contains("an admin ended it"))
        }
    }

    @Test func anAccessTokenIsExplained() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            #expect(
                try await browser.find(tokens.access).words.contains(
                    "Its session is active, so that the token is accepted."))
            _ = await server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
            #expect(try await browser.find(tokens.access).words.contains("the token is refused"))
            _ = await server.admin(.post, "/admin/v1/users/username:anna/revoke", "{}")
            let words = try await browser.find(tokens.access).words
            #expect(words.contains("Its session has ended") && words.contains("feed of revocations"))
            let altered = String(tokens.access.dropLast(6)) + "AAAAAA"
            #expect(try await browser.find(altered).words.contains("this server has not made it"))
        }
    }

    @Test func otherSecretsAreExplained() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            #expect(try await browser.find(server.adminKey).words.contains("The admin key test"))
            let secret = try #require(
                try await server.makeClient(
                    #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic"}"#))
            #expect(try await browser.find(secret).words.contains("The secret of the client api"))
            let reset = try #require(
                await server.admin(.post, "/admin/v1/users/username:anna/password-reset").string("reset_token"))
            #expect(try await browser.find(reset).words.contains("It can be used."))
            server.moveClock(to: 3600)
            _ = try await browser.enter()
            #expect(try await browser.find(reset).words.contains("has expired"))
            for text in ["sjr_x", "sja_x", "sjc_x", "sjv_x", "sjb_x", "eyJ.x.y"] {
                #expect(try await browser.find(text).words.contains("Not of this server"), "\(text)")
            }
        }
    }

    /// A token in a URL would stay in the history, and one on the page in a cache.
    @Test func aPastedTokenIsNotShownAgain() async throws {
        try await ConsoleBrowser.with(.read) { browser, server in
            let tokens = try await server.logIn()
            for token in [tokens.refresh, tokens.access, server.adminKey, "sjr_unknown"] {
                let answer = try await browser.act(await browser.get("/console"), "/console/find", ["q": token])
                #expect(answer.field("Location") == nil && !answer.text.contains(token))
                #expect(answer.field("Cache-Control") == "no-store")
            }
        }
    }
}
