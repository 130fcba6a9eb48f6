import FoundationEssentials
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Strangers behind the same address: their failedAttempts stop no session that lives, whatever it asks for with its own token.
@Suite struct SharedAddressTests {
    private static let right = "&password=correct+horse"

    @Test func anEmptyBucketOfTheAddressStopsNoSession() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            var limits = RateLimits()
            limits.wrongPasswordsPerAddress = 5
            let limited = RateLimitFixture(server, limits)
            for name in ["a", "b", "c", "d", "e"] { #expect(await limited.logIn("wrong", as: name).status == 401) }
            server.moveClock(to: 4000)
            func resume(_ password: String) async -> Answer {
                await limited.form(
                    "/oauth/token",
                    "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile"
                        + "&assertion=\(phone.device.assertion(server, phone.tokens))\(password)")
            }
            func send(_ method: HTTP.Method, _ path: String, _ json: String) async -> Answer {
                await limited.json(method, path, json, authorization: "Bearer \(phone.tokens.access)")
            }
            // The user is asked for first.
            #expect(await limited.refresh(phone.tokens.refresh).status == 400)
            let password = #""password":"\#(EndpointsFixture.password)""#
            let answers = [
                ("refresh", await limited.refresh(phone.tokens.refresh + Self.right)),
                (
                    "refresh with JSON",
                    await limited.json(
                        .post, "/v1/refresh", #"{"refresh_token":"\#(phone.tokens.refresh)",\#(password)}"#)
                ),
                ("resumption", await resume(Self.right)),
                ("presence", await send(.post, "/v1/me/presence", "{\(password)}")),
                ("profile", await send(.patch, "/v1/me", #"{"email":"new@example.org",\#(password)}"#)),
                (
                    "mode",
                    await send(.put, "/v1/me/authentication-mode", #"{"authentication_mode":"NO",\#(password)}"#)
                ),
                (
                    "password",
                    await send(
                        .put, "/v1/me/password",
                        #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse"}"#)
                ),
            ]
            for (call, answer) in answers { #expect(answer.status < 300, "\(call): \(answer.text)") }
            // A call without a token is refused all the while, and so is one with the password alone.
            #expect(await limited.logIn("another horse").status == 429)
            let basic = "Basic " + Data("anna:another horse".utf8).base64EncodedString()
            let settings = await limited.json(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, authorization: basic)
            #expect(settings.status == 429)
        }
    }
}
