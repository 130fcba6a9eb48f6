import FoundationEssentials
import HTTP
import Sessions
import Testing

@testable import Endpoints

@Suite struct RateLimitTests {
    private static func limits(_ set: (inout RateLimits) -> Void) -> RateLimits {
        var limits = RateLimits()
        set(&limits)
        return limits
    }

    @Test func wrongPasswordsFromOneAddressMeetTheLimitForAnyUser() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.wrongPasswordsPerAddress = 3 })
            for name in ["anna", "nobody", "somebody"] {
                let answer = await limited.logIn("wrong", as: name)
                #expect(answer.status == 401)
            }
            let refused = await limited.logIn("wrong", as: "bert")
            #expect(refused.status == 429)
            #expect(refused.string("code") == "too_many_requests")
            #expect(refused.field("Content-Type") == "application/problem+json")
            #expect(refused.field("Retry-After") == "21")
            #expect(limited.refusals(.wrongPasswordsPerAddress))
            // Not even the right password is tried then, and others are not touched.
            let right = await limited.logIn()
            #expect(right.status == 429)
            let elsewhere = await limited.logIn(from: "192.0.2.2")
            #expect(elsewhere.status == 200)
            limited.wait(seconds: 21)
            let later = await limited.logIn()
            #expect(later.status == 200)
        }
    }

    /// Guesses with one session's token do not limit other sessions of the same address, and are slowed down by their own number.
    @Test func aPasswordWithARefreshIsNoGuessOfTheAddress() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.wrongPasswordsPerAddress = 2 })
            let login = await limited.logIn()
            let token = try #require(login.string("refresh_token"))
            for _ in 1...10 {
                let guess = await limited.refresh(token + "&password=wrong")
                #expect(guess.status == 400)
            }
            let refused = await limited.refresh(token + "&password=wrong")
            #expect(refused.status == 429)
            #expect(!limited.refusals(.wrongPasswordsPerAddress))
            let elsewhere = await limited.logIn(device: "phone-2")
            #expect(elsewhere.status == 200)
            // What holds no password is none.
            let refresh = await limited.refresh(token)
            #expect(refresh.status == 200)
        }
    }

    /// A token of an ended session tells nothing about the password.
    @Test func noPasswordIsTriedForASessionThatHasEnded() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.wrongPasswordsPerAddress = 1 })
            let login = await limited.logIn()
            let token = try #require(login.string("refresh_token"))
            _ = await server.admin(.post, "/admin/v1/users/username:anna/revoke")
            for password in ["wrong", "worse", EndpointsFixture.password.replacing(" ", with: "+")] {
                let answer = await limited.refresh(token + "&password=\(password)")
                #expect(answer.string("reason") == "revoked_by_admin")
            }
            #expect(await server.admin(.get, "/admin/v1/events?limit=200").text.contains("login_failed") == false)
        }
    }

    @Test func aLoginThatIsRefusedAfterTheRightPasswordIsNotCounted() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.wrongPasswordsPerAddress = 1 })
            _ = await server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
            for _ in 1...3 {
                let answer = await limited.logIn()
                #expect(answer.status == 403)
            }
        }
    }

    @Test func whatSucceedsIsNotCounted() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(
                server,
                Self.limits {
                    $0.wrongPasswordsPerAddress = 1
                    $0.refusedTokensPerAddress = 1
                    $0.refusedTokensPerSession = 1
                })
            var token = ""
            for device in 1...5 {
                let answer = await limited.logIn(device: "phone-\(device)")
                #expect(answer.status == 200)
                token = try #require(answer.string("refresh_token"))
            }
            for _ in 1...20 {
                let answer = await limited.refresh(token)
                #expect(answer.status == 200)
            }
            // Nor is it limited while others at the same address are refused.
            for _ in 1...3 { _ = await limited.refresh("junk") }
            let junk = await limited.refresh("junk")
            #expect(junk.status == 429)
            let honest = await limited.refresh(token)
            #expect(honest.status == 200)
        }
    }

    @Test func refusedTokensMeetTheLimitInEitherFace() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerAddress = 2 })
            for _ in 1...2 {
                let answer = await limited.refresh("junk")
                #expect(answer.status == 400)
                #expect(answer.string("reason") == "malformed")
            }
            let oauth = await limited.refresh("junk")
            #expect(oauth.status == 429)
            #expect(oauth.string("error") == "temporarily_unavailable")
            #expect(oauth.string("reauthenticate") == nil && oauth.bool("reauthenticate") == nil)
            #expect(oauth.field("Retry-After") == "31")
            let json = await limited.json(.post, "/v1/refresh", #"{"refresh_token":"junk"}"#)
            #expect(json.status == 429)
            #expect(json.string("code") == "too_many_requests")
            let client = await limited.form("/oauth/introspect", "token=x&client_id=y&client_secret=z")
            #expect(client.status == 429)
            // What cannot be read at all is a mistake, and no guess.
            let unreadable = await limited.form("/oauth/token", "grant_type=refresh_token")
            #expect(unreadable.status == 400)
        }
    }

    @Test func aSessionThatWasRefusedTooOftenIsToldToWait() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.refusedTokensPerSession = 2 })
            let ended = try #require((await limited.logIn()).string("refresh_token"))
            let living = try #require((await limited.logIn(device: "phone-2")).string("refresh_token"))
            let out = await limited.json(.post, "/v1/logout", #"{"refresh_token":"\#(ended)"}"#)
            #expect(out.status == 204)
            for index in 1...3 {
                let answer = await limited.refresh(ended, from: "192.0.2.\(index)")
                #expect(answer.status == (index == 3 ? 429 : 400))
            }
            #expect(limited.refusals(.refusedTokensPerSession))
            let other = await limited.refresh(living)
            #expect(other.status == 200)
        }
    }

    @Test func anAppThatLogsInAgainAndAgainMeetsTheLimitOfItsDevice() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.loginsPerDevice = 2 })
            for _ in 1...2 {
                let answer = await limited.logIn()
                #expect(answer.status == 200)
            }
            // The name is one, however it is written.
            let refused = await limited.logIn(as: "ANNA")
            #expect(refused.status == 429)
            let other = await limited.logIn(device: "phone-2")
            #expect(other.status == 200)
            // A device belongs to no user alone either: its id is no secret.
            let stranger = await limited.logIn("wrong", as: "bert")
            #expect(stranger.status == 401)
        }
    }

    @Test func wrongResetTokensMeetTheLimitBeforeAnythingIsHashed() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.failedResetsPerAddress = 2 })
            for _ in 1...2 {
                let answer = await limited.reset("wrong", to: "another horse")
                #expect(answer.status == 400)
            }
            let refused = await limited.reset("wrong", to: "another horse")
            #expect(refused.status == 429)
            let made = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let token = try #require(made.string("reset_token"))
            let early = await limited.reset(token, to: "another horse")
            #expect(early.status == 429)
            limited.wait(seconds: 31)
            let done = await limited.reset(token, to: "another horse")
            #expect(done.status == 204)
        }
    }

    @Test func passwordsWithoutATokenInOtherCallsCountAsWell() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.wrongPasswordsPerAddress = 2 })
            func setLogins(_ password: String) async -> Answer {
                await limited.json(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":false}"#,
                    authorization: "Basic " + Data("anna:\(password)".utf8).base64EncodedString())
            }
            #expect(await setLogins(EndpointsFixture.password).status == 200)
            for _ in 1...2 { #expect(await setLogins("wrong").status == 401) }
            #expect(await setLogins(EndpointsFixture.password).status == 429)
            let refused = await limited.logIn()
            #expect(refused.status == 429)
        }
    }

    @Test func zeroMeansNoLimitAndTheLocalSocketHasNoAddress() async throws {
        try await EndpointsFixture.with { server in
            let without = RateLimitFixture(
                server,
                Self.limits {
                    $0.wrongPasswordsPerAddress = 0
                    $0.refusedTokensPerAddress = 0
                })
            let local = RateLimitFixture(server, Self.limits { $0.refusedTokensPerAddress = 1 })
            for _ in 1...4 {
                let (first, second) = (await without.refresh("junk"), await local.refresh("junk", from: nil))
                #expect(first.status == 400)
                #expect(second.status == 400)
            }
        }
    }

    @Test func anIPv6CustomerIsOneCaller() {
        func network(_ text: String) -> CallerNetwork { CallerNetwork(text, ipv6PrefixBits: 64) }
        #expect(network("2001:db8:1:2::1") == network("2001:db8:1:2:ffff::9"))
        #expect(network("2001:db8:1:2::1") != network("2001:db8:1:3::1"))
        #expect(network("::ffff:192.0.2.1") == network("192.0.2.1"))
        #expect(network("192.0.2.1") != network("192.0.2.2"))
        #expect(network("_hidden:1") == network("_hidden:1"))
        #expect(
            CallerNetwork("2001:db8:ff::", ipv6PrefixBits: 44) == CallerNetwork("2001:db8:f0::", ipv6PrefixBits: 44))
        #expect(
            CallerNetwork("2001:db8:ff::", ipv6PrefixBits: 44) != CallerNetwork("2001:db8:ef::", ipv6PrefixBits: 44))
    }

    @Test func theAddressesOfAnIPv6CustomerShareALimit() async throws {
        try await EndpointsFixture.with { server in
            let limited = RateLimitFixture(server, Self.limits { $0.wrongPasswordsPerAddress = 1 })
            #expect(await limited.logIn("wrong", from: "2001:db8:1:2::1").status == 401)
            #expect(await limited.logIn(from: "2001:db8:1:2:ffff::9").status == 429)
            #expect(await limited.logIn(from: "2001:db8:1:3::1").status == 200)
        }
    }

    @Test func aBucketFillsAgainTokenByToken() throws {
        let buckets = try #require(TokenBuckets(perMinute: 2))
        let second: Int64 = 1_000_000_000
        #expect(buckets.take("a", at: 0) == nil)
        #expect(buckets.take("a", at: 0) == nil)
        #expect(buckets.take("a", at: 0) == 30 * second)
        #expect(buckets.take("a", at: 30 * second - 1) == 1)
        #expect(buckets.take("a", at: 30 * second) == nil)
        buckets.giveBack("a")
        #expect(buckets.take("a", at: 30 * second) == nil)
        #expect(buckets.take("b", at: 30 * second) == nil)
        #expect(TokenBuckets(perMinute: 0) == nil)
    }

    @Test func aTokenIsGivenBackToNoOtherCaller() throws {
        let buckets = try (#require(TokenBuckets(perMinute: 2)), #require(TokenBuckets(perMinute: 2)))
        let others = 0..<TokenBuckets.bucketCount * 4
        // Pushed out by those that are emptier. In one process keys have the same places in every table.
        for table in [buckets.0, buckets.1] {
            #expect(table.take("a", at: 0) == nil)
            for other in others { for _ in 1...2 { _ = table.take(other, at: 0) } }
        }
        buckets.1.giveBack("a")
        for other in others.reversed() where buckets.0.take(other, at: 0) != buckets.1.take(other, at: 0) {
            Issue.record("\(other) has got it")
        }
    }

    @Test func aFloodOfOtherKeysDoesNotPushOutAnEmptyBucket() throws {
        let buckets = try #require(TokenBuckets(perMinute: 10))
        for _ in 1...10 { #expect(buckets.take("attacker", at: 0) == nil) }
        // Ten times as many as there are places, each with a token or two taken.
        for other in 0..<TokenBuckets.bucketCount * 10 { _ = buckets.take(other, at: 1) }
        #expect(buckets.take("attacker", at: 2) != nil)
    }
}
