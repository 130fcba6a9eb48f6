import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Each kind of call has a limit for an address, a user and a device; a call beyond it is told to wait, and no other is.
@Suite struct RateLimitCellTests {
    enum Call: CaseIterable { case login, reset, token }
    enum Key: CaseIterable { case address, user, device }

    /// Asks on and on; the last answer is beyond the limit. And a call that then shares all but the key with it.
    private typealias Story = (answers: [Answer], refused: Answer, other: Answer, otherStatus: Int)

    private static func login(_ key: Key, _ server: EndpointsFixture) async throws -> Story {
        var limits = RateLimits()
        switch key {
        case .address:
            limits.wrongPasswordsPerAddress = 2
            let limited = RateLimitFixture(server, limits)
            let answers = [await limited.logIn("wrong", as: "a"), await limited.logIn("wrong", as: "b")]
            return (answers, await limited.logIn(as: "bert"), await limited.logIn(as: "bert", from: "192.0.2.2"), 200)
        case .user:
            let limited = RateLimitFixture(server, limits)
            var answers: [Answer] = []
            for place in 1...10 {
                answers.append(await limited.logIn("wrong", device: "d-\(place)", from: "192.0.2.\(place)"))
            }
            return (answers, await limited.logIn(device: "d-11"), await limited.logIn(as: "bert", device: "d-11"), 200)
        case .device:
            limits.loginsPerDevice = 2
            let limited = RateLimitFixture(server, limits)
            let answers = [await limited.logIn("wrong"), await limited.logIn("wrong", from: "192.0.2.2")]
            return (answers, await limited.logIn(), await limited.logIn(device: "phone-2"), 200)
        }
    }

    private static func reset(_ key: Key, _ server: EndpointsFixture) async throws -> Story {
        var limits = RateLimits()
        if key == .address { limits.failedResetsPerAddress = 2 } else { limits.failedResetsPerUser = 2 }
        let limited = RateLimitFixture(server, limits)
        func token(_ name: String) async throws -> String {
            let made = await limited.admin(.post, "/admin/v1/users/username:\(name)/password-reset")
            return try #require(made.string("reset_token"))
        }
        let (anna, bert) = (try await token("anna"), try await token("bert"))
        switch key {
        case .address:
            let answers = [
                await limited.reset("wrong", to: "another horse"), await limited.reset("x", to: "another horse"),
            ]
            return (
                answers, await limited.reset(bert, to: "another horse"),
                await limited.reset(bert, to: "another horse", from: "192.0.2.2"), 204
            )
        case .user, .device:
            // The device of one call is not known by anything but the token; that of the user's next mail has the same limit.
            let answers = [await limited.reset(anna, to: "x"), await limited.reset(anna, to: "x", from: "192.0.2.2")]
            let last = key == .device ? anna : try await token("anna")
            return (
                answers, await limited.reset(last, to: "another horse", from: "192.0.2.3"),
                await limited.reset(bert, to: "another horse"), 204
            )
        }
    }

    private static func token(_ key: Key, _ server: EndpointsFixture) async throws -> Story {
        var limits = RateLimits()
        switch key {
        case .address: limits.refusedTokensPerAddress = 2
        case .user: limits.refusedTokensPerUser = 2
        case .device: limits.refusedTokensPerSession = 2
        }
        let limited = RateLimitFixture(server, limits)
        /// A token of a session that has ended.
        func ended(_ name: String, _ device: String) async throws -> String {
            let token = try #require(await limited.logIn(as: name, device: device).string("refresh_token"))
            let out = await limited.json(.post, "/v1/logout", #"{"refresh_token":"\#(token)"}"#)
            #expect(out.status == 204)
            return token
        }
        let (phone, tablet) = (try await ended("anna", "phone-1"), try await ended("anna", "tablet"))
        let bert = try await ended("bert", "phone-1")
        switch key {
        case .address:
            let answers = [await limited.refresh("junk"), await limited.refresh("more junk")]
            return (answers, await limited.refresh(phone), await limited.refresh(phone, from: "192.0.2.2"), 400)
        case .user:
            let answers = [await limited.refresh(phone), await limited.refresh(tablet, from: "192.0.2.2")]
            return (answers, await limited.refresh(phone, from: "192.0.2.3"), await limited.refresh(bert), 400)
        case .device:
            let answers = [await limited.refresh(phone), await limited.refresh(phone, from: "192.0.2.2")]
            return (answers, await limited.refresh(phone, from: "192.0.2.3"), await limited.refresh(tablet), 400)
        }
    }

    @Test(arguments: Call.allCases, Key.allCases)
    func tooManyCallsAreToldToWait_andNoOthers(_ call: Call, _ key: Key) async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            #expect(made.status == 201)
            let kept = try await server.logIn(device: "kept")
            let story =
                switch call {
                case .login: try await Self.login(key, server)
                case .reset: try await Self.reset(key, server)
                case .token: try await Self.token(key, server)
                }
            #expect(story.answers.allSatisfy { [400, 401].contains($0.status) })
            #expect(story.refused.status == 429, "\(story.refused.text)")
            #expect((story.refused.field("Retry-After").flatMap { Int($0) } ?? 0) > 0)
            #expect(story.other.status == story.otherStatus, "\(story.other.text)")
            // No session that lives is ended or kept waiting by it.
            #expect(await server.refresh(kept.refresh).status == 200)
            #expect(await server.call(.get, "/v1/me", bearer: kept.access).status == 200)
        }
    }
}
