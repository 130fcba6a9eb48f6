import HTTP
import Sessions
import Testing

@testable import Endpoints

/// An address makes only so many anonymous users in an hour.
@Suite struct AnonymousRateLimitTests {
    private func logIn(_ limited: RateLimitFixture, _ more: String = "", from address: String = "192.0.2.1") async
        -> Answer
    {
        await limited.json(
            .post, "/v1/login", #"{"anonymous":true,"device":{"id":"d"}\#(more)}"#, from: address)
    }

    @Test func sixtyAtOnce_thenOneEachMinute() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            let limited = RateLimitFixture(server, RateLimits())
            for _ in 1...60 { #expect(await logIn(limited).status == 200) }
            let refused = await logIn(limited)
            #expect(refused.status == 429 && refused.string("code") == "too_many_requests")
            #expect(refused.field("Retry-After") == "61")
            #expect(limited.refusals(.anonymousLoginsPerAddress))
            // Other addresses, and users with a name, are not concerned.
            #expect(await logIn(limited, from: "192.0.2.2").status == 200)
            #expect(await limited.logIn().status == 200)
            limited.wait(seconds: 61)
            #expect(await logIn(limited).status == 200)
            #expect(await logIn(limited).status == 429)
        }
    }

    @Test func loginsThatFail_doNotCount() async throws {
        try await EndpointsFixture.withAnonymousUsers { server in
            var limits = RateLimits()
            limits.anonymousLoginsPerAddress = 1
            let limited = RateLimitFixture(server, limits)
            for _ in 1...3 { #expect(await logIn(limited, #","scope":"all""#).status == 400) }
            #expect(await logIn(limited).status == 200)
            #expect(await logIn(limited).status == 429)
        }
    }
}
