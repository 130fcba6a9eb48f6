import HTTP
import Locks
import Sessions
import Testing
import WebAuthnFixture

@testable import Endpoints

/// `login_methods` binds every way in, and each way needs its grant.
@Suite struct LoginMethodTests {
    private static let words = Client.LoginMethod.withoutProviders + [.provider("acme"), .provider("globex")]

    /// The lists to try: none, each word alone, and all words but that of the way.
    private static func lists(for way: WayIn) -> [[Client.LoginMethod]?] {
        [nil] + words.map { [$0] } + [words.filter { $0 != way.method }]
    }

    private static func word(of answer: Answer) -> String? {
        answer.string("reason") ?? answer.string("code") ?? answer.string("error")
    }

    @Test("A way in opens a session if login_methods names its method, and otherwise none", arguments: WayIn.allCases)
    func methods(_ way: WayIn) async throws {
        try await WaysIn.with { ways in
            var count: Int64 = 0
            for list in Self.lists(for: way) {
                for moment in WaysIn.Moment.allCases {
                    try await ways.allow(moment == .before ? nil : way == .pagePhone ? [.phone] : nil)
                    count += 1
                    ways.server.moveClock(to: count * 400)
                    let answer = try await ways.go(way, device: "device-\(count)") { now in
                        if now == moment { try await ways.allow(list) }
                    }
                    let hasEntered = answer.string("access_token") != nil
                    // What the page does not offer can still be finished if it was begun.
                    let isTaken = moment == .meanwhile && list == nil || way.isTaken(with: list)
                    #expect(
                        hasEntered == isTaken, "\(list?.map(\.rawValue) ?? ["every way"]) \(moment): \(answer.text)")
                    if !hasEntered, moment == .meanwhile {
                        #expect(Self.word(of: answer) == "login_method_not_allowed", "\(answer.text)")
                    }
                    try await ways.allow(nil)
                }
            }
        }
    }

    @Test(
        "A way in needs its grant, at the first request and at the one that opens the session",
        arguments: WayIn.allCases)
    func grants(_ way: WayIn) async throws {
        try await WaysIn.with { ways in
            for (number, moment) in WaysIn.Moment.allCases.enumerated() {
                try await ways.allow(way == .pagePhone ? [.phone] : nil)
                let answer = try await ways.go(way, device: "device-\(number)") { now in
                    if now == moment { try await ways.giveGrants(without: way.grant ?? .login) }
                }
                let hasEntered = answer.string("access_token") != nil
                #expect(hasEntered == (way.grant == nil), "\(moment): \(answer.text)")
                try await ways.giveGrants()
            }
        }
    }

    @Test("Every method and every grant of a user has a way in here")
    func completeness() {
        // `EmailCodeTests` has the codes by mail, because no server here sends any.
        let shown = Set(Self.words).subtracting([.provider("globex"), .email])
        #expect(Set(WayIn.allCases.compactMap(\.method)) == shown)
        #expect(
            Set(WayIn.allCases.compactMap(\.grant)) == Set(Client.GrantType.allCases).subtracting([.clientCredentials]))
        for word in Self.words { #expect(Client.LoginMethod(rawValue: word.rawValue) == word) }
        for word in ["", "sms", "provider:", "provider:a b", "Password"] {
            #expect(Client.LoginMethod(rawValue: word) == nil)
        }
    }

    @Test("The transaction refuses by itself what the calls refuse before they hash a password")
    func transactions() async throws {
        try await WaysIn.with { ways in
            let services = ways.server.endpoints.services
            let request = SessionRequest(clientID: "shop", device: Device(id: "phone-7"))
            let user = try await services.login.user(
                named: "anna", by: .both, password: EndpointsFixture.password, on: request.device, for: "shop",
                from: .system)
            let credential = ways.authenticator.assert(try await ways.server.challenge())
            let proof = try await services.passkeys.verify(credential, from: .system)
            try await ways.allow([.invitation])
            await #expect(throws: ServiceError.loginMethodRefused(.password)) {
                _ = try await services.login.logIn(request, as: user, from: .system)
            }
            await #expect(throws: ServiceError.loginMethodRefused(.anonymous)) {
                _ = try await services.anonymousUsers.logIn(request, from: .system)
            }
            await #expect(throws: ServiceError.loginMethodRefused(.passkey)) {
                _ = try await services.passkeys.logIn(request, as: proof, from: .system)
            }
            try await ways.allow(nil)
            try await ways.giveGrants(without: .login)
            await #expect(throws: ServiceError.grantMissing(.login)) {
                _ = try await services.login.logIn(request, as: user, from: .system)
            }
            await #expect(throws: ServiceError.grantMissing(.login)) {
                _ = try await services.passkeys.logIn(request, as: proof, from: .system)
            }
        }
    }

    @Test("A password that a client does not take is not hashed, and the answer says the method")
    func words() async throws {
        try await WaysIn.with { ways in
            try await ways.allow([.passkey])
            let hashes = ways.server.environment.hashes.withLock { $0.count }
            for way in [WayIn.passwordInJSON, .passwordGrant] {
                let answer = try await ways.go(way, device: "phone-8") { _ in }
                let text = answer.string("detail") ?? answer.string("error_description")
                #expect(text == "The client takes no logins by password: its login_methods say by what.")
                #expect(answer.status == (way == .passwordInJSON ? 403 : 400))
                #expect(answer.string("error") == (way == .passwordInJSON ? nil : "unauthorized_client"))
            }
            #expect(ways.server.environment.hashes.withLock { $0.count } == hashes)
        }
    }

    @Test("A new client has the grant login unless it names its grants or authenticates")
    func defaults() async throws {
        try await EndpointsFixture.with { server in
            for (members, grants) in [
                ("", ["refresh_token", "login"]), (#","grant_types":["refresh_token"]"#, ["refresh_token"]),
                (#","token_endpoint_auth_method":"client_secret_basic""#, ["refresh_token"]),
            ] {
                let made = await server.admin(.post, "/admin/v1/clients", #"{"client_id":"c"\#(members)}"#)
                #expect(made.strings("grant_types") == grants && made.names.contains("login_methods") == false)
                _ = await server.admin(.delete, "/admin/v1/clients/c")
            }
            #expect(
                await server.admin(.get, "/admin/v1/clients/mobile").strings("grant_types") == [
                    "refresh_token", "login",
                ])
        }
    }

    @Test("Without login_methods the page has every way but the phone, and with them those alone")
    func page() async throws {
        try await WaysIn.with { ways in
            let marks: [(method: Client.LoginMethod, mark: String)] = [
                (.password, "name=\"password\""), (.passkey, "data-options="), (.phone, "action=\"/login/phone\""),
                (.provider("acme"), "name=acme"), (.provider("globex"), "name=globex"),
            ]
            let lists: [[Client.LoginMethod]?] = [
                nil, [.password], [.passkey, .phone], [.provider("globex")], [.invitation],
            ]
            for list in lists {
                try await ways.allow(list)
                let browser = Browser(ways.server)
                let asked = await browser.get(PageLoginFixture.url())
                let page = await browser.get(try #require(asked.field("Location")))
                for (method, mark) in marks {
                    let isThere = list?.contains(method) ?? (method != .phone)
                    #expect(page.text.contains(mark) == isThere, "\(list?.map(\.rawValue) ?? []) \(method)")
                }
            }
        }
    }

    @Test("The session of a browser answers for a provider only the clients that take this provider")
    func browserSessions() async throws {
        try await WaysIn.with { ways in
            let server = ways.server
            let shared = #"{"browser_session":"shared","login_methods":["password","provider:acme"]}"#
            #expect(await server.admin(.patch, "/admin/v1/clients/shop", shared).status == 200)
            for (id, methods) in [
                ("same", #"["provider:acme"]"#), ("other", #"["provider:globex","password"]"#), ("any", "null"),
            ] {
                _ = try await server.makeClient(
                    #"{"client_id":"\#(id)","grant_types":["authorization_code","refresh_token"],"scope":"openid","#
                        + #""redirect_uris":["com.example.app:/callback"],"browser_session":"shared","#
                        + #""login_methods":\#(methods)}"#)
            }
            let browser = Browser(server)
            let scene = ProviderOnPageTests.Scene(login: ways.hosted, provider: ways.provider, browser: browser)
            #expect(try Redirect(try await scene.logIn())["code"] != nil)
            for (id, isAnswered) in [("same", true), ("other", false), ("any", true)] {
                let url = PageLoginFixture.url(["client_id": id, "scope": "openid", "prompt": "none"])
                let answer = try Redirect(await browser.get(url))
                #expect((answer["code"] != nil) == isAnswered, "\(id)")
                #expect(answer["error"] == (isAnswered ? nil : "login_required"), "\(id)")
            }
        }
    }
}
