import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Limits for each client: for calls in its name by strangers, and for its own calls.
@Suite struct ClientRateLimitTests {
    private static func limits(_ set: (inout RateLimits) -> Void) -> RateLimits {
        var limits = RateLimits()
        set(&limits)
        return limits
    }

    private static let grant = "grant_type=client_credentials"

    /// A client with a secret, as `id:secret`.
    private static func givenClient(_ id: String, _ server: EndpointsFixture) async throws -> String {
        let secret = try await server.makeClient(
            #"""
            {"client_id":"\#(id)","token_endpoint_auth_method":"client_secret_basic","scope":"read",
             "grant_types":["client_credentials","refresh_token","password"]}
            """#)
        return try #require(secret.map { "\(id):\($0)" })
    }

    /// The client `backend`, and the form by which it refreshes a session of anna.
    private static func givenSession(_ limited: RateLimitFixture, _ server: EndpointsFixture) async throws -> (
        client: String, refresh: String
    ) {
        let client = try await givenClient("backend", server)
        let login = await limited.form(
            "/oauth/token", "grant_type=password&username=anna&password=correct+horse", basic: client)
        let token = try #require(login.string("refresh_token"))
        return (client, "grant_type=refresh_token&refresh_token=\(token)")
    }

    /// The id of a client is enough to call in its name: such calls must cost neither it nor its sessions anything.
    @Test func guessesMeetALimitThatTheClientItselfNeverMeets() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerClient = 2 })
            let (client, refresh) = try await Self.givenSession(limited, server)
            for target in ["/oauth/token", "/oauth/introspect"] {
                let guess = await limited.form(target, "\(Self.grant)&token=x", basic: "backend:wrong")
                #expect(guess.string("error") == "invalid_client")
            }
            let failedAttempts = [
                await limited.form("/oauth/token", Self.grant, basic: "backend:wrong"),
                await limited.form("/oauth/token", "\(Self.grant)&client_id=backend&client_secret=wrong"),
                await limited.form("/oauth/token", "\(Self.grant)&client_id=backend"),
                await limited.form("/oauth/revoke", "client_id=backend&token=x"),
            ]
            for guess in failedAttempts {
                #expect(guess.status == 429 && guess.field("Retry-After") == "31", "\(guess.text)")
            }
            #expect(limited.refusals(.refusedTokensPerClient))
            // Neither another client's from there, nor this one's from elsewhere.
            #expect(await limited.form("/oauth/token", Self.grant, basic: "unknown:wrong").status == 401)
            let elsewhere = await limited.form("/oauth/token", Self.grant, basic: "backend:wrong", from: "192.0.2.2")
            #expect(elsewhere.status == 401)
            // The client itself, from the same address.
            #expect(await limited.form("/oauth/token", Self.grant, basic: client).status == 200)
            #expect(await limited.form("/oauth/token", refresh, basic: client).status == 200)
            limited.wait(seconds: 31)
            #expect(await limited.form("/oauth/token", Self.grant, basic: "backend:wrong").status == 401)
        }
    }

    @Test func assertionsOfOtherKeysAreGuessesToo() async throws {
        try await Assertions.with { client in
            let limited = RateLimitFixture(client.server, Self.limits { $0.refusedTokensPerClient = 1 })
            let stranger = Assertions(server: client.server, key: .generate(.es256))
            func ask(_ signer: Assertions, _ jti: String) async -> Answer {
                await limited.form(
                    "/oauth/token",
                    "\(Self.grant)&client_id=signer&client_assertion_type=\(Assertions.type)"
                        + "&client_assertion=\(signer.assertion(jti: jti))")
            }
            #expect(await ask(stranger, "1").status == 401)
            #expect(await ask(stranger, "2").status == 429)
            #expect(await ask(client, "3").status == 200)
        }
    }

    @Test func whatAClientIsRefusedCountsForItWhereverItIs() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerClient = 2 })
            let client = try await Self.givenClient("backend", server)
            let login = "grant_type=password&username=anna&password=correct+horse"
            let exchange =
                "grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=x"
                + "&subject_token_type=urn:ietf:params:oauth:token-type:id_token"
            let wide = await limited.form("/oauth/token", login + "&scope=all", basic: client)
            #expect(wide.string("error") == "invalid_scope")
            let closed = await limited.form("/oauth/token", exchange, basic: client, from: "192.0.2.2")
            #expect(closed.string("error") == "unauthorized_client")
            let refused = await limited.form("/oauth/token", login + "&scope=all", basic: client, from: "192.0.2.3")
            #expect(refused.status == 429)
            #expect(limited.refusals(.refusedTokensPerClient))
            // What it may have it gets; and others are not touched.
            #expect(await limited.form("/oauth/token", login, basic: client).status == 200)
            let other = try await Self.givenClient("other", server)
            #expect(await limited.form("/oauth/token", exchange, basic: other).status == 400)
        }
    }

    /// A service that asks for a token before each of its calls; the sessions of its users are another thing.
    @Test func tokensThatAClientGetsForItselfAreCounted() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.clientTokensPerClient = 3 })
            let (client, refresh) = try await Self.givenSession(limited, server)
            // A call that only names it takes none.
            for _ in 1...5 { #expect(await limited.form("/oauth/token", Self.grant, basic: "backend:x").status == 401) }
            #expect(await limited.form("/oauth/token", Self.grant, basic: client).status == 200)
            #expect(await limited.form("/oauth/token", "\(Self.grant)&scope=all", basic: client).status == 400)
            #expect(await limited.form("/oauth/token", Self.grant, basic: client, from: "192.0.2.2").status == 200)
            let refused = await limited.form("/oauth/token", Self.grant, basic: client)
            #expect(refused.status == 429 && refused.field("Retry-After") == "21", "\(refused.text)")
            #expect(limited.refusals(.clientTokensPerClient))
            #expect(await limited.form("/oauth/token", refresh, basic: client).status == 200)
            #expect(await limited.form("/oauth/introspect", "token=x", basic: client).status == 200)
            let other = try await Self.givenClient("other", server)
            #expect(await limited.form("/oauth/token", Self.grant, basic: other).status == 200)
            limited.wait(seconds: 21)
            #expect(await limited.form("/oauth/token", Self.grant, basic: client).status == 200)
        }
    }
}
