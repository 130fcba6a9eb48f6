import HTTP
import Sessions
import Testing

@testable import Endpoints

/// One confidential client logs in many users from one address: wrong passwords of some keep out none of the others.
@Suite struct BackendRateLimitTests {
    private static let client = """
        {"client_id":"backend","token_endpoint_auth_method":"client_secret_basic","grant_types":["password","refresh_token",
         "urn:ietf:params:oauth:grant-type:token-exchange"]}
        """
    private static let right = "correct+horse"

    private static func with(_ body: (RateLimitFixture, String) async throws -> Void) async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            #expect(made.status == 201)
            let secret = try #require(try await server.makeClient(client))
            _ = try await server.makeClient(#"{"client_id":"old","grant_types":["password","refresh_token"]}"#)
            var limits = RateLimits()
            limits.wrongPasswordsPerAddress = 2
            try await body(RateLimitFixture(server, limits), "backend:\(secret)")
        }
    }

    private static func logIn(
        _ limited: RateLimitFixture, _ name: String, _ password: String = right, basic: String? = nil, more: String = ""
    ) async -> Answer {
        let form = "grant_type=password&username=\(name)&password=\(password)\(more)"
        return await limited.form("/oauth/token", form, basic: basic)
    }

    @Test func wrongPasswordsThatAProvedClientBringsCountForTheirNamesAlone() async throws {
        try await Self.with { limited, backend in
            for name in 1...12 {
                #expect(
                    await Self.logIn(limited, "user-\(name)", "wrong", basic: backend).string("error")
                        == "invalid_grant")
            }
            #expect(await Self.logIn(limited, "bert", basic: backend).status == 200)
            // Nor for others at its address.
            #expect(await limited.logIn(as: "bert").status == 200)
            #expect(!limited.refusals(.wrongPasswordsPerAddress))
            // One name is guessed as slowly as ever.
            for _ in 1...10 { #expect(await Self.logIn(limited, "anna", "wrong", basic: backend).status == 400) }
            let waiting = await Self.logIn(limited, "anna", basic: backend)
            #expect(waiting.status == 429 && waiting.field("Retry-After") == "2", "\(waiting.text)")
            #expect(await Self.logIn(limited, "bert", basic: backend).status == 200)
        }
    }

    /// A call that only names a client, or has the wrong secret, counts at its address.
    @Test func aCallWithoutProofOfTheClientCountsAtTheAddress() async throws {
        try await Self.with { limited, backend in
            for _ in 1...3 {
                let guess = await Self.logIn(limited, "anna", basic: "backend:wrong")
                #expect(guess.string("error") == "invalid_client")
            }
            let old = "&client_id=old"
            for name in ["a", "b"] {
                #expect(await Self.logIn(limited, name, "wrong", more: old).string("error") == "invalid_grant")
            }
            #expect(await Self.logIn(limited, "bert", more: old).status == 429)
            #expect(await limited.logIn(as: "bert").status == 429)
            #expect(limited.refusals(.wrongPasswordsPerAddress))
            // The client behind the same address goes on.
            #expect(await Self.logIn(limited, "bert", basic: backend).status == 200)
        }
    }
}
