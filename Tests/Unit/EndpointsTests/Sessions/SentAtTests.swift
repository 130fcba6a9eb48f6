import HTTP
import Sessions
import Testing

/// `sent_at`: a request that was under way for too long is not decided, and spends nothing.
@Suite struct SentAtTests {
    private static let start = EndpointsFixture.start

    /// Age of the request in seconds, and whether it is decided. Half the rotation interval is 60 s.
    @Test(arguments: [(0, true), (60, true), (61, false), (5000, false), (-30, true), (-31, false)] as [(Int64, Bool)])
    func onlyPresentRequestsAreDecided(age: Int64, isDecided: Bool) async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            server.moveClock(to: 500)
            let sentAt = Self.start + 500 - age
            let form = await server.refresh(tokens.refresh, more: "&sent_at=\(sentAt)")
            #expect(form.status == (isDecided ? 200 : 503))
            if !isDecided {
                #expect(form.field("Retry-After") == "0")
                #expect(form.string("error") == "temporarily_unavailable")
                #expect(form.string("reason") == "stale_request")
                let json = await server.call(
                    .post, "/v1/refresh", #"{"refresh_token":"\#(tokens.refresh)","sent_at":\#(sentAt)}"#)
                #expect(json.status == 503)
                #expect(json.string("code") == "stale_request")
                #expect(json.bool("reauthenticate") == nil)
                // Nothing was spent, and an old token ends nothing.
                #expect(await server.refresh(tokens.refresh, more: "&sent_at=\(Self.start + 500)").status == 200)
            }
        }
    }

    /// The first and the third refresh token of a session, which rotated after 200 and after 400 seconds.
    private static func rotateTwice(at server: EndpointsFixture) async throws -> (first: String, third: String) {
        let first = try await server.logIn().refresh
        server.moveClock(to: 200)
        let second = try #require(await server.refresh(first).string("refresh_token"))
        server.moveClock(to: 400)
        return (first, try #require(await server.refresh(second).string("refresh_token")))
    }

    @Test func aStaleRequestWithAnOldToken_endsNothing() async throws {
        try await EndpointsFixture.with { server in
            let (first, third) = try await Self.rotateTwice(at: server)
            #expect(await server.refresh(first, more: "&sent_at=\(Self.start)").status == 503)
            #expect(await server.refresh(third).status == 200)
        }
    }

    /// The request is young, and its token became an older one while it was under way: that proves no theft.
    @Test(arguments: [(399, false), (400, false), (401, true)] as [(Int64, Bool)])
    func anOldTokenThatWasSentBeforeTheLastRotation_endsNothing(sentAt: Int64, endsTheSession: Bool) async throws {
        try await EndpointsFixture.with { server in
            let (first, third) = try await Self.rotateTwice(at: server)
            server.moveClock(to: 410)
            let answer = await server.refresh(first, more: "&sent_at=\(Self.start + sentAt)")
            #expect(answer.status == (endsTheSession ? 400 : 503))
            #expect(answer.string("reason") == (endsTheSession ? "refresh_token_reused" : "stale_request"))
            #expect(await server.refresh(third).status == (endsTheSession ? 400 : 200))
            if endsTheSession { return }
            // A thief with the old token alone learns nothing by it, and is found out as soon as it says the present time.
            #expect(answer.string("refresh_token") == nil)
            #expect(await server.refresh(first, more: "&sent_at=\(Self.start + 410)").status == 400)
        }
    }

    @Test func strictRotation_doesNotLookAtIt() async throws {
        try await EndpointsFixture.with { server in
            _ = await server.admin(.put, "/admin/v1/settings/sessions", #"{"rotation_interval":0}"#)
            let tokens = try await server.logIn()
            #expect(await server.refresh(tokens.refresh, more: "&sent_at=0").status == 200)
        }
    }

    @Test(arguments: ["", "now", "-1", "1.5", "99999999999999999999", "253402300800"])
    func aTimeThatIsNone_isRefused(text: String) async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let answer = await server.refresh(tokens.refresh, more: "&sent_at=\(text)")
            // An empty parameter counts as absent (RFC 6749 section 3.2).
            #expect(answer.status == (text.isEmpty ? 200 : 400))
            if !text.isEmpty { #expect(answer.string("error") == "invalid_request") }
        }
    }
}
