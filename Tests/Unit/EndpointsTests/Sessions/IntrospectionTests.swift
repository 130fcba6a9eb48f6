import HTTP
import Testing

/// RFC 7662 and RFC 7009.
@Suite struct IntrospectionTests {
    static let backend =
        #"{"client_id":"backend","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#

    @Test func tellsWhatEachTokenIsGoodFor() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(try await server.makeClient(Self.backend))
            let ask = { (token: String) async in
                await server.form(
                    "/oauth/introspect", "token=\(token)&token_type_hint=refresh_token", basic: "backend:\(secret)")
            }
            let tokens = try await server.logIn()
            let access = await ask(tokens.access)
            #expect(access.status == 200)
            #expect(access.bool("active") == true)
            #expect(access.string("token_type") == "Bearer")
            #expect(access.string("iss") == EndpointsFixture.issuer)
            #expect(access.string("aud") == EndpointsFixture.audience)
            #expect(access.string("sub") == tokens.userID)
            #expect(access.string("sid") == tokens.sessionID)
            #expect(access.string("username") == "anna")
            #expect(access.string("client_id") == "mobile")
            #expect(access.string("device_id") == "phone-1")
            #expect(access.string("scope") == EndpointsFixture.scope)
            #expect(access.integer("iat") == EndpointsFixture.start)
            #expect(access.integer("auth_time") == EndpointsFixture.start)
            #expect(access.integer("exp") == EndpointsFixture.start + 14 * EndpointsFixture.day)

            let refresh = await ask(tokens.refresh)
            #expect(refresh.bool("active") == true)
            #expect(!refresh.names.contains("token_type"))
            #expect(refresh.string("sid") == tokens.sessionID)
            #expect(refresh.integer("exp") == EndpointsFixture.start + 14 * EndpointsFixture.day)

            let own = await server.form("/oauth/token", "grant_type=client_credentials", basic: "backend:\(secret)")
            let client = await ask(try #require(own.string("access_token")))
            #expect(client.bool("active") == true)
            #expect(client.string("sub") == "backend")
            #expect(!client.names.contains("sid"))

            // Asking spends nothing.
            #expect(await server.refresh(tokens.refresh).status == 200)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            for token in [tokens.access, tokens.refresh, "junk", "sjr_junk"] {
                let dead = await ask(token)
                #expect(dead.status == 200)
                #expect(dead.text == #"{"active":false}"#)
            }
            server.moveClock(to: 15 * EndpointsFixture.day)
            #expect(await ask(try #require(own.string("access_token"))).text == #"{"active":false}"#)
        }
    }

    @Test func isForClientsThatHaveProvedThemselves() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(try await server.makeClient(Self.backend))
            for answer in [
                await server.form("/oauth/introspect", "token=x"),
                await server.form("/oauth/introspect", "token=x&client_id=mobile"),
                await server.form("/oauth/introspect", "token=x", basic: "backend:wrong"),
            ] {
                #expect(answer.status == 401)
                #expect(answer.string("error") == "invalid_client")
            }
            let missing = await server.form("/oauth/introspect", "", basic: "backend:\(secret)")
            #expect(missing.string("error") == "invalid_request")
        }
    }

    @Test func revocationEndsTheSessionOfEitherTokenAndIsNeverAnErrorTwice() async throws {
        try await EndpointsFixture.with { server in
            for kind in [\Tokens.refresh, \Tokens.access] {
                let tokens = try await server.logIn()
                for _ in 1...2 {
                    let answer = await server.form(
                        "/oauth/revoke", "token=\(tokens[keyPath: kind])&client_id=mobile&token_type_hint=nonsense")
                    #expect(answer.status == 200)
                    #expect(answer.response.body.isEmpty)
                }
                #expect(await server.refresh(tokens.refresh).string("reason") == "logged_out")
            }
            #expect(await server.form("/oauth/revoke", "token=junk&client_id=mobile").status == 200)
            let missing = await server.form("/oauth/revoke", "client_id=mobile")
            #expect(missing.string("error") == "invalid_request")
            #expect(await server.form("/oauth/revoke", "token=junk").status == 401)
        }
    }

    @Test func revocationIsForTheTokensOwnClient() async throws {
        try await EndpointsFixture.with { server in
            let secret = try #require(try await server.makeClient(Self.backend))
            let tokens = try await server.logIn()
            let other = await server.form("/oauth/revoke", "token=\(tokens.refresh)", basic: "backend:\(secret)")
            #expect(other.status == 400)
            #expect(other.string("error") == "unauthorized_client")
            #expect(await server.refresh(tokens.refresh).status == 200)

        }
    }
}
