import HTTP
import Sessions
import Testing

@testable import Endpoints

/// `POST /oauth/revoke` of tokens that clients got for themselves (RFC 7009), and how long they last.
@Suite struct ClientTokenRevocationTests {
    private func isAccepted(_ token: String, _ world: ClientTokenFixture) async -> Bool {
        await world.server.call(.get, "/v1/verify", bearer: token).status == 200
    }

    /// The lifetime of a token of `backend`, in seconds.
    private func life(_ world: ClientTokenFixture) async throws -> Int64 {
        let claims = try world.claims(of: try await world.token())
        return (claims.integer("exp") ?? 0) - (claims.integer("iat") ?? 0)
    }

    /// What the console knows of a token of `backend`; nil if it takes it for another thing.
    private func isAcceptedByInspection(_ token: String, _ world: ClientTokenFixture) async throws -> Bool? {
        let found = try await world.server.endpoints.services.accessTokens.inspect(token)
        guard case .clientToken("backend", _, _, let isAccepted)? = found else { return nil }
        return isAccepted
    }

    @Test("one token is revoked, once in the trail and the feed, and the others of the client are good")
    func alone() async throws {
        try await ClientTokenFixture.with { world in
            let (token, other) = (try await world.token(), try await world.token())
            for hint in ["", "&token_type_hint=access_token", "&token_type_hint=refresh_token"] {
                let answer = await world.server.form("/oauth/revoke", "token=\(token)\(hint)", basic: world.basic())
                #expect(answer.status == 200 && answer.response.body.isEmpty)
            }
            #expect(await !isAccepted(token, world))
            #expect(await isAccepted(other, world))
            let jti = try world.claims(of: token).string("jti")
            let events = await world.server.admin(.get, "/admin/v1/events?limit=200").items
                .filter { $0.string("event") == "client_token_revoked" }
            #expect(events.map { $0.string("jti") } == [jti])
            #expect(events.first?.string("actor") == "client:backend")
            let items = await world.server.admin(.get, "/admin/v1/revocations").items
            #expect(items.map { $0.string("type") } == ["client_token_revoked"])
            #expect(items.first?.string("jti") == jti && items.first?.string("client_id") == "backend")
        }
    }

    @Test("the record of a revoked token is kept until the token expires")
    func record() async throws {
        try await ClientTokenFixture.with { world in
            let token = try await world.token()
            #expect(await world.server.form("/oauth/revoke", "token=\(token)", basic: world.basic()).status == 200)
            let end = EndpointsFixture.start + 3600
            let store = world.server.store
            #expect(try await store.sweepUsedTokens(before: Instant(secondsSinceEpoch: end - 1), limit: 9) == 0)
            world.server.moveClock(to: 3599)
            #expect(await !isAccepted(token, world))
            #expect(try await store.sweepUsedTokens(before: Instant(secondsSinceEpoch: end), limit: 9) == 1)
            world.server.moveClock(to: 3600)
            #expect(await !isAccepted(token, world))
        }
    }

    @Test("only the client itself revokes its token, and only after it has authenticated")
    func owner() async throws {
        try await ClientTokenFixture.with { world in
            let token = try await world.token()
            let other = await world.server.form("/oauth/revoke", "token=\(token)", basic: world.basic("asker"))
            #expect(other.status == 400 && other.string("error") == "unauthorized_client")
            let open = await world.server.form("/oauth/revoke", "token=\(token)&client_id=mobile")
            #expect(open.status == 400 && open.string("error") == "unauthorized_client")
            for form in ["token=\(token)", "token=\(token)&client_id=backend"] {
                #expect(await world.server.form("/oauth/revoke", form).status == 401)
            }
            let wrong = await world.server.form("/oauth/revoke", "token=\(token)", basic: "backend:guessed")
            #expect(wrong.status == 401)
            #expect(await isAccepted(token, world))
        }
    }

    @Test("a token that has ended is revoked already, and nothing is told of it")
    func ended() async throws {
        try await ClientTokenFixture.with { world in
            let (token, old) = (try await world.token(), try await world.token())
            let secret = try #require(await world.change(#"{"rotate_secret":true}"#).string("client_secret"))
            let basic = world.basic("backend", secret)
            #expect(await world.server.form("/oauth/revoke", "token=\(token)", basic: basic).status == 200)
            world.server.moveClock(to: 3600)
            #expect(await world.server.form("/oauth/revoke", "token=\(old)", basic: basic).status == 200)
            let items = await world.server.admin(.get, "/admin/v1/revocations").items
            #expect(items.map { $0.string("type") } == ["client_tokens_ended"])
        }
    }

    @Test("a token lasts an hour, or as long as its client says, and never longer than the idle time")
    func lifetime() async throws {
        try await ClientTokenFixture.with { world in
            let usual = try await life(world)
            #expect(usual == 3600)
            // `refresh_after` is an hour, and nothing is refreshed here.
            for seconds in [Int64(60), 600, 86400] {
                _ = await world.change(#"{"access_token_lifetime":\#(seconds)}"#)
                #expect(try await life(world) == seconds)
            }
            _ = await world.change(#"{"access_token_lifetime":0}"#)
            #expect(try await life(world) == 3600)
            _ = await world.change(#"{"offline_session_idle":1200,"refresh_after":60}"#)
            #expect(try await life(world) == 1200)
            // A client with sessions has `refresh_after` as before.
            let mixed = await world.server.admin(
                .patch, "/admin/v1/clients/asker",
                #"{"grant_types":["client_credentials","refresh_token"],"access_token_lifetime":600,"refresh_after":600}"#
            )
            #expect(mixed.status == 400, "\(mixed.text)")
        }
    }

    @Test("the console says of a pasted token that it is a client's own, and whether it is accepted")
    func inspection() async throws {
        try await ClientTokenFixture.with { world in
            let token = try await world.token()
            #expect(try await isAcceptedByInspection(token, world) == true)
            #expect(await world.server.form("/oauth/revoke", "token=\(token)", basic: world.basic()).status == 200)
            #expect(try await isAcceptedByInspection(token, world) == false)
        }
    }
}
