import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Limits for each session, whatever renews it and whatever stands in its way: an app that does not take no meets its own, and
/// leaves its user's other devices theirs.
@Suite struct SessionRateLimitTests {
    /// What can stand in the way of a session that lives, or of one that has ended.
    enum Obstacle: String, CaseIterable {
        case ended, insufficientUserAuthentication, wideScope, unknownResource, usedAssertion, closedGrant
    }

    private static func server(
        _ server: EndpointsFixture, perSession: Int, perUser: Int = 0, _ set: (inout RateLimits) -> Void = { _ in }
    ) -> RateLimitFixture {
        var limits = RateLimits()
        limits.refusedTokensPerSession = perSession
        limits.refusedTokensPerUser = perUser
        set(&limits)
        return RateLimitFixture(server, limits)
    }

    private static func resume(_ phone: GuardedPhone, _ limited: RateLimitFixture, _ more: String = "") async -> Answer
    {
        await limited.form(
            "/oauth/token",
            "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile"
                + "&assertion=\(phone.device.assertion(limited.server, phone.tokens))\(more)")
    }

    /// Puts it there. Returns how the app asks then, again and again, and with what it is refused.
    private static func put(
        _ obstacle: Obstacle, before phone: GuardedPhone, _ limited: RateLimitFixture
    ) async throws -> (ask: () async -> Answer, error: String) {
        let server = limited.server
        switch obstacle {
        case .ended:
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/revoke").status == 200)
            return ({ await resume(phone, limited) }, "invalid_grant")
        case .insufficientUserAuthentication:
            #expect(await phone.setMode("PASSWORD").status == 200)
            return ({ await resume(phone, limited) }, "insufficient_user_authentication")
        case .wideScope: return ({ await resume(phone, limited, "&scope=read+all") }, "invalid_scope")
        case .unknownResource:
            return ({ await resume(phone, limited, "&resource=https://x.example/") }, "invalid_target")
        case .usedAssertion:
            let used = phone.device.assertion(server, phone.tokens)
            let form = "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion=\(used)"
            #expect(await limited.form("/oauth/token", form).status == 200)
            return ({ await limited.form("/oauth/token", form) }, "invalid_grant")
        case .closedGrant:
            let closed = #"{"grant_types":["refresh_token"]}"#
            #expect(await server.admin(.patch, "/admin/v1/clients/mobile", closed).status == 200)
            return ({ await resume(phone, limited) }, "unauthorized_client")
        }
    }

    @Test(arguments: Obstacle.allCases)
    func resumptionsThatAreRefusedCountForTheirSession(_ obstacle: Obstacle) async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.server(server, perSession: 2)
            let phone = try await GuardedPhone(server, .no)
            let other = try await server.logIn(device: "tablet")
            let (ask, error) = try await Self.put(obstacle, before: phone, limited)
            for _ in 1...2 { #expect(await ask().string("error") == error) }
            let refused = await ask()
            #expect(refused.status == 429 && refused.field("Retry-After") == "31", "\(refused.text)")
            #expect(limited.refusals(.refusedTokensPerSession))
            // The other device has its own, and what succeeds never comes here.
            let reason = await limited.refresh(other.refresh)
            #expect(reason.status == (obstacle == .ended ? 400 : 200), "\(reason.text)")
            if [.wideScope, .unknownResource, .usedAssertion].contains(obstacle) {
                #expect(await Self.resume(phone, limited).status == 200)
            }
            if obstacle == .insufficientUserAuthentication {
                #expect(await Self.resume(phone, limited, "&password=correct+horse").status == 200)
            }
            limited.wait(seconds: 31)
            #expect(await ask().string("error") == error)
        }
    }

    @Test func refreshesAndResumptionsOfASessionCountTogether() async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.server(server, perSession: 2)
            let phone = try await GuardedPhone(server, .no)
            #expect(await limited.refresh(phone.tokens.refresh + "&scope=all").string("error") == "invalid_scope")
            #expect(await Self.resume(phone, limited, "&scope=all").string("error") == "invalid_scope")
            #expect(await limited.refresh(phone.tokens.refresh + "&scope=all").status == 429)
            #expect(await Self.resume(phone, limited, "&scope=all").status == 429)
            #expect(await limited.refresh(phone.tokens.refresh).status == 200)
        }
    }

    /// Nothing that a stranger makes up is held against a session: it would be told to wait instead of why it is over.
    @Test func anAssertionThatTheKeyHasNotSignedIsHeldAgainstNoSession() async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.server(server, perSession: 1, perUser: 1)
            let phone = try await GuardedPhone(server, .no)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/revoke").status == 200)
            for _ in 1...3 {
                let forged = await limited.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile"
                        + "&assertion=\(ProvingDevice().assertion(server, phone.tokens))")
                #expect(forged.string("reason") == "revoked_by_admin")
            }
            #expect(await Self.resume(phone, limited).string("reason") == "revoked_by_admin")
            #expect(await Self.resume(phone, limited).status == 429)
        }
    }

    enum DeadToken: CaseIterable { case refreshToken, deviceKey, foreignToken }

    /// However long one app goes on, its user's other devices learn why they are logged out.
    @Test(arguments: DeadToken.allCases) func oneLoopingAppLeavesItsUserTheReasons(_ kind: DeadToken) async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.server(server, perSession: 2, perUser: 3) { $0.refusedTokensPerAddress = 5 }
            let phone = try await GuardedPhone(server, .no)
            let other = try await server.logIn(device: "tablet")
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/revoke").status == 200)
            try await server.bring(lifetime: 10)
            server.moveClock(to: 10)
            func ask() async -> Answer {
                switch kind {
                case .refreshToken: await limited.refresh(phone.tokens.refresh)
                case .deviceKey: await Self.resume(phone, limited)
                case .foreignToken: await limited.refresh(EndpointsFixture.foreignToken)
                }
            }
            let answers = [await ask(), await ask(), await ask(), await ask(), await ask(), await ask()]
            #expect(answers.map(\.status) == [400, 400, 429, 429, 429, 429])
            #expect(limited.refusals(.refusedTokensPerSession))
            #expect(await limited.refresh(other.refresh).string("reason") == "revoked_by_admin")
        }
    }

    @Test func eachForeignTokenHasALimitOfItsOwn() async throws {
        try await EndpointsFixture.with { server in
            let limited = Self.server(server, perSession: 1)
            for token in ["one", "two"] { try await server.bring(token, device: token, lifetime: 10) }
            server.moveClock(to: 10)
            for token in ["one", "two"] {
                #expect(await limited.refresh(token).string("reason") == "idle_expired")
                #expect(await limited.refresh(token).status == 429)
            }
        }
    }
}
