import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Scope tokens that a client does not have: an authorization request may name them, and does not get them (OpenID Connect Core
/// section 3.1.2.1, RFC 6749 section 3.3).
@Suite struct RequestedScopeTests {
    @Test(
        "an authorization request gets the part of its scope that the client can have, and the answer names it",
        arguments: [
            ("openid offline_access", "openid"), ("address openid admin email", "openid email"),
            ("read admin", "read"), ("openid openid groups", "openid"),
        ])
    func authorization(requested: String, granted: String) async throws {
        try await PageLoginFixture.with { login in
            let answer = await login.exchange(try await login.code(nil, ["scope": requested]))
            #expect(answer.status == 200 && answer.string("scope") == granted, "\(answer.text)")
            let access = try Answer.claims(of: try #require(answer.string("access_token")))
            #expect(access.string("scope") == granted)
            #expect((answer.string("id_token") != nil) == granted.hasPrefix("openid"))
            let refreshed = await login.server.refresh(answer.string("refresh_token") ?? "")
            #expect(refreshed.string("scope") == granted)
        }
    }

    @Test("a pushed request, a device's and a backend's are treated alike; none gets an empty scope for unknown words")
    func otherRequests() async throws {
        try await PageLoginFixture.with { login in
            let form = PageLoginFixture.parameters(["scope": "openid admin"])
            let pushed = await login.server.form("/oauth/par", Browser.encoded(form))
            let uri = try #require(pushed.string("request_uri"), "\(pushed.text)")
            let next = await Browser(login.server).get("/oauth/authorize?client_id=shop&request_uri=\(uri)")
            #expect(next.field("Location")?.contains("/login?r=") == true)
        }
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server, scope: "read+offline_access")
            try await login.approve(phone)
            #expect(await login.collect().string("scope") == "read")
            let unknown = await server.form("/oauth/device_authorization", "client_id=tv&scope=openid+offline_access")
            #expect(unknown.status == 400 && unknown.string("error") == "invalid_scope", "\(unknown.text)")
        }
        try await BackchannelLogin.with { server, basic, phone in
            let login = try await BackchannelLogin(server, basic, "scope=write+openid+read&login_hint=anna")
            try await login.approve(phone)
            #expect(await login.collect().string("scope") == "openid read")
            _ = await server.admin(.patch, "/admin/v1/clients/shop", #"{"scope":"read"}"#)
            let unknown = await BackchannelLogin.request(server, basic, "scope=openid+read&login_hint=anna")
            #expect(unknown.status == 400 && unknown.string("error") == "invalid_scope", "\(unknown.text)")
        }
    }

    @Test("a client that has no scope cannot be asked for one, and none is an error that goes to the client")
    func nothingKnown() async throws {
        try await PageLoginFixture.with { login in
            for (scope, requested) in [("", "openid"), ("read", "openid profile")] {
                let changed = await login.server.admin(.patch, "/admin/v1/clients/shop", #"{"scope":"\#(scope)"}"#)
                #expect(changed.status == 200)
                let answer = try Redirect(await Browser(login.server).get(PageLoginFixture.url(["scope": requested])))
                #expect(answer["error"] == "invalid_scope" && answer["state"] == "a b&c=d")
            }
        }
    }

    @Test("blanks around the scope of a client do not count; a blank too many in its middle is an error")
    func blanks() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/clients",
                #"{"client_id":"c","scope":"  openid email \n","remote_scope":"\topenid "}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.string("scope") == "openid email" && made.string("remote_scope") == "openid")
            let blank = await server.admin(.patch, "/admin/v1/clients/c", #"{"scope":" "}"#)
            #expect(blank.status == 200 && blank.string("scope")?.isEmpty == true)
            let inner = await server.admin(.patch, "/admin/v1/clients/c", #"{"scope":"openid  email"}"#)
            #expect(inner.status == 400 && inner.string("code") == "invalid_scope")
        }
    }
}
