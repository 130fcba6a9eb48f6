import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Authenticators: enrolment, and logins in one step and in two.
struct TotpTests {
    @Test("A login of a user with an authenticator takes two steps")
    func twoSteps() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)

            let first = await server.logInStep()
            #expect(first.status == 401)
            #expect(first.string("code") == "second_factor_required")
            #expect(first.strings("methods") == ["totp", "recovery_code"])
            #expect(first.string("access_token") == nil)

            let second = await server.continueLogin(
                try #require(first.string("login_token")), code: authenticator.code())
            #expect(second.status == 200)
            let claims = try Answer.claims(of: try Tokens(second).access)
            #expect(claims.strings("amr") == ["pwd", "otp", "mfa"])
            #expect(claims.string("acr") == "mfa")
            #expect(claims.integer("auth_time") == EndpointsFixture.start + 60)
        }
    }

    @Test("Password and code in one request are one step")
    func oneStep() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)

            #expect(await server.logInStep(#","code":"\#(authenticator.code())""#).status == 200)
            let wrong = await server.logInStep(#","code":"\#(authenticator.wrongCode)""#)
            #expect(wrong.status == 401)
            #expect(wrong.string("code") == "wrong_second_factor")
        }
    }

    @Test("A wrong password is answered as before, whatever code comes beside it")
    func wrongPassword() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)
            let answer = await server.call(
                .post, "/v1/login",
                #"{"username":"anna","password":"wrong horse","code":"\#(authenticator.code())","device":{"id":"x"}}"#)

            #expect(answer.string("code") == "invalid_credentials")
            #expect(await server.logInStep(#","code":"\#(authenticator.code())""#).status == 200)
        }
    }

    @Test("A code counts once, that of the enrolment as well")
    func replay() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, _) = try await server.enrolled()
            let enrolmentCode = authenticator.code()
            #expect(await server.logInStep(#","code":"\#(enrolmentCode)""#).string("code") == "wrong_second_factor")

            server.moveClock(to: 60)
            let code = authenticator.code()
            #expect(await server.logInStep(#","code":"\#(code)""#).status == 200)
            let again = await server.logInStep(device: "phone-3", #","code":"\#(code)""#)
            #expect(again.string("code") == "wrong_second_factor")
        }
    }

    @Test("A login that is repeated with its Idempotency-Key gets the same session, although its code is used")
    func lostAnswer() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)
            let fields: Fields = ["Idempotency-Key": "login-1"]
            let code = authenticator.code()
            let first = await server.logInStep(#","code":"\#(code)""#, fields: fields)
            let again = await server.logInStep(#","code":"\#(code)""#, fields: fields)

            #expect(again.status == 200)
            #expect(again.string("session_id") == first.string("session_id"))

            // Once something has come of the session, the used code begins no other one.
            server.moveClock(to: 61)
            let shown = await server.call(
                .post, "/v1/me/presence", #"{"password":"\#(EndpointsFixture.password)"}"#,
                bearer: try Tokens(first).access)
            #expect(shown.status == 200)
            let late = await server.logInStep(#","code":"\#(code)""#, fields: fields)
            #expect(late.string("code") == "wrong_second_factor")
        }
    }

    @Test("A code of another time within ten minutes says that the clock differs")
    func clock() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 1200)
            let near = await server.logInStep(#","code":"\#(authenticator.code(-10))""#)
            #expect(near.bool("clock_differs") == true)
            let far = await server.logInStep(#","code":"\#(authenticator.wrongCode)""#)
            #expect(far.bool("clock_differs") == nil)
        }
    }

    @Test("A login token is of its password, client and device, and lasts five minutes")
    func loginToken() async throws {
        try await EndpointsFixture.with { server in
            let (tokens, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)
            func token() async throws -> String { try #require(await server.logInStep().string("login_token")) }
            let other = await server.continueLogin(try await token(), code: authenticator.code(), device: "other")
            #expect(other.status == 400)
            #expect(other.string("member") == "login_token")

            let late = try await token()
            server.moveClock(to: 360)
            #expect(await server.continueLogin(late, code: authenticator.code()).string("member") == "login_token")

            let old = try await token()
            let shown = await server.call(
                .post, "/v1/me/presence",
                #"{"password":"\#(EndpointsFixture.password)","code":"\#(authenticator.code())"}"#,
                bearer: tokens.access)
            #expect(shown.status == 200)
            let changed = await server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse battery"}"#,
                bearer: tokens.access)
            #expect(changed.status == 204)
            server.keepSecret("another horse battery")
            #expect(await server.continueLogin(old, code: authenticator.code(1)).string("member") == "login_token")
        }
    }

    @Test("An authenticator counts only after its code, within ten minutes")
    func confirmation() async throws {
        try await EndpointsFixture.with { server in
            #expect(
                await server.admin(.patch, "/admin/v1/users/username:anna", #"{"email_verified":true}"#).status == 200)
            let tokens = try await server.logIn()
            let added = await server.call(.post, "/v1/me/totp", #"{"name":"Key"}"#, bearer: tokens.access)
            #expect(added.status == 201)
            #expect(added.string("uri")?.hasPrefix("otpauth://totp/login.example:anna?secret=") == true)
            let authenticator = try Authenticator(added, server)
            #expect(await server.logInStep().status == 200)
            let path = "/v1/me/totp/\(authenticator.id)/confirm"
            let wrong = await server.call(
                .post, path, #"{"code":"\#(authenticator.wrongCode)"}"#, bearer: tokens.access)
            #expect(wrong.string("code") == "wrong_second_factor")

            server.moveClock(to: 600)
            let late = await server.call(.post, path, #"{"code":"\#(authenticator.code())"}"#, bearer: tokens.access)
            #expect(late.status == 401)
            #expect(await server.call(.get, "/v1/me/totp", bearer: tokens.access).items.isEmpty)
        }
    }

    @Test("A second authenticator needs two factors, and the last one stays while a policy demands one")
    func guarded() async throws {
        try await EndpointsFixture.with { server in
            let (tokens, authenticator, _) = try await server.enrolled()
            let path = "/v1/me/totp/\(authenticator.id)"
            server.moveClock(to: 400)
            let guarded: [(HTTP.Method, String, String?)] = [
                (.post, "/v1/me/totp", "{}"), (.delete, path, nil), (.post, "/v1/me/recovery-codes", "{}"),
                (.post, "/v1/me/passkeys/options", "{}"), (.patch, "/v1/me", #"{"phone_number":"+431"}"#),
                (.delete, "/v1/me", nil),
                (
                    .put, "/v1/me/password",
                    #"{"old_password":"\#(EndpointsFixture.password)","new_password":"another horse battery"}"#
                ),
            ]
            for (method, path, body) in guarded {
                let answer = await server.call(method, path, body, bearer: tokens.access)
                #expect(answer.string("code") == "insufficient_user_authentication", "\(path)")
                #expect(answer.string("acr_values") == "mfa", "\(path)")
            }
            // The password alone is one factor.
            let password = #"{"password":"\#(EndpointsFixture.password)""#
            #expect(await server.call(.post, "/v1/me/presence", password + "}", bearer: tokens.access).status == 200)
            #expect(await server.call(.post, "/v1/me/totp", "{}", bearer: tokens.access).status == 401)
            // Confirming once more checks no code, and proves nothing.
            let confirmed = await server.call(
                .post, path + "/confirm", #"{"code":"\#(authenticator.wrongCode)"}"#, bearer: tokens.access)
            #expect(confirmed.status == 200)
            #expect(await server.call(.delete, path, bearer: tokens.access).status == 401)
            let code = #","code":"\#(authenticator.code())"}"#
            #expect(await server.call(.post, "/v1/me/presence", password + code, bearer: tokens.access).status == 200)
            #expect(await server.call(.post, "/v1/me/totp", "{}", bearer: tokens.access).status == 201)

            await server.setPolicy(.requiredAtLogin)
            let last = await server.call(.delete, path, bearer: tokens.access)
            #expect(last.string("code") == "last_second_factor")
            await server.setPolicy(.ifEnrolled)
            #expect(await server.call(.delete, path, bearer: tokens.access).status == 204)
            #expect(await server.logInStep().status == 200)
        }
    }

    @Test("The password grant takes the code as otp")
    func passwordGrant() async throws {
        try await EndpointsFixture.with { server in
            let made = try await server.makeClient(
                #"{"client_id":"desk","token_endpoint_auth_method":"client_secret_basic","grant_types":["password","refresh_token"],"scope":"read"}"#
            )
            let secret = try #require(made)
            let (_, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)
            let form = "grant_type=password&username=anna&password=correct%20horse&device_id=desk-1"
            let missing = await server.form("/oauth/token", form, basic: "desk:\(secret)")
            #expect(missing.status == 400)
            #expect(missing.string("error") == "invalid_grant")
            #expect(missing.string("reason") == "second_factor_required")

            let right = await server.form(
                "/oauth/token", form + "&otp=\(authenticator.code())", basic: "desk:\(secret)")
            #expect(right.status == 200)
        }
    }
}
