import JSON
import SQLiteStore
import Sessions
import Testing

/// A token exchange names no provider: of several entries of one issuer it is the one with the apps that the token is for.
@Suite struct ProviderChoiceTests {
    private static let grant = "urn:ietf:params:oauth:grant-type:token-exchange"

    private func exchange(_ token: String, _ world: ProviderFixture) async -> Answer {
        await world.server.form(
            "/oauth/token",
            "grant_type=\(Self.grant)&client_id=app&subject_token=\(token)"
                + "&subject_token_type=urn:ietf:params:oauth:token-type:id_token")
    }

    private func with(
        audiences: [String]?, _ body: (ProviderFixture) async throws -> Void
    ) async throws {
        try await ProviderFixture.with(twice: true, audiences: audiences) { world in
            _ = try await world.server.makeClient(
                #"{"client_id":"app","token_endpoint_auth_method":"none","grant_types":["refresh_token","login","\#(Self.grant)"]}"#
            )
            try await body(world)
        }
    }

    @Test func theEntryOfTheTokensAudience_isTaken() async throws {
        try await with(audiences: ["tv", "app2"]) { world in
            for (audience, entry) in [("app", "acme"), ("tv", "acme-2")] {
                let subject = "of-\(entry)"
                let answer = await exchange(
                    try world.provider.token(#"{"aud":"\#(audience)","sub":"\#(subject)"}"#), world)
                #expect(answer.status == 200, "\(answer.text)")
                let key = try #require(Identity.Key(provider: entry, subject: subject))
                #expect(try await world.server.store.identity(key) != nil)
            }
        }
    }

    @Test(arguments: [
        (#"{"aud":"app2"}"#, "two entries take it"), (#"{"aud":["app","tv"],"azp":"app"}"#, "two entries take it"),
        (#"{"aud":"other"}"#, "none does"), (#"{"aud":7}"#, "no audience"), (#"{"aud":null}"#, "no audience"),
    ])
    func whatIsLeftOpen_isRefused(_ claims: String, _ why: String) async throws {
        try await with(audiences: ["tv", "app2"]) { world in
            let token = try world.provider.token(claims)
            let answer = await exchange(token, world)
            #expect(answer.status == 400 && answer.string("error") == "invalid_request", "\(why): \(answer.text)")
        }
    }

    @Test func entriesForTheSameApps_areNeverChosenBetween() async throws {
        try await with(audiences: nil) { world in
            let token = try world.provider.token()
            #expect(await exchange(token, world).status == 400)
            // By its name either is taken.
            #expect(await world.present(token, provider: "acme-2").status == 200)
        }
    }
}
