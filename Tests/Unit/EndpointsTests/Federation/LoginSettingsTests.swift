import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The user's own switch can be read, and can end the sessions in the same step.
@Suite struct LoginSettingsTests {
    private static let path = "/v1/me/login-settings"
    private static let basic: Fields = ["Authorization": "Basic YW5uYTpjb3JyZWN0IGhvcnNl"]

    @Test(arguments: ["immediate", "on_expiry"])
    func theSwitchIsShownAsItIs(_ effective: String) async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let on = await server.call(.get, Self.path, bearer: tokens.access)
            #expect(on.status == 200 && on.text == #"{"logins_disabled":false}"#, "\(on.text)")
            server.moveClock(to: 10)
            let change = #"{"logins_disabled":true,"effective":"\#(effective)"}"#
            #expect(await server.call(.put, Self.path, change, bearer: tokens.access).bool("logins_disabled") == true)
            server.moveClock(to: 20)
            let byToken = await server.call(.get, Self.path, bearer: tokens.access)
            #expect(byToken.status == (effective == "immediate" ? 401 : 200))
            #expect(byToken.string("code") == (effective == "immediate" ? "login_disabled_by_user" : nil))
            let off = await server.call(.get, Self.path, fields: Self.basic)
            #expect(off.status == 200 && off.string("effective") == effective)
            #expect(off.integer("since") == EndpointsFixture.start + 10)
            let wrong = await server.call(.get, Self.path, fields: ["Authorization": "Basic YW5uYTp3cm9uZw=="])
            #expect(wrong.string("code") == "invalid_credentials")
            #expect(await server.call(.get, Self.path).string("code") == "unauthenticated")
        }
    }

    @Test func theSwitchEndsAllSessions_evenWhileLoginsAreOffAtOnce() async throws {
        try await EndpointsFixture.with { server in
            let phones = [try await server.logIn(device: "a"), try await server.logIn(device: "b")]
            let off = await server.call(.put, Self.path, #"{"logins_disabled":true}"#, bearer: phones[0].access)
            #expect(off.status == 200 && !off.names.contains("revoked"))
            let ended = await server.call(
                .put, Self.path, #"{"logins_disabled":true,"revoke_sessions":true}"#, fields: Self.basic)
            #expect(ended.status == 200 && ended.integer("revoked") == 2, "\(ended.text)")
            let again = await server.call(
                .put, Self.path, #"{"logins_disabled":false,"revoke_sessions":true}"#, fields: Self.basic)
            #expect(again.integer("revoked") == 0 && again.bool("logins_disabled") == false)
            for phone in phones {
                #expect(await server.refresh(phone.refresh).string("reason") == "revoked_by_user")
                #expect(await server.call(.get, "/v1/me", bearer: phone.access).string("code") == "revoked_by_user")
            }
            let events = await server.admin(.get, "/admin/v1/events").items.compactMap { $0.string("event") }
            #expect(events.count { $0 == "sessions_ended" } == 2, "\(events)")
        }
    }

    @Test func aTokenEndsItsOwnSessionToo() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let answer = await server.call(
                .put, Self.path, #"{"logins_disabled":false,"revoke_sessions":true}"#, bearer: tokens.access)
            #expect(answer.status == 200 && answer.integer("revoked") == 1, "\(answer.text)")
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_user")
        }
    }

    @Test func aRefusedSwitchEndsNothing() async throws {
        try await ProviderFixture.with { world in
            let tokens = try Tokens(await world.logIn())
            let user = "/admin/v1/users/\(tokens.userID)/identities?provider=acme&subject=u1"
            #expect(await world.server.admin(.delete, user).status == 204)
            let answer = await world.server.call(
                .put, Self.path, #"{"logins_disabled":true,"revoke_sessions":true}"#, bearer: tokens.access)
            #expect(answer.status == 409, "\(answer.text)")
            #expect(await world.server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func theSettingsShowTheAbsoluteMaximum_andCanBeSentBack() async throws {
        try await EndpointsFixture.with { server in
            let path = "/admin/v1/settings/sessions"
            let shown = await server.admin(.get, path)
            #expect(shown.integer("absolute_max_lifetime") == EndpointsFixture.absoluteMaximum)
            let back = await server.admin(.put, path, shown.text)
            #expect(back.status == 200 && back.text == shown.text, "\(back.text)")
            let raised = await server.admin(.put, path, #"{"absolute_max_lifetime":31536001}"#)
            #expect(raised.status == 400 && raised.string("member") == "absolute_max_lifetime", "\(raised.text)")
        }
    }
}
