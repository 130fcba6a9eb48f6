import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Redirect URIs: which can be registered, and which a request may name.
@Suite struct RedirectURITests {
    @Test(arguments: [
        ("https://app.example/cb", "https://app.example/cb", true),
        ("https://app.example/cb", "https://app.example/cb/", false),
        ("https://app.example/cb", "https://app.example/cb/../evil", false),
        ("https://app.example/cb", "https://app.example/cbx", false),
        ("https://app.example/cb", "https://app.example/c", false),
        ("https://app.example/cb", "https://app.example/CB", false),
        ("https://app.example/cb", "https://APP.example/cb", false),
        ("https://app.example/cb", "https://app.example:443/cb", false),
        ("https://app.example/cb", "http://app.example/cb", false),
        ("https://app.example/cb", "https://app.example/cb?x=1", false),
        ("https://app.example/cb", "https://app.example/cb#f", false),
        ("https://app.example/cb", "https://app.example/%63b", false),
        ("https://app.example/cb", "https://user@app.example/cb", false),
        ("https://app.example/cb", "https://app.example@evil.example/cb", false),
        ("https://app.example/cb", "https://app.example\\.evil.example/cb", false),
        ("https://app.example/cb", "https://app.example.evil.example/cb", false),
        ("https://app.example/cb", " https://app.example/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:50000/cb", true),
        ("http://127.0.0.1:8080/cb", "http://127.0.0.1/cb", true),
        ("http://[::1]/cb", "http://[::1]:50000/cb", true),
        ("http://localhost/cb", "http://localhost:1/cb", true),
        ("http://127.0.0.1/cb", "http://127.0.0.1:0/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:65536/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.example/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80.evil.example/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.2:80/cb", false),
        ("http://127.0.0.1/cb", "http://localhost:80/cb", false),
        ("http://127.0.0.1/cb", "http://[::1]:80/cb", false),
        ("http://127.0.0.1/cb", "https://127.0.0.1:80/cb", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80/cb2", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80/CB", false),
        ("http://127.0.0.1/cb", "http://127.0.0.1:80", false),
        ("com.example.app:/cb", "com.example.app:/cb", true),
        ("com.example.app:/cb", "com.example.app://cb", false),
        ("com.example.app:/cb", "COM.example.app:/cb", false),
    ])
    func aRequestNamesARegisteredURI(_ registered: String, _ asked: String, _ isAllowed: Bool) {
        var login = PageRegistration()
        login.redirectURIs = [registered]
        #expect(RedirectURI.isValid(registered))
        #expect(login.redirects(to: asked) == isAllowed)
    }

    @Test(arguments: [
        "http://app.example/cb", "https://", "https:///cb", "https://app.example/cb#f", "https://u:p@app.example/",
        "https://*.example/cb", "https://app.example/a b", "https://app.example/%4", "javascript:alert(1)",
        "data:text/html,x",
        "app:/cb", "app://cb", "com.example.app:", "HTTPS://app.example/", "//app.example/cb", "/cb", "",
        "https:app.example",
        "file:///etc/passwd", "https://app.example:99999/", "https://app.example:x/", "https://ä.example/",
        "http://127.0.0.1.evil.example/", "http://0.0.0.0/", "http://192.168.0.1/", "https://app.example/\u{7}",
        "about.blank#x",
    ])
    func theAdminIsRefused(_ uri: String) async throws {
        #expect(!RedirectURI.isValid(uri))
        try await EndpointsFixture.with { server in
            for member in ["redirect_uris", "post_logout_redirect_uris", "redirect_hops"] {
                let escaped = uri.replacing("\\", with: "\\\\").replacing("\u{7}", with: "\\u0007")
                let answer = await server.admin(
                    .patch, "/admin/v1/clients/mobile", #"{"\#(member)":["\#(escaped)"]}"#)
                #expect(answer.status == 400 && answer.string("member") == member, "\(answer.text)")
            }
        }
    }

    @Test(arguments: [
        (#"{"redirect_uris":["https://a.example/","https://a.example/"]}"#, "redirect_uris"),
        (#"{"redirect_uris":null}"#, "redirect_uris"), (#"{"redirect_uris":"https://a.example/"}"#, "redirect_uris"),
        (#"{"grant_types":["authorization_code","refresh_token"]}"#, "redirect_uris"),
        (#"{"browser_session":"all"}"#, "browser_session"), (#"{"login_methods":[]}"#, "login_methods"),
        (#"{"login_methods":["password","password"]}"#, "login_methods"),
        (#"{"login_methods":["provider:"]}"#, "login_methods"), (#"{"login_methods":["sms"]}"#, "login_methods"),
        (#"{"backchannel_logout_uri":"http://a.example/"}"#, "backchannel_logout_uri"),
        (#"{"initiate_login_uri":"com.example.app:/x"}"#, "initiate_login_uri"),
        (#"{"grant_types":["authorization_code"],"redirect_uris":["https://a.example/"]}"#, "stay_logged_in"),
    ])
    func aRegistrationHasToBeSound(_ json: String, _ member: String) async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(.patch, "/admin/v1/clients/mobile", json)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.string("member") == member, "\(answer.text)")
        }
    }

    @Test func theRegistrationComesBack() async throws {
        try await EndpointsFixture.with { server in
            let answer = await server.admin(
                .patch, "/admin/v1/clients/mobile",
                #"""
                {"grant_types":["authorization_code","refresh_token"],"redirect_uris":["com.example.app:/cb","http://[::1]/cb"],
                 "post_logout_redirect_uris":["https://app.example/bye"],"require_pushed_authorization_requests":true,
                 "browser_session":"shared","login_methods":["password","provider:google"],
                 "backchannel_logout_uri":"https://app.example/logout","initiate_login_uri":"https://app.example/login"}
                """#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.strings("redirect_uris") == ["com.example.app:/cb", "http://[::1]/cb"])
            #expect(answer.strings("post_logout_redirect_uris") == ["https://app.example/bye"])
            #expect(answer.bool("require_pushed_authorization_requests") == true)
            #expect(answer.string("browser_session") == "shared")
            #expect(answer.strings("login_methods") == ["password", "provider:google"])
            #expect(answer.string("backchannel_logout_uri") == "https://app.example/logout")
            #expect(answer.string("initiate_login_uri") == "https://app.example/login")
            // The client of browser sessions came with the first client that has them, and no app can log in with its id.
            #expect(await server.admin(.get, "/admin/v1/clients/browser").status == 200)
            let attempt = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"correct horse","client_id":"browser","device":{"id":"d"}}"#)
            #expect(attempt.string("code") == "unauthorized_client")
            let cleared = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"backchannel_logout_uri":null,"initiate_login_uri":null}"#)
            #expect(cleared.string("backchannel_logout_uri") == nil && cleared.string("initiate_login_uri") == nil)
        }
    }

    @Test("the page allows its form to lead on to the hops of the client, and a browser's unknown path is a page")
    func hops() async throws {
        try await PageLoginFixture.with(#","redirect_hops":["https://two.example:8443/home","com.example.next:/x"]"#) {
            login in
            let page = try await login.page(Browser(login.server), ["redirect_uri": "https://app.example/cb?a=1"])
            let policy = try #require(page.answer.field("Content-Security-Policy"))
            let sources = "form-action 'self' https://app.example https://two.example:8443 com.example.next:;"
            #expect(policy.contains(sources), "\(policy)")
            for path in ["/login/password", "/account/nothing", "/nothing"] {
                let shown = await login.server.call(.get, path, fields: ["Accept": "text/html,*/*"])
                #expect(shown.status == (path == "/login/password" ? 405 : 404))
                #expect(shown.text.hasPrefix("<!doctype html>") && shown.text.contains("<main"), "\(shown.text)")
                let other = await login.server.call(.get, path)
                #expect(other.field("Content-Type") == "application/problem+json")
            }
        }
    }
}
