import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A device or a backend that asks too often for the result of a login is told to slow down (RFC 8628 section 3.5).
@Suite struct PollPaceTests {
    private static let second: Int64 = 1_000_000_000

    @Test("each poll that comes too soon makes the interval five seconds longer, up to a minute, for this login alone")
    func growing() {
        let paces = PollPaces(.seconds(5))
        var now: Int64 = 0
        #expect(!paces.isTooSoon("a", at: now))
        // A second is allowed for the way.
        now += 4 * Self.second
        #expect(!paces.isTooSoon("a", at: now))
        now += 4 * Self.second - 1
        #expect(paces.isTooSoon("a", at: now))
        #expect(!paces.isTooSoon("b", at: now))
        now += 9 * Self.second
        #expect(!paces.isTooSoon("a", at: now))
        now += 9 * Self.second - 1
        #expect(paces.isTooSoon("a", at: now))
        now += 14 * Self.second
        #expect(!paces.isTooSoon("a", at: now))
        for _ in 0..<30 { #expect(paces.isTooSoon("a", at: now)) }
        now += 59 * Self.second
        #expect(!paces.isTooSoon("a", at: now))
    }

    @Test("the memory is bounded, and a forgotten login only may ask sooner")
    func bounded() {
        let paces = PollPaces(.seconds(5))
        for number in 0...PollPaces.countMax { _ = paces.isTooSoon("\(number)", at: 0) }
        #expect(paces.count == 1)
        for number in 1...PollPaces.countMax { _ = paces.isTooSoon("\(number)", at: 61 * Self.second) }
        #expect(paces.count <= PollPaces.countMax)
        #expect(!paces.isTooSoon("again", at: 61 * Self.second))
    }

    @Test("a device hears at the token endpoint that it polls too soon, and gets its tokens at once after the approval")
    func device() async throws {
        try await DeviceLogin.with { server, phone in
            let limited = RateLimitFixture(server, RateLimits())
            let login = try await DeviceLogin(server)
            func poll() async -> String? {
                await limited.form(
                    "/oauth/token",
                    "grant_type=\(DeviceLogin.grant)&client_id=tv&device_code=\(login.secret)&device_id=tv-1"
                ).string("error")
            }
            #expect(login.opened.integer("interval") == 5)
            #expect(await poll() == "authorization_pending")
            #expect(await poll() == "slow_down")
            limited.wait(seconds: 5)
            #expect(await poll() == "slow_down")
            limited.wait(seconds: 15)
            #expect(await poll() == "authorization_pending")
            try await login.approve(phone)
            #expect(await poll() == nil)
        }
    }
}
