import HTTP
import Sessions
import Synchronization
import Testing

@testable import Endpoints

/// A client that refreshes in a loop is slowed, and its session goes on.
@Suite struct RefreshLoopTests {
    private static func limited(_ server: EndpointsFixture, _ count: Int) -> RateLimitFixture {
        var limits = RateLimits()
        limits.refreshesPerSession = count
        return RateLimitFixture(server, limits)
    }

    private static func form(_ token: String) -> String { "grant_type=refresh_token&refresh_token=\(token)" }

    @Test("beyond the limit each call that refreshes answers 429 with Retry-After, and later 200 again")
    func loop() async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.limited(server, 3)
            let (tokens, other) = (try await server.logIn(), try await server.logIn(device: "phone-2"))
            for _ in 0..<3 { #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 200) }
            let refused = [
                await limited.form("/oauth/token", Self.form(tokens.refresh)),
                await limited.json(.post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)"}"#),
            ]
            for answer in refused {
                #expect(answer.status == 429 && answer.field("Retry-After") == "21", "\(answer.text)")
                #expect(!answer.names.contains("reauthenticate"))
            }
            #expect(limited.refusals(.refreshesPerSession))
            #expect(await limited.form("/oauth/token", Self.form(other.refresh)).status == 200)
            limited.wait(seconds: 20)
            #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 200)
            #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 429)
        }
    }

    @Test("a slowed call asks the store for nothing")
    func noWork() async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.limited(server, 1)
            let tokens = try await server.logIn()
            #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 200)
            let before = server.environment.transactions.load(ordering: .relaxed)
            for _ in 0..<5 { #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 429) }
            #expect(server.environment.transactions.load(ordering: .relaxed) == before)
        }
    }

    @Test("a token that is refused uses up nothing of its session's limit")
    func refusedTokens() async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.limited(server, 2)
            let tokens = try await server.logIn()
            for _ in 0..<10 {
                let wide = await limited.form("/oauth/token", Self.form(tokens.refresh) + "&scope=everything")
                #expect(wide.string("error") == "invalid_scope", "\(wide.text)")
            }
            for _ in 0..<2 { #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 200) }
        }
    }

    @Test("a device that resumes its session by its key in a loop is slowed too")
    func resumptions() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .no)
            let limited = Self.limited(server, 2)
            func resume() async -> Answer {
                await limited.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile"
                        + "&assertion=\(phone.device.assertion(phone.server, phone.tokens))")
            }
            for _ in 0..<2 { #expect(await resume().status == 200) }
            let refused = await resume()
            #expect(refused.status == 429 && refused.field("Retry-After") == "31", "\(refused.text)")
        }
    }

    @Test("the default is far above what an app needs, and 0 switches the limit off")
    func honestUse() async throws {
        #expect(RateLimits().refreshesPerSession >= 20 * 50)
        try await EndpointsFixture.with { server in
            let limited = Self.limited(server, 0)
            let tokens = try await server.logIn()
            for _ in 0..<30 { #expect(await limited.form("/oauth/token", Self.form(tokens.refresh)).status == 200) }
        }
    }
}
