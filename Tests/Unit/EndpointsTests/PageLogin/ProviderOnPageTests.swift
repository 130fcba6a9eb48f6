import Cryptography
import Federation
import HTTP
import HTTPClient
import HostileServer
import JSON
import Sessions
import Synchronization
import Telemetry
import Testing

@testable import Endpoints

/// The login at an identity provider, to which the login page leads, with a provider that does what a test wants.
@Suite struct ProviderOnPageTests {
    /// A client with a page that leads to the provider `acme`.
    struct Scene {
        let login: PageLoginFixture
        let provider: FakeProvider
        let browser: Browser
        var server: EndpointsFixture { login.server }

        /// What the browser brings to the provider.
        func go(_ changes: [String: String?] = [:], in other: Browser? = nil) async throws -> Redirect {
            let page = try await login.page(other ?? browser, changes)
            let path = try #require(page.providerPath)
            return try Redirect(await (other ?? browser).get(path))
        }

        /// The answer to a code: an ID token with the nonce of the request, and `claims`.
        func answer(_ request: Redirect, _ claims: String = "{}") throws {
            let nonce = request["nonce"] ?? ""
            var members = try StrictJSON.object(Array(claims.utf8))
            if members["nonce"] == nil { members["nonce"] = .string(nonce) }
            if members["aud"] == nil { members["aud"] = .string("web") }
            if members["auth_time"] == nil { members["auth_time"] = .integer(now) }
            let token = try provider.token(JSONValue.object(members).compactText ?? "", at: now)
            let text = #"{"access_token":"a","token_type":"Bearer","id_token":"\#(token)"}"#
            provider.change { $0.tokens = [.json(text)] }
        }

        private var now: Int64 { server.environment.now.load(ordering: .relaxed) }

        /// Comes back from the provider.
        func comeBack(
            _ request: Redirect, _ changes: [String: String?] = [:], in other: Browser? = nil
        ) async -> Answer {
            var answer = ["state": request["state"], "code": "c1"]
            for (name, value) in changes { answer[name] = value }
            return await (other ?? browser).get(
                "/login/callback?" + Browser.encoded(answer.compactMapValues { $0 }))
        }

        /// A whole login.
        func logIn(_ claims: String = "{}", _ changes: [String: String?] = [:]) async throws -> Answer {
            let request = try await go(changes)
            try answer(request, claims)
            return await comeBack(request)
        }

        var tokenRequests: [String] { provider.requests.filter { $0.hasPrefix("POST /token") } }
        func events(_ kind: String) async -> [String] {
            await server.admin(.get, "/admin/v1/events?limit=200").items.filter { $0.string("event") == kind }
                .compactMap { $0.string("reason") }
        }
    }

    static func with(
        _ more: String = "", _ change: (inout IdentityProvider.Redirect) -> Void = { _ in },
        _ body: (Scene) async throws -> Void
    ) async throws {
        let provider = FakeProvider()
        defer { provider.stop() }
        var configuration = provider.configuration
        var redirect = IdentityProvider.Redirect(clientID: "web", title: "Acme")
        redirect.clientSecret = "se cret"
        change(&redirect)
        configuration.redirect = redirect
        let providers = [configuration]
        try await PageLoginFixture.with(
            #","login_methods":["password","provider:acme","provider:gone"]\#(more)"#,
            identities: { clock, logger in
                IdentityProviders(
                    providers,
                    client: HTTPClient(HTTPClient.Options(connectDeadline: .seconds(2), deadline: .seconds(2))),
                    clock: clock, metrics: MetricsRegistry(), logger: logger)
            }
        ) { login in
            try await body(Scene(login: login, provider: provider, browser: Browser(login.server)))
        }
    }

    @Test func theRequestToTheProviderIsThatOfACarefulClient() async throws {
        try await Self.with { scene in
            let before = scene.login.writes
            let request = try await scene.go(["login_hint": "anna"])
            #expect(request.uri == scene.provider.issuer + "/authorize")
            #expect(request["response_type"] == "code")
            #expect(request["client_id"] == "web")
            #expect(request["redirect_uri"] == EndpointsFixture.issuer + "/login/callback")
            #expect(request["scope"] == "openid profile email")
            #expect(request["code_challenge_method"] == "S256")
            #expect(request["login_hint"] == "anna" && request["p"] == "1")
            // The client keeps no session in browsers, so that the provider has to ask.
            #expect(request["prompt"] == "login" && request["max_age"] == "0")
            #expect(scene.login.writes == before)
            try scene.answer(request)
            let code = try #require(Redirect(await scene.comeBack(request))["code"])
            let sent = try #require(scene.tokenRequests.first)
            #expect(sent.contains("Basic " + "d2ViOnNlJTIwY3JldA=="))
            let body = try #require(sent.components(after: "\r\n\r\n"))
            let form = Dictionary(
                try FormDecoder.decode(Array(body.utf8)).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            #expect(form["grant_type"] == "authorization_code" && form["code"] == "c1")
            #expect(form["redirect_uri"] == EndpointsFixture.issuer + "/login/callback")
            let verifier = try #require(form["code_verifier"])
            #expect(Base64URL.encode(sha256(Array(verifier.utf8))) == request["code_challenge"])
            #expect(await scene.login.exchange(code).status == 200)
        }
    }

    @Test func theFirstLoginMakesTheUserAndTheNextFindsIt() async throws {
        try await Self.with { scene in
            func user(_ claims: String) async throws -> (sub: JSONValue?, amr: JSONValue?) {
                let code = try #require(Redirect(try await scene.logIn(claims))["code"])
                let answer = await scene.login.exchange(code, ["device_id": "d-\(claims.utf8.count)"])
                let claims = try tokenParts(try #require(answer.string("id_token"))).claims
                return (claims["sub"], claims["amr"])
            }
            let first = try await user(#"{"email":"u@example.com","amr":["otp"]}"#)
            scene.server.moveClock(to: 10)
            let second = try await user("{}")
            #expect(first.sub == second.sub && first.sub != nil)
            #expect(first.amr == .array([.string("otp")]) && second.amr == nil)
            #expect(await scene.events("identity_linked") == ["acme"])
            #expect(await scene.events("login_approved") == ["provider:acme", "provider:acme"])
        }
    }

    @Test(
        "a hostile answer starts no session, and the page says so",
        arguments: [
            #"{"nonce":"other"}"#, #"{"nonce":null}"#, #"{"iss":"https://evil.example"}"#, #"{"aud":"app"}"#,
            #"{"exp":1}"#, #"{"auth_time":1}"#, #"{"sub":null}"#,
        ])
    func hostile(claims: String) async throws {
        try await Self.with { scene in
            let answer = try await scene.logIn(claims)
            #expect(answer.status == 422)
            #expect(answer.text.contains("did not sign you in"))
            #expect(await scene.events("login_approved").isEmpty)
            // There is a way on.
            let next = await scene.login.submit(scene.browser, try Page(answer))
            #expect(try Redirect(next)["code"] != nil)
        }
    }

    @Test func anAnswerComesBackInTheBrowserThatWasSent() async throws {
        try await Self.with { scene in
            let request = try await scene.go()
            try scene.answer(request)
            // A thief's answer in the browser of a victim, with and without a login page of its own.
            let victim = Browser(scene.server)
            for _ in 0..<2 {
                let answer = await scene.comeBack(request, in: victim)
                #expect(answer.status == 200 && answer.field("Location") == nil)
                #expect(answer.field("Set-Cookie") == nil)
                _ = try await scene.login.page(victim)
            }
            #expect(scene.tokenRequests.isEmpty)
            #expect(try Redirect(await scene.comeBack(request))["code"] != nil)
        }
    }

    @Test func aStateIsOfThisServerAndTimely() async throws {
        try await Self.with { scene in
            let page = try await scene.login.page(scene.browser)
            let request = try await scene.go()
            try scene.answer(request)
            let state = try #require(request["state"])
            let forged = state.dropLast(2) + (state.hasSuffix("AA") ? "BB" : "AA")
            for state in [nil, "x", page.request, String(forged)] {
                #expect(await scene.comeBack(request, ["state": state]).status == 400)
            }
            scene.server.moveClock(to: 3700)
            let late = await scene.comeBack(request)
            #expect(late.status == 200 && late.field("Location") == nil)
            #expect(scene.tokenRequests.isEmpty)
        }
    }

    @Test func anAnswerIsUsedOnce() async throws {
        try await Self.with { scene in
            let request = try await scene.go()
            try scene.answer(request)
            #expect(try Redirect(await scene.comeBack(request))["code"] != nil)
            // Even if the provider answers the code again.
            let again = await scene.comeBack(request)
            #expect(again.status == 422)
            #expect(await scene.events("login_failed") == ["id_token_replayed"])
            scene.provider.change { $0.tokens = [.json(#"{"error":"invalid_grant"}"#, status: 400)] }
            #expect(await scene.comeBack(request).status == 422)
            #expect(await scene.events("login_failed").last == "id_token_code")
        }
    }

    @Test func anErrorOfTheProviderIsShownWithAWayOn() async throws {
        try await Self.with { scene in
            let request = try await scene.go()
            for changes in [["error": "access_denied", "code": nil], ["error": "server_error"], ["code": nil]] {
                let answer = await scene.comeBack(request, changes)
                #expect(answer.status == 422)
                #expect(answer.text.contains("did not sign you in"))
                #expect(try Page(answer).providerPath != nil)
            }
            #expect(scene.tokenRequests.isEmpty)
            // A stranger can make such an answer up, so that it writes nothing.
            #expect(await scene.events("login_failed").isEmpty)
            // A provider that is away.
            scene.provider.change { $0.tokens = [.say("")] }
            #expect(await scene.comeBack(request).status == 422)
        }
    }

    @Test func theIssuerOfTheAnswerIsThatOfTheProvider() async throws {
        try await Self.with { scene in
            let request = try await scene.go()
            try scene.answer(request)
            #expect(await scene.comeBack(request, ["iss": "https://evil.example"]).status == 422)
            #expect(scene.tokenRequests.isEmpty)
            #expect(try Redirect(await scene.comeBack(request, ["iss": scene.provider.issuer]))["code"] != nil)
        }
        // A provider that promises it sends it.
        try await Self.with { scene in
            scene.provider.change { $0.moreDiscovery = #","authorization_response_iss_parameter_supported":true"# }
            let request = try await scene.go()
            try scene.answer(request)
            #expect(await scene.comeBack(request).status == 422)
            #expect(scene.tokenRequests.isEmpty)
        }
    }

    @Test func aProviderThatDoesNotAskIsFoundOut() async throws {
        let start = EndpointsFixture.start
        try await Self.with { scene in
            let old = try await scene.logIn(#"{"auth_time":\#(start - 61)}"#)
            #expect(old.status == 422)
            #expect(await scene.events("login_failed") == ["id_token_provider_did_not_ask"])
            let fresh = try Redirect(try await scene.logIn(#"{"auth_time":\#(start - 60)}"#))
            #expect(fresh["code"] != nil)
            // Without the claim the method is unknown: the trail says so.
            let silent = try Redirect(try await scene.logIn(#"{"auth_time":null,"jti":"2"}"#))
            #expect(silent["code"] != nil)
            #expect(await scene.events("login_approved").last == "provider:acme no_auth_time")
        }
        try await Self.with("", { $0.requiresAuthenticationTime = true }) { scene in
            let silent = try await scene.logIn(#"{"auth_time":null}"#)
            #expect(silent.status == 422)
        }
    }

    @Test func theClientTheRequestAndTheConfigurationDecideWhetherTheProviderAsks() async throws {
        // Where the browser may keep a session, so may the provider, unless the request demands a login.
        try await Self.with(#","browser_session":"client""#) { scene in
            let request = try await scene.go()
            #expect(request["prompt"] == nil && request["max_age"] == nil)
            try scene.answer(request, #"{"auth_time":1}"#)
            let answer = try Redirect(await scene.comeBack(request))
            #expect(answer["code"] != nil)
            let demanded = try await scene.go(["prompt": "login"])
            #expect(demanded["prompt"] == "login")
            let aged = try await scene.go(["max_age": "100"], in: Browser(scene.server))
            #expect(aged["prompt"] == nil && aged["max_age"] == "100")
        }
        try await Self.with(#","browser_session":"client""#) { scene in
            let aged = try await scene.go(["max_age": "100"])
            try scene.answer(aged, #"{"auth_time":\#(EndpointsFixture.start - 161)}"#)
            #expect(await scene.comeBack(aged).status == 422)
        }
        try await Self.with("", { $0.forcesLogin = false }) { scene in
            let request = try await scene.go()
            #expect(request["prompt"] == nil)
        }
    }

    @Test func onlyProvidersOfTheClientAreLedTo() async throws {
        try await Self.with { scene in
            let page = try await scene.login.page(scene.browser)
            #expect(!page.answer.text.contains("provider?name=gone"))
            for name in ["gone", "other", ""] {
                #expect(await scene.browser.get("/login/provider?name=\(name)&r=\(page.request)").status == 400)
            }
            // A link of another browser leads to the page, which binds it.
            let other = Browser(scene.server)
            let answer = await other.get(try #require(page.providerPath))
            #expect(answer.field("Location")?.hasPrefix(EndpointsFixture.issuer + "/login?r=") == true)
        }
    }
}

extension Page {
    /// The link to the first provider.
    var providerPath: String? {
        guard let start = answer.text.firstRange(of: "href=\"/login/provider?") else { return nil }
        return "/login/provider?" + answer.text[start.upperBound...].prefix { $0 != "\"" }.replacing("&amp;", with: "&")
    }
}

extension String {
    /// What follows the first occurrence of `mark`.
    fileprivate func components(after mark: String) -> String? {
        firstRange(of: mark).map { String(self[$0.upperBound...]) }
    }
}
