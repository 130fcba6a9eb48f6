import AdminActs
import HTTP
import JSON
import Locks
import Sessions
import Testing

@testable import Endpoints

/// The preset for apps that keep the tokens in their pages: what it makes, and what an injected script finds.
@Suite struct BrowserPresetTests {
    private static let page = "https://shop.example/"

    private static func members(_ more: [String: JSONValue] = [:]) throws -> String {
        let page = try #require(ClientPreset.members(ofPage: Self.page))
        let all = page.merging(ClientPreset.browser.values) { $1 }.merging(more) { $1 }
        return try #require(
            JSONValue.object(all.merging(["client_id": .string("shop-web")]) { $1 }).compactText)
    }

    /// Logs anna in on the login page, and gives `body` the answer with the tokens.
    private static func with(_ body: (EndpointsFixture, Prover, Tokens) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.makeClient(try members())
            let hosted = PageLoginFixture(server: server)
            let changes = ["client_id": "shop-web", "redirect_uri": page, "scope": "openid"]
            let code = try await hosted.code(nil, changes)
            let prover = Prover(server)
            prover.sign(.withNonce)
            defer { server.environment.edit.withLock { $0 = nil } }
            let answer = await hosted.exchange(code, ["client_id": "shop-web", "redirect_uri": page])
            try await body(server, prover, Tokens(answer))
        }
    }

    @Test("The URL of a page gives its redirect URI and its origin")
    func url() {
        func texts(_ url: String) -> [String?] {
            let members = ClientPreset.members(ofPage: url) ?? [:]
            return ["redirect_uris", "post_logout_redirect_uris", "allowed_origins"].map {
                members[$0]?.elements.first?.string
            }
        }
        let shop = "https://shop.example"
        #expect(texts(shop) == [Self.page, Self.page, shop])
        #expect(texts("https://shop.example/app/") == ["https://shop.example/app/", "https://shop.example/app/", shop])
        let local = "http://localhost:5173"
        #expect(texts(local) == [local + "/", local + "/", local])
        for url in ["shop.example", "http://shop.example", "null", "*", ""] {
            #expect(ClientPreset.members(ofPage: url) == nil, "\(url)")
        }
    }

    @Test("The preset makes a client with short lives, nonces and its origin, and without passwords and account")
    func members() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/clients", try Self.members())
            #expect(made.status == 201, "\(made.text)")
            #expect(made.strings("grant_types") == ["authorization_code", "refresh_token"])
            #expect(made.string("scope")?.contains(Scope.account) == false)
            #expect(made.string("dpop") == "nonce" && made.string("token_style") == "separate")
            #expect(made.integer("access_token_lifetime") == 900 && made.integer("refresh_after") == 600)
            #expect(made.integer("offline_session_idle") == 604_800 && made.integer("offline_session_max") == 2_592_000)
            #expect(made.string("browser_session") == "client")
            #expect(made.strings("allowed_origins") == ["https://shop.example"])
            let changed = await server.admin(.patch, "/admin/v1/clients/shop-web", #"{"token_style":"single"}"#)
            #expect(changed.status == 400 && changed.string("member") == "token_style", "\(changed.text)")
        }
    }

    @Test("A login on the page, a refresh and a call work with nonces, for as long as the preset says")
    func life() async throws {
        try await Self.with { server, _, tokens in
            #expect(tokens.answer.string("token_type") == "DPoP" && tokens.answer.integer("expires_in") == 900)
            server.moveClock(to: 600)
            let renewed = try Tokens(await server.refresh(tokens.refresh, more: "&client_id=shop-web"))
            #expect(renewed.refresh != tokens.refresh)
            let call = await server.call(.get, "/oauth/userinfo", fields: ["Authorization": "DPoP \(renewed.access)"])
            #expect(call.status == 200, "\(call.text)")
            server.moveClock(to: 600 + 604_801)
            let idle = await server.refresh(renewed.refresh, more: "&client_id=shop-web")
            #expect(idle.string("reason") == "idle_expired", "\(idle.text)")
        }
    }

    @Test("A verb that the client lacks is refused by the name of what is missing")
    func missing() async throws {
        try await Self.with { server, _, tokens in
            let login = await server.call(.post, "/v1/login", EndpointsFixture.loginBody(client: "shop-web"))
            #expect(login.word == "unauthorized_client" && login.string("detail")?.contains("login") == true)
            let grant = await server.form(
                "/oauth/token", "grant_type=password&client_id=shop-web&username=anna&password=x&device_id=a")
            #expect(grant.word == "unauthorized_client", "\(grant.text)")
            #expect(grant.string("error_description") == "The client may not do this: its grant_types lack password.")
            let devices = await server.call(
                .get, "/v1/me/devices", fields: ["Authorization": "DPoP \(tokens.access)"])
            #expect(devices.status == 403 && devices.word == "insufficient_scope", "\(devices.text)")
            #expect(devices.string("detail")?.contains("account") == true)
        }
    }
}
