import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The policy at logins and refreshes, one row for each way in.
struct FactorPolicyTests {
    @Test("Under `required` a refresh of a session without a second factor is asked for it, and none ends")
    func refresh() async throws {
        try await EndpointsFixture.with { server in
            let old = try await server.logIn(device: "old")
            let (enrolledTokens, authenticator, _) = try await server.enrolled()
            await server.setPolicy(.required)
            server.moveClock(to: 60)

            let refused = await server.refresh(old.refresh)
            #expect(refused.status == 400)
            #expect(refused.string("error") == "insufficient_user_authentication")
            #expect(refused.string("acr_values") == "mfa")
            #expect(refused.bool("reauthenticate") == false)
            // The password alone is one factor.
            let password = "&password=correct%20horse"
            #expect(await server.refresh(old.refresh, more: password).string("acr_values") == "mfa")
            let renewed = await server.refresh(old.refresh, more: password + "&otp=\(authenticator.code())")
            #expect(renewed.status == 200)
            #expect(renewed.string("session_id") == old.sessionID)
            server.moveClock(to: 4000)
            #expect(await server.refresh(try Tokens(renewed).refresh).status == 200)
            // The session in which the authenticator was confirmed has proved both.
            #expect(await server.refresh(enrolledTokens.refresh).status == 200)
        }
    }

    @Test("A user without a second factor adds one at the login that demands it")
    func enrolling() async throws {
        try await EndpointsFixture.with { server in
            let old = try await server.logIn(device: "phone-2")
            await server.setPolicy(.required)
            let first = await server.logInStep(#","session_id":"\#(old.sessionID)""#)
            #expect(first.string("code") == "second_factor_required")
            #expect(first.bool("enrols") == true)
            #expect(first.strings("methods") == [])
            let token = try #require(first.string("login_token"))
            let added = await server.call(
                .post, "/v1/login/totp", #"{"login_token":"\#(token)","device":{"id":"phone-2"}}"#)
            #expect(added.status == 201)
            let authenticator = try Authenticator(added, server)

            #expect(await server.continueLogin(token, code: authenticator.wrongCode).status == 401)
            let second = await server.continueLogin(
                token, code: authenticator.code(), more: #","session_id":"\#(old.sessionID)""#)
            #expect(second.status == 200)
            #expect(second.string("session_id") == old.sessionID)
            server.moveClock(to: 4000)
            #expect(await server.refresh(try Tokens(second).refresh).status == 200)
            // The login adds no further one.
            let again = try #require(await server.logInStep().string("login_token"))
            let more = await server.call(
                .post, "/v1/login/totp", #"{"login_token":"\#(again)","device":{"id":"phone-2"}}"#)
            #expect(more.string("code") == "second_factor_exists")
        }
    }

    @Test("The stricter one of settings and client holds")
    func stricter() async throws {
        try await EndpointsFixture.with { server in
            for (settings, client) in [(SecondFactorPolicy.off, "required_at_login"), (.requiredAtLogin, "off")] {
                await server.setPolicy(settings)
                let changed = await server.admin(
                    .patch, "/admin/v1/clients/mobile", #"{"second_factor_policy":"\#(client)"}"#)
                #expect(changed.string("second_factor_policy") == client)
                #expect(await server.logInStep().string("code") == "second_factor_required", "\(settings)")
            }
            await server.setPolicy(.off)
            #expect(
                await server.admin(.patch, "/admin/v1/clients/mobile", #"{"second_factor_policy":null}"#).status == 200)
            #expect(await server.logInStep().status == 200)
        }
    }

    @Test("`off` asks no one, not even a user with an authenticator")
    func off() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.enrolled()
            await server.setPolicy(.off)
            #expect(await server.logInStep().status == 200)
        }
    }

    @Test("An admin requires a second factor of one user, or exempts the user")
    func users() async throws {
        try await EndpointsFixture.with { server in
            let old = try await server.logIn()
            func decide(_ text: String) async -> Answer {
                await server.admin(
                    .put, "/admin/v1/users/username:anna/second-factor", #"{"second_factor":\#(text)}"#)
            }
            #expect(await decide(#""required""#).integer("revoked") == 1)
            #expect(await server.refresh(old.refresh).string("reason") == "revoked_by_admin")
            #expect(await server.logInStep().string("code") == "second_factor_required")
            #expect(await decide("null").status == 200)
            #expect(await server.logInStep().status == 200)

            await server.setPolicy(.required)
            #expect(await decide(#""exempt""#).integer("revoked") == 0)
            let exempt = try Tokens(await server.logInStep())
            server.moveClock(to: 4000)
            let renewed = await server.refresh(exempt.refresh)
            #expect(renewed.status == 200)
            #expect(try Answer.claims(of: try Tokens(renewed).access).strings("amr") == ["pwd"])
            // The end of the exemption ends what it has let in.
            #expect(await decide("null").integer("revoked") == 1)
            #expect(await server.refresh(try Tokens(renewed).refresh).string("reason") == "revoked_by_admin")
        }
    }

    @Test("Ways that take no second factor are refused under a policy that demands one, but for a backend's")
    func otherWays() async throws {
        try await EndpointsFixture.with { server in
            #expect(
                await server.admin(.patch, "/admin/v1/clients/mobile", #"{"anonymous_users":true}"#).status == 200)
            await server.setPolicy(.required)
            let anonymous = await server.call(
                .post, "/v1/login", #"{"anonymous":true,"device":{"id":"a"}}"#)
            #expect(anonymous.status == 403)
            #expect(anonymous.string("code") == "second_factor_required")

            let minted = await server.admin(
                .post, "/admin/v1/users/username:anna/sessions", #"{"device":{"id":"m"}}"#)
            #expect(minted.status == 200 || minted.status == 201)
            server.moveClock(to: 60)
            let refused = await server.refresh(try Tokens(minted).refresh)
            #expect(refused.string("error") == "insufficient_user_authentication")
            #expect(refused.string("acr_values") == "mfa")
        }
    }

    @Test("A password reset removes no authenticator, and lets no one in")
    func reset() async throws {
        try await EndpointsFixture.with { server in
            _ = try await server.enrolled()
            let made = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            let token = try #require(made.string("reset_token"))
            let answer = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"another horse battery"}"#)
            #expect(answer.status == 204)
            server.keepSecret("another horse battery")
            let login = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"another horse battery","device":{"id":"x"}}"#)
            #expect(login.string("code") == "second_factor_required")
        }
    }

    @Test("A user without an authenticator logs in as before, and a policy costs the refresh no statement")
    func unchanged() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let claims = try Answer.claims(of: tokens.access)
            #expect(claims.strings("amr") == ["pwd"])
            #expect(claims.string("acr") == nil)
        }
    }
}
