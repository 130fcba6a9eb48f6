import FoundationEssentials
import HTTP
import Locks
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Limits for each user, whatever addresses, devices and sessions the calls come from. They count only what a caller with a
/// token of the user can send: a stranger uses up nothing of it.
@Suite struct UserRateLimitTests {
    private static func limits(_ set: (inout RateLimits) -> Void) -> RateLimits {
        var limits = RateLimits()
        set(&limits)
        return limits
    }

    /// A refresh token of another device each, of sessions that an admin has ended.
    private func endedSessions(_ limited: RateLimitFixture, _ count: Int) async throws -> [String] {
        var tokens: [String] = []
        for device in 1...count {
            tokens.append(try #require((await limited.logIn(device: "old-\(device)")).string("refresh_token")))
        }
        #expect(await limited.admin(.post, "/admin/v1/users/username:anna/revoke").status == 200)
        return tokens
    }

    @Test func refusedRefreshesCountOverAllSessionsOfAUser() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerUser = 3 })
            let ended = try await endedSessions(limited, 4)
            let living = try #require((await limited.logIn()).string("refresh_token"))
            for (index, token) in ended.prefix(3).enumerated() {
                #expect(await limited.refresh(token, from: "192.0.2.\(index)").string("reason") == "revoked_by_admin")
            }
            let refused = await limited.refresh(ended[3], from: "192.0.2.77")
            #expect(refused.status == 429)
            #expect(refused.string("error") == "temporarily_unavailable")
            #expect(refused.field("Retry-After") == "21")
            #expect(limited.refusals(.refusedTokensPerUser))
            let json = await limited.json(.post, "/v1/refresh", #"{"refresh_token":"\#(ended[0])"}"#)
            #expect(json.string("code") == "too_many_requests")
            // What succeeds never comes to the door.
            for _ in 1...5 { #expect(await limited.refresh(living).status == 200) }
            limited.wait(seconds: 21)
            #expect(await limited.refresh(ended[3]).status == 400)
        }
    }

    @Test func refusedResumptionsCountWithThem() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerUser = 2 })
            let phone = try await GuardedPhone(server, .no)
            _ = try await endedSessions(limited, 1)
            func resume() async -> Answer {
                await limited.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile"
                        + "&assertion=\(phone.device.assertion(server, phone.tokens))")
            }
            #expect(await limited.refresh(phone.tokens.refresh).status == 400)
            #expect(await resume().string("reason") == "revoked_by_admin")
            #expect(await resume().status == 429)
            #expect(await limited.refresh(phone.tokens.refresh).status == 429)
        }
    }

    /// A token of another system has no session yet, and a user all the same.
    @Test func refusedForeignTokensCountWithThem() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerUser = 1 })
            let ended = try await endedSessions(limited, 1)
            try await server.bring(lifetime: 10)
            server.moveClock(to: 10)
            #expect(await limited.refresh(EndpointsFixture.foreignToken).string("reason") == "idle_expired")
            #expect(await limited.refresh(ended[0]).status == 429)
        }
    }

    @Test func aStrangerIsHeldAgainstNoUser() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerUser = 1 })
            let phone = try await GuardedPhone(server, .no)
            let ended = try await endedSessions(limited, 2)
            // A token of anna's session with another MAC, and an assertion of another key.
            let forged = ended[0].dropLast(4) + (ended[0].hasSuffix("AAAA") ? "BBBB" : "AAAA")
            let assertion = ProvingDevice().assertion(server, phone.tokens)
            for _ in 1...3 {
                #expect(await limited.refresh(String(forged)).string("reason") == "malformed")
                let foreign = await limited.form(
                    "/oauth/token", "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion=\(assertion)")
                #expect(foreign.string("reason") == "revoked_by_admin")
            }
            #expect(await limited.refresh(ended[0]).status == 400)
            #expect(await limited.refresh(ended[1]).status == 429)
            // Nor is one user's refusal another's.
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#)
            #expect(made.status == 201)
            let other = try #require((await limited.logIn(as: "bert")).string("refresh_token"))
            let out = await limited.json(.post, "/v1/logout", #"{"refresh_token":"\#(other)"}"#)
            #expect(out.status == 204)
            #expect(await limited.refresh(other).status == 400)
        }
    }

    private func resetToken(_ limited: RateLimitFixture) async throws -> String {
        let made = await limited.admin(.post, "/admin/v1/users/username:anna/password-reset")
        return try #require(made.string("reset_token"))
    }

    @Test func resetsThatFailWithARightTokenCountForItsUser() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.failedResetsPerUser = 2 })
            let token = try await resetToken(limited)
            for index in 1...2 {
                let weak = await limited.reset(token, to: "short", from: "192.0.2.\(index)")
                #expect(weak.string("member") == "new_password")
            }
            let refused = await limited.reset(token, to: "another horse", from: "192.0.2.77")
            #expect(refused.status == 429)
            #expect(refused.field("Retry-After") == "31")
            #expect(limited.refusals(.failedResetsPerUser))
            limited.wait(seconds: 31)
            #expect(await limited.reset(token, to: "another horse").status == 204)
            // It was given back.
            let next = try await resetToken(limited)
            #expect(await limited.reset(next, to: "a third horse").status == 204)
        }
    }

    @Test func anExpiredTokenCountsAndIsNotWorthAHash() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.failedResetsPerUser = 2 })
            let token = try await resetToken(limited)
            server.moveClock(to: 3600)
            server.environment.hashes.withLock { $0 = [] }
            for _ in 1...2 {
                #expect(await limited.reset(token, to: "another horse").string("member") == "reset_token")
            }
            #expect(await limited.reset(token, to: "another horse").status == 429)
            #expect(server.environment.hashes.withLock { $0.isEmpty })
        }
    }

    /// A wrong token names a user too, and must not keep that user out; no password is hashed for it.
    @Test func aWrongTokenIsHeldAgainstNoUser() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.failedResetsPerUser = 1 })
            let token = try await resetToken(limited)
            let forged = token.dropLast(4) + (token.hasSuffix("AAAA") ? "BBBB" : "AAAA")
            server.environment.hashes.withLock { $0 = [] }
            for index in 1...5 {
                let wrong = await limited.reset(String(forged), to: "another horse", from: "192.0.2.\(index)")
                #expect(wrong.string("member") == "reset_token")
            }
            #expect(server.environment.hashes.withLock { $0.isEmpty })
            #expect(await limited.reset(token, to: "another horse").status == 204)
        }
    }

    @Test func resetTokensForOneUserAreMadeSoOftenAndTheLastStaysGood() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.resetTokensPerUser = 2 })
            let id = try #require(try await server.store.user(.username("anna"))).id
            _ = try await resetToken(limited)
            let last = await limited.admin(.post, "/admin/v1/users/\(id)/password-reset")
            for user in ["username:anna", "username:ANNA", "\(id)"] {
                let refused = await limited.admin(.post, "/admin/v1/users/\(user)/password-reset")
                #expect(refused.status == 429)
                #expect(refused.string("code") == "too_many_requests")
                #expect(refused.field("Retry-After") == "31")
            }
            #expect(limited.refusals(.resetTokensPerUser))
            let made = await server.admin(.post, "/admin/v1/users", #"{"username":"bert"}"#)
            #expect(made.status == 201)
            #expect(await limited.admin(.post, "/admin/v1/users/username:bert/password-reset").status == 200)
            for _ in 1...4 {
                #expect(await limited.admin(.post, "/admin/v1/users/username:nobody/password-reset").status == 404)
            }
            #expect(await limited.reset(try #require(last.string("reset_token")), to: "another horse").status == 204)
            limited.wait(seconds: 31)
            _ = try await resetToken(limited)
        }
    }

    @Test func aResetTokenThatCouldNotBeMadeIsNotCounted() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.resetTokensPerUser = 1 })
            let id = try #require(try await server.store.user(.username("anna"))).id
            for _ in 1...2 {
                await #expect(throws: ServiceError.overloaded) {
                    try await limited.endpoints.rateLimiter.resetToken(of: id) { () async throws(ServiceError) in
                        throw .overloaded
                    }
                }
            }
            _ = try await resetToken(limited)
        }
    }

    /// Where the process's memory stands, in bytes.
    private func residentMemory() throws -> Int {
        let statistics = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
        return try #require(Int(statistics.split(separator: " ")[1])) * 4096
    }

    /// However many users there are: a table of numbers for each would take tens of megabytes.
    @Test func halfAMillionUsersTakeNoMoreMemoryThanAFew() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, RateLimits()).endpoints.rateLimiter
            func touch(_ users: Range<UInt64>) async {
                for user in users {
                    let id = Identifier<User>(words: (user &* 0x9E37_79B9_7F4A_7C15, user))
                    _ = limited.refusal(.refused(.unknownSession), to: nil, of: id)
                    _ = try? await limited.resetToken(of: id) {}
                    _ = try? await limited.reset(of: id) { () async throws(ServiceError) in
                        throw .invalid(member: "new_password", detail: "is weak")
                    }
                }
            }
            await touch(0..<50_000)
            let before = try residentMemory()
            await touch(50_000..<550_000)
            #expect(try residentMemory() - before < 8 << 20)
        }
    }

    /// A script that logs in for each of its calls, and names no device.
    @Test func theSessionsOfAUserComeSoFastAndNoFaster() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.loginsPerUser = 3 })
            #expect(
                await server.admin(
                    .post, "/admin/v1/users", #"{"username":"bert","password":"\#(EndpointsFixture.password)"}"#
                ).status == 201)
            // What a stranger tries uses up nothing of it.
            for index in 1...5 {
                let wrong = await limited.logIn("wrong", device: "w-\(index)", from: "192.0.2.\(index)")
                #expect(wrong.status == 401)
            }
            // Nor does what comes to no session, nor what a backend mints.
            let scope =
                #"{"username":"anna","password":"\#(EndpointsFixture.password)","device":{"id":"d"},"scope":"all"}"#
            for _ in 1...4 { #expect(await limited.json(.post, "/v1/login", scope).status == 400) }
            for _ in 1...4 {
                #expect(await limited.admin(.post, "/admin/v1/users/username:anna/sessions").status == 200)
            }
            var token = ""
            for device in 1...3 {
                let answer = await limited.logIn(device: "d-\(device)")
                token = try #require(answer.string("refresh_token"))
            }
            server.environment.hashes.withLock { $0 = [] }
            let refused = await limited.logIn(as: "ANNA", device: "d-4")
            #expect(refused.status == 429)
            #expect(refused.string("code") == "too_many_requests")
            #expect(refused.field("Retry-After") == "28801")
            #expect(limited.refusals(.loginsPerUser))
            #expect(server.environment.hashes.withLock { $0.isEmpty })
            // It logs no user out and keeps no other one waiting, and a backend goes on.
            #expect(await limited.refresh(token).status == 200)
            #expect(await limited.logIn(as: "bert").status == 200)
            #expect(await limited.admin(.post, "/admin/v1/users/username:anna/sessions").status == 200)
            limited.wait(seconds: 28_801)
            #expect(await limited.logIn(device: "d-4").status == 200)
            #expect(await limited.logIn(device: "d-5").status == 429)
        }
    }

    @Test func ofManyLoginsAtOnceNoMoreStartSessions() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.loginsPerUser = 3 })
            let statuses = await withTaskGroup(of: Int.self) { group in
                for device in 1...9 { group.addTask { await limited.logIn(device: "d-\(device)").status } }
                return await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 3 && statuses.count { $0 == 429 } == 6, "\(statuses)")
        }
    }

    @Test func anIdentityHasItsOwn() async throws {
        try await ProviderFixture.with { world in
            let limited = RateLimitFixture(world.server, Self.limits { $0.loginsPerUser = 1 })
            func logIn(_ subject: String, _ device: String) async throws -> Answer {
                let token = try world.provider.token(#"{"sub":"\#(subject)","jti":"\#(device)"}"#)
                return await limited.json(
                    .post, "/v1/login", #"{"provider":"acme","id_token":"\#(token)","device":{"id":"\#(device)"}}"#)
            }
            var statuses: [Int] = []
            for (subject, device) in [("one", "a"), ("one", "b"), ("other", "c")] {
                let answer = try await logIn(subject, device)
                statuses.append(answer.status)
            }
            limited.wait(seconds: 86_401)
            let later = try await logIn("one", "d")
            #expect(statuses + [later.status] == [200, 429, 200, 200])
        }
    }
}
