import HTTP
import Testing

/// How clients prove themselves at the token endpoint (RFC 6749 sections 2.3 and 3.2), and its forms.
@Suite struct ClientAuthenticationTests {
    @Test func aConfidentialClientGetsATokenForItself() async throws {
        try await EndpointsFixture.with { server in
            let basic = try #require(
                try await server.makeClient(
                    #"""
                    {"client_id":"back:end","token_endpoint_auth_method":"client_secret_basic","scope":"read admin",
                     "grant_types":["client_credentials"]}
                    """#))
            // RFC 6749 section 2.3.1: the colon in the id has to be form-encoded.
            let grant = "grant_type=client_credentials"
            let answer = await server.form("/oauth/token", grant, basic: "back%3Aend:\(basic)")
            #expect(answer.status == 200)
            #expect(answer.names == ["access_token", "token_type", "expires_in", "scope", "issued_at", "expires_at"])
            #expect(answer.string("scope") == "read admin")
            let narrow = await server.form("/oauth/token", grant + "&scope=read", basic: "back%3Aend:\(basic)")
            #expect(narrow.string("scope") == "read")
            let wide = await server.form("/oauth/token", grant + "&scope=all", basic: "back%3Aend:\(basic)")
            #expect(wide.string("error") == "invalid_scope")

            let token = try #require(answer.string("access_token"))
            let verified = await server.call(.get, "/v1/verify", bearer: token)
            #expect(verified.status == 200)
            #expect(verified.field("X-Client-Id") == "back:end")
            #expect(verified.field("X-Scope") == "read admin")
            #expect(verified.field("X-User-Id") == nil)
            #expect(await server.call(.get, "/v1/me", bearer: token).status == 401)

            let post = try #require(
                try await server.makeClient(
                    #"{"client_id":"p","token_endpoint_auth_method":"client_secret_post","grant_types":["client_credentials"]}"#
                ))
            #expect(await server.form("/oauth/token", grant + "&client_id=p&client_secret=\(post)").status == 200)
        }
    }

    @Test("a secret is accepted in the header and in the form, unless the client pins one place")
    func bothPlacesOfASecret() async throws {
        try await EndpointsFixture.with { server in
            for (method, other) in [
                ("client_secret_basic", "client_secret_post"), ("client_secret_post", "client_secret_basic"),
            ] {
                let secret = try #require(
                    try await server.makeClient(
                        #"{"client_id":"\#(method)","token_endpoint_auth_method":"\#(method)","grant_types":["client_credentials"]}"#
                    ))
                func status(_ place: String, _ secret: String = secret) async -> Int {
                    let grant = "grant_type=client_credentials"
                    return place == "client_secret_basic"
                        ? await server.form("/oauth/token", grant, basic: "\(method):\(secret)").status
                        : await server.form("/oauth/token", grant + "&client_id=\(method)&client_secret=\(secret)")
                            .status
                }
                for place in [method, other] {
                    #expect(await status(place) == 200, "\(method) \(place)")
                    #expect(await status(place, "wrong") == 401, "\(method) \(place)")
                }
                let pinned = await server.admin(
                    .patch, "/admin/v1/clients/\(method)", #"{"token_endpoint_auth_method_pinned":true}"#)
                #expect(pinned.bool("token_endpoint_auth_method_pinned") == true, "\(pinned.text)")
                #expect(await status(method) == 200)
                #expect(await status(other) == 401)
            }
            let useless = await server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"token_endpoint_auth_method_pinned":true}"#)
            #expect(useless.status == 400 && useless.text.contains("is for clients with a secret"), "\(useless.text)")
        }
    }

    @Test func aFailureTellsNothingElse() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(
                try await server.makeClient(
                    #"""
                    {"client_id":"backend","token_endpoint_auth_method":"client_secret_basic",
                     "token_endpoint_auth_method_pinned":true,"grant_types":["client_credentials","refresh_token"]}
                    """#))
            let grant = "grant_type=client_credentials"
            let failures = [
                await server.form("/oauth/token", grant),
                await server.form("/oauth/token", grant + "&client_id=unknown"),
                await server.form("/oauth/token", grant + "&client_id=backend"),
                await server.form("/oauth/token", grant + "&client_id=backend&client_secret=\(secret)"),
                await server.form("/oauth/token", grant + "&client_secret=x"),
                await server.form("/oauth/token", grant, basic: "backend:wrong"),
                await server.form("/oauth/token", grant, basic: "unknown:x"),
                await server.form("/oauth/token", grant, basic: "%zz:x"),
                await server.form("/oauth/token", grant, fields: ["Authorization": "Bearer x"]),
                await server.form("/oauth/token", grant, fields: ["Authorization": "Basic !!"]),
                await server.form("/oauth/token", grant, fields: ["Authorization": "Digest x"]),
            ]
            for answer in failures {
                #expect(answer.status == 401)
                #expect(answer.text == failures[0].text)
                #expect(answer.field("WWW-Authenticate") == #"Basic realm="sojourn", charset="UTF-8""#)
            }
            let twoWays = await server.form(
                "/oauth/token", grant + "&client_id=backend&client_secret=\(secret)", basic: "backend:\(secret)")
            #expect(twoWays.status == 400)
            #expect(twoWays.string("error") == "invalid_request")
            let twoNames = await server.form("/oauth/token", grant + "&client_id=mobile", basic: "backend:\(secret)")
            #expect(twoNames.string("error") == "invalid_request")
            let publicClient = await server.form("/oauth/token", grant + "&client_id=mobile")
            #expect(publicClient.status == 400)
            #expect(publicClient.string("error") == "unauthorized_client")
        }
    }

    @Test func aConfidentialClientsSessionIsRefreshedByItAlone() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(
                try await server.makeClient(
                    #"{"client_id":"backend","token_endpoint_auth_method":"client_secret_basic"}"#))
            let minted = await server.admin(
                .post, "/admin/v1/users/username:anna/sessions", #"{"client_id":"backend"}"#)
            let tokens = try Tokens(minted)
            let form = "grant_type=refresh_token&refresh_token=\(tokens.refresh)"
            #expect(await server.form("/oauth/token", form).string("reason") == "binding_mismatch")
            #expect(
                await server.form("/oauth/token", form + "&client_id=mobile").string("reason") == "binding_mismatch")
            let named = await server.form("/oauth/token", form + "&client_id=backend")
            #expect(named.status == 401)
            #expect(named.string("error") == "invalid_client")
            let json = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#)
            #expect(json.string("code") == "binding_mismatch")
            #expect(await server.form("/oauth/token", form, basic: "backend:\(secret)").status == 200)

            let patched = await server.admin(.patch, "/admin/v1/clients/backend", #"{"grant_types":[]}"#)
            #expect(patched.status == 200)
            let disallowed = await server.form("/oauth/token", form, basic: "backend:\(secret)")
            #expect(disallowed.string("error") == "unauthorized_client")
        }
    }

    @Test func aFormThatIsNotAsItMustBeIsRefused() async throws {
        try await EndpointsFixture.with { server in
            let cases: [(String, String)] = [
                ("", "invalid_request"), ("grant_type=", "invalid_request"),
                ("grant_type=implicit", "unsupported_grant_type"),
                ("grant_type=Refresh_Token", "unsupported_grant_type"),
                ("grant_type=refresh_token", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=", "invalid_request"),
                ("grant_type=refresh_token&grant_type=refresh_token&refresh_token=x", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=x&foo=1&foo=2", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=%", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=%ff", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=x%00", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=x&device_id=a+b", "invalid_request"),
                ("grant_type=refresh_token&refresh_token=x", "invalid_grant"),
                ("grant_type=refresh_token&refresh_token=x&unknown=1", "invalid_grant"),
            ]
            for path in ["/oauth/token"] {
                for (form, error) in cases {
                    let answer = await server.form(path, form)
                    #expect(answer.status == 400, "\(form)")
                    #expect(answer.string("error") == error, "\(form)")
                    #expect(answer.field("Cache-Control") == "no-store")
                }
            }
            for path in ["/oauth/token", "/oauth/revoke", "/oauth/introspect"] {
                let json = await server.call(.post, path, #"{"grant_type":"refresh_token"}"#)
                #expect(json.status == 400)
                #expect(json.string("error") == "invalid_request")
                #expect(await server.send(Request(.post, path)).string("error") == "invalid_request")
            }
            let withCharset = await server.send(
                Request(
                    .post, "/oauth/token",
                    fields: ["Content-Type": "Application/X-WWW-Form-Urlencoded ; charset=UTF-8"],
                    body: Array("grant_type=refresh_token&refresh_token=x".utf8)))
            #expect(withCharset.string("error") == "invalid_grant")
        }
    }
}
