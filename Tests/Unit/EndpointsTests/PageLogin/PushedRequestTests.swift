import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Pushed authorization requests (RFC 9126).
@Suite struct PushedRequestTests {
    private func push(
        _ login: PageLoginFixture, _ changes: [String: String?] = [:], basic: String? = nil, fields: Fields = Fields()
    ) async -> Answer {
        await login.server.form(
            "/oauth/par", Browser.encoded(PageLoginFixture.parameters(changes)), basic: basic, fields: fields)
    }

    private func start(_ answer: Answer, client: String = PageLoginFixture.clientID) throws -> String {
        let uri = try #require(answer.string("request_uri"), "\(answer.text)")
        return "/oauth/authorize?client_id=\(client)&request_uri=\(PercentEncoding.encode(uri))"
    }

    @Test func aPushedRequestIsStartedByItsName() async throws {
        try await PageLoginFixture.with(#","require_pushed_authorization_requests":true"#) { login in
            let before = login.writes
            let answer = await push(login)
            #expect(answer.status == 201)
            #expect(answer.integer("expires_in") == 90)
            #expect(answer.string("request_uri")?.hasPrefix("urn:ietf:params:oauth:request_uri:") == true)
            #expect(login.writes == before)
            let browser = Browser(login.server)
            let url = try start(answer)
            // Parameters beside it mean nothing.
            let location = try #require(
                await browser.get(url + "&scope=admin&redirect_uri=https://evil.example").field("Location"))
            // The page can be opened again until the login is complete.
            _ = try Page(await browser.get(try #require(await browser.get(url).field("Location"))))
            let page = try Page(await browser.get(location))
            let code = try #require(try Redirect(await login.submit(browser, page))["code"])
            #expect(await login.exchange(code).status == 200)
            // Then it is spent, for a page that is still open too.
            let late = try Page(await browser.get(try #require(await browser.get(url).field("Location"))))
            #expect(try Redirect(await login.submit(browser, late))["error"] == "invalid_request_uri")
        }
    }

    @Test("a form that a browser sends twice gets one code; a used one, another form and another user get none")
    func aFormSentTwice() async throws {
        try await PageLoginFixture.with(#","browser_session":"client""#) { login in
            let browser = Browser(login.server)
            let url = try start(await push(login))
            let location = try #require(await browser.get(url).field("Location"))
            let (page, other) = (try Page(await browser.get(location)), try Page(await browser.get(location)))
            let first = try #require(try Redirect(await login.submit(browser, page))["code"])
            let before = login.writes
            let wrong = await login.submit(browser, page, password: "wrong horse")
            #expect(wrong.status == 422)
            #expect(try Redirect(await login.submit(browser, page))["code"] == first)
            #expect(try Redirect(await login.submit(browser, other))["error"] == "invalid_request_uri")
            #expect(login.writes <= before + 2, "no more than the count of wrong passwords, and its end")
            #expect(await login.exchange(first).status == 200)
            #expect(try Redirect(await login.submit(browser, page))["error"] == "invalid_request_uri")
        }
    }

    @Test("a form of any other request that is sent again gets the same code, until the app has used it")
    func anyFormSentTwice() async throws {
        try await PageLoginFixture.with(#","browser_session":"client""#) { login in
            let browser = Browser(login.server)
            let page = try await login.page(browser)
            let first = try #require(try Redirect(await login.submit(browser, page))["code"])
            let cookies = browser.cookies
            let wrong = await login.submit(browser, page, password: "wrong horse")
            #expect(wrong.status == 422)
            let second = try Redirect(await login.submit(browser, page))
            #expect(second["code"] == first && browser.cookies == cookies, "one session of the browser")
            #expect(await login.exchange(first).status == 200)
            let third = try #require(try Redirect(await login.submit(browser, page))["code"])
            #expect(third != first)
            #expect(await login.exchange(third).status == 200)
            // After the use of its code a form gets another one each time.
            let fourth = try #require(try Redirect(await login.submit(browser, page))["code"])
            #expect(fourth != third && fourth != first)
        }
    }

    @Test func itsNameIsGoodForNinetySeconds() async throws {
        try await PageLoginFixture.with { login in
            let url = try start(await push(login))
            // What the page carries is no name, or each page would be a new beginning.
            let location = try #require(await Browser(login.server).get(url).field("Location"))
            let carried = try #require(location.split(separator: "/login?r=").last)
            let again = await Browser(login.server).get(
                "/oauth/authorize?client_id=shop&request_uri=urn:ietf:params:oauth:request_uri:\(carried)")
            #expect(again.status == 400 && again.field("Location") == nil)
            login.server.moveClock(to: 89)
            #expect(await Browser(login.server).get(url).field("Location")?.contains("/login?r=") == true)
            login.server.moveClock(to: 90)
            let answer = try Redirect(await Browser(login.server).get(url))
            #expect(answer["error"] == "invalid_request_uri" && answer["state"] == "a b&c=d")
        }
    }

    @Test func itIsOfOneClient() async throws {
        try await PageLoginFixture.with { login in
            let answer = await push(login)
            for client in ["mobile", "nobody", ""] {
                let other = await Browser(login.server).get(try start(answer, client: client))
                #expect(other.status == 400 && other.field("Location") == nil)
            }
            // A page's sealed request is no pushed one.
            let page = try await login.page(Browser(login.server))
            let forged = await Browser(login.server).get(
                "/oauth/authorize?client_id=shop&request_uri=urn:ietf:params:oauth:request_uri:\(page.request)")
            #expect(forged.status == 400 && forged.field("Location") == nil)
        }
    }

    @Test(
        arguments: [
            (["client_id": "nobody"], 401, "invalid_client"),
            (["redirect_uri": "https://evil.example"], 400, "invalid_request"),
            (["redirect_uri": nil], 400, "invalid_request"),
            (["request_uri": "urn:x"], 400, "request_uri_not_supported"),
            (["scope": "admin"], 400, "invalid_scope"), (["response_type": "token"], 400, "unsupported_response_type"),
            (["code_challenge": nil], 400, "invalid_request"),
            (["state": String(repeating: "s", count: 4000)], 400, "invalid_request"),
        ] as [([String: String?], Int, String)])
    func aWrongRequestIsRefused(_ changes: [String: String?], _ status: Int, _ error: String) async throws {
        try await PageLoginFixture.with { login in
            let answer = await push(login, changes)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.string("error") == error, "\(answer.text)")
        }
    }

    @Test func aConfidentialClientAuthenticates() async throws {
        try await PageLoginFixture.with { login in
            let secret = try #require(
                try await login.server.makeClient(
                    #"""
                    {"client_id":"web","token_endpoint_auth_method":"client_secret_basic","scope":"openid email read",
                     "grant_types":["authorization_code","refresh_token"],"redirect_uris":["com.example.app:/callback"]}
                    """#))
            #expect(await push(login, ["client_id": "web"]).string("error") == "invalid_client")
            let answer = await push(login, ["client_id": nil], basic: "web:\(secret)")
            #expect(answer.status == 400, "the form needs the client too: \(answer.text)")
            #expect(await push(login, ["client_id": "web"], basic: "web:\(secret)").status == 201)
        }
    }

    @Test func aProofBindsTheCode() async throws {
        try await PageLoginFixture.with { login in
            let (device, thief) = (ProvingDevice(), ProvingDevice())
            let mixed = await push(
                login, ["dpop_jkt": thief.thumbprint], fields: ["DPoP": device.proof(login.server, .post, "/oauth/par")]
            )
            #expect(mixed.string("error") == "invalid_request")
            let answer = await push(login, fields: ["DPoP": device.proof(login.server, .post, "/oauth/par")])
            let browser = Browser(login.server)
            let page = try Page(await browser.get(try #require(await browser.get(try start(answer)).field("Location"))))
            let code = try #require(try Redirect(await login.submit(browser, page))["code"])
            let stolen = await login.exchange(
                code, fields: ["DPoP": thief.proof(login.server, .post, "/oauth/token")])
            #expect(stolen.string("error") == "invalid_grant")
            let own = await login.exchange(
                code, fields: ["DPoP": device.proof(login.server, .post, "/oauth/token")])
            #expect(own.status == 200)
        }
    }
}
