import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The exchange of codes (RFC 6749 section 4.1.3), and what a thief of a code can do with it.
@Suite struct CodeTests {
    private func expectInvalid(_ answer: Answer, _ note: String = "") {
        #expect(answer.status == 400, "\(note) \(answer.text)")
        #expect(answer.string("error") == "invalid_grant", "\(note) \(answer.text)")
    }

    @Test(
        arguments: [
            ["code": "sjc_unknown"], ["code": "x"], ["code": ""], ["client_id": "other"],
            ["redirect_uri": "http://127.0.0.1/cb"],
            ["redirect_uri": "com.example.app:/callback/"], ["redirect_uri": nil], ["code_verifier": nil],
            ["code_verifier": String(repeating: "a", count: 43)], ["code_verifier": PageLoginFixture.verifier + "a"],
            ["code_verifier": String(PageLoginFixture.verifier.dropLast())],
            ["code_verifier": PageLoginFixture.challenge],
            ["session_id": "x"],
        ] as [[String: String?]])
    func aWrongRequestUsesNothingUp(_ changes: [String: String?]) async throws {
        try await PageLoginFixture.with { login in
            _ = try await login.server.makeClient(
                #"{"client_id":"other","grant_types":["authorization_code","refresh_token"],"redirect_uris":["com.example.app:/callback"]}"#
            )
            let code = try await login.code()
            let answer = await login.exchange(code, changes)
            let isMissing = changes.values.contains { $0 == nil || $0 == "" } || changes["session_id"] != nil
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.string("error") == (isMissing ? "invalid_request" : "invalid_grant"), "\(answer.text)")
            // The client that asked for the code still gets its session.
            let tokens = try Tokens(await login.exchange(code))
            // And a wrong request afterwards ends nothing.
            _ = await login.exchange(code, changes)
            #expect(await login.server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func aCodeLivesForAMinute() async throws {
        try await PageLoginFixture.with { login in
            let (first, second) = (try await login.code(), try await login.code())
            login.server.moveClock(to: 59)
            #expect(await login.exchange(first).status == 200)
            login.server.moveClock(to: 60)
            expectInvalid(await login.exchange(second))
        }
    }

    @Test func aSecondUseEndsTheSession() async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let tokens = try Tokens(await login.exchange(code))
            expectInvalid(await login.exchange(code))
            let refused = await login.server.refresh(tokens.refresh)
            #expect(refused.string("reason") == "code_reused")
            #expect(refused.bool("reauthenticate") == true)
            let feed = await login.server.admin(.get, "/admin/v1/revocations").items
            #expect(feed.map { $0.string("reason") } == ["code_reused"])
            // A third use finds nothing to end.
            expectInvalid(await login.exchange(code))
            #expect(await login.server.admin(.get, "/admin/v1/revocations").items.count == 1)
        }
    }

    @Test func aLostAnswerIsGivenAgain() async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let key: Fields = ["Idempotency-Key": "k-1"]
            let first = try Tokens(await login.exchange(code, fields: key))
            login.server.moveClock(to: 29)
            let second = try Tokens(await login.exchange(code, fields: key))
            #expect(first.sessionID == second.sessionID && first.refresh == second.refresh)
            #expect(second.answer.string("id_token") != nil)
            #expect(await login.server.refresh(second.refresh).status == 200)
        }
    }

    /// Any other request that knows the verifier, or comes later, is not that request.
    @Test(arguments: ["another key", "no key", "later", "after a refresh", "a client that pushes"])
    func onlyTheSameRequestConverges(_ way: String) async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let tokens = try Tokens(await login.exchange(code, fields: ["Idempotency-Key": "k-1"]))
            var fields: Fields = ["Idempotency-Key": "k-1"]
            switch way {
            case "another key": fields = ["Idempotency-Key": "k-2"]
            case "no key": fields = Fields()
            case "later": login.server.moveClock(to: 30)
            case "after a refresh":
                login.server.moveClock(to: 1)
                _ = await login.server.refresh(tokens.refresh)
            default:
                let changed = await login.server.admin(
                    .patch, "/admin/v1/clients/shop", #"{"require_pushed_authorization_requests":true}"#)
                #expect(changed.status == 200)
            }
            expectInvalid(await login.exchange(code, fields: fields), way)
            #expect(await login.server.refresh(tokens.refresh).string("reason") == "code_reused", "\(way)")
        }
    }

    @Test func aFirstUseWithoutAKeyNeverConverges() async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let tokens = try Tokens(await login.exchange(code))
            expectInvalid(await login.exchange(code, fields: ["Idempotency-Key": "k"]))
            #expect(await login.server.refresh(tokens.refresh).string("reason") == "code_reused")
        }
    }

    @Test func aCodeIsBoundToAKey() async throws {
        try await PageLoginFixture.with { login in
            let (device, thief) = (ProvingDevice(), ProvingDevice())
            let code = try await login.code(nil, ["dpop_jkt": device.thumbprint])
            expectInvalid(await login.exchange(code))
            expectInvalid(
                await login.exchange(code, fields: ["DPoP": thief.proof(login.server, .post, "/oauth/token")]))
            let answer = await login.exchange(
                code, fields: ["DPoP": device.proof(login.server, .post, "/oauth/token")])
            #expect(answer.string("token_type") == "DPoP", "\(answer.text)")
            let claims = try Answer.claims(of: try #require(answer.string("access_token")))
            #expect(claims.string("cnf", "jkt") == device.thumbprint)
            // Another key with the right verifier and Idempotency-Key is not the same request.
            let again = await login.exchange(
                code, fields: ["DPoP": thief.proof(login.server, .post, "/oauth/token")])
            expectInvalid(again)
        }
    }

    @Test func theAppBringsItsDeviceAndKeys() async throws {
        try await PageLoginFixture.with { login in
            let changed = await login.server.admin(
                .patch, "/admin/v1/clients/shop",
                #"{"grant_types":["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:jwt-bearer"]}"#
            )
            #expect(changed.status == 200)
            let (device, finger) = (ProvingDevice(), ProvingDevice())
            let answer = await login.exchange(
                try await login.code(),
                [
                    "device_id": "phone-9", "device_name": "Zoë", "device_key": device.jwk, "presence_key": finger.jwk,
                    "authentication_mode": "BIOMETRIC",
                ])
            #expect(answer.string("device_id") == "phone-9")
            #expect(answer.string("authentication_mode") == "BIOMETRIC")
            let session = await login.server.admin(
                .get, "/admin/v1/sessions/\(answer.string("session_id") ?? "")")
            #expect(session.status == 200)
            #expect(session.string("device_name") ?? session.string("device", "name") == "Zoë", "\(session.text)")
        }
    }

    /// What ends the sessions of the user, or keeps the user out, cancels the codes that wait.
    @Test(arguments: [
        (Method.post, "/admin/v1/users/username:anna/revoke", "{}"), (.post, "/admin/v1/revoke-all", "{}"),
        (.delete, "/admin/v1/users/username:anna", ""), (.delete, "/admin/v1/clients/shop", ""),
        (.put, "/admin/v1/users/username:anna/password", #"{"new_password":"another long one"}"#),
    ])
    func anEndOfAllSessionsCancelsCodes(_ method: Method, _ path: String, _ body: String) async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let answer = await login.server.admin(method, path, body.isEmpty ? nil : body)
            #expect((200..<300).contains(answer.status), "\(answer.text)")
            let refused = await login.exchange(code)
            #expect((400...401).contains(refused.status))
            #expect(["invalid_grant", "invalid_client"].contains(refused.string("error")), "\(refused.text)")
        }
    }

    @Test func aDisabledUserGetsNoSession() async throws {
        try await PageLoginFixture.with { login in
            let code = try await login.code()
            let disabled = await login.server.admin(
                .post, "/admin/v1/users/username:anna/disable", #"{"effective":"immediate"}"#)
            #expect(disabled.status == 200)
            let answer = await login.exchange(code)
            #expect(answer.string("reason") == "login_disabled_by_admin", "\(answer.text)")
        }
    }

    @Test func aConfidentialClientAuthenticates() async throws {
        try await PageLoginFixture.with { login in
            let secret = try #require(
                try await login.server.makeClient(
                    #"""
                    {"client_id":"web","token_endpoint_auth_method":"client_secret_basic","scope":"openid read","resources":["https://a.example","https://b.example"],
                     "grant_types":["authorization_code","refresh_token"],"redirect_uris":["https://web.example/cb"]}
                    """#))
            let changes = ["client_id": "web", "redirect_uri": "https://web.example/cb", "scope": "openid read"]
            let code = try await login.code(nil, changes.mapValues { $0 })
            let bare = await login.exchange(code, changes.mapValues { $0 })
            #expect(bare.string("error") == "invalid_client")
            let right = ["client_id": nil, "redirect_uri": "https://web.example/cb"]
            let answer = await login.exchange(code, right, basic: "web:\(secret)")
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    /// RFC 8707 section 2.2: the token is for some of the APIs, the session for all of them.
    @Test func resourcesAreThoseOfTheRequest() async throws {
        try await PageLoginFixture.with(#","resources":["https://a.example","https://b.example"]"#) { login in
            let browser = Browser(login.server)
            let url = PageLoginFixture.url() + "&resource=https://a.example&resource=https://b.example"
            let location = try #require(await browser.get(url).field("Location"))
            let answer = await login.submit(browser, try Page(await browser.get(location)))
            let code = try #require(try Redirect(answer)["code"])
            #expect(await login.exchange(code, ["resource": "https://c.example"]).string("error") == "invalid_target")
            let tokens = try Tokens(await login.exchange(code, ["resource": "https://a.example"]))
            #expect(try Answer.claims(of: tokens.access).string("aud") == "https://a.example")
            let other = await login.server.refresh(tokens.refresh, more: "&resource=https://b.example")
            let access = try #require(other.string("access_token"))
            #expect(try Answer.claims(of: access).string("aud") == "https://b.example")
        }
    }
}
