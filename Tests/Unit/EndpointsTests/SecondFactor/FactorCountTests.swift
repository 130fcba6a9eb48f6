import HTTP
import Sessions
import Testing

@testable import Endpoints

/// Wrong codes count for the user, whatever call they come by, and recovery codes.
struct FactorCountTests {
    @Test("Ten wrong codes wait for fifteen minutes, whatever call they come by")
    func waiting() async throws {
        try await EndpointsFixture.with { server in
            let (tokens, authenticator, _) = try await server.enrolled()
            server.moveClock(to: 60)
            let token = try #require(await server.logInStep().string("login_token"))
            let wrong = authenticator.wrongCode
            for round in 0..<5 {
                #expect(await server.continueLogin(token, code: wrong).status == 401, "\(round)")
                let shown = await server.call(
                    .post, "/v1/me/presence",
                    #"{"password":"\#(EndpointsFixture.password)","code":"\#(wrong)"}"#, bearer: tokens.access)
                #expect(shown.status == 401, "\(round)")
            }
            // Another challenge gives no new tries, nor does the right code.
            let again = try #require(await server.logInStep(device: "phone-3").string("login_token"))
            let right = await server.continueLogin(again, code: authenticator.code(), device: "phone-3")
            #expect(right.status == 429)

            server.moveClock(to: 60 + 900)
            #expect(await server.logInStep(#","code":"\#(authenticator.code())""#).status == 200)
            server.moveClock(to: 1000)
            #expect(await server.logInStep(#","code":"\#(wrong)""#).status == 401)
        }
    }

    @Test("Fifty wrong codes block the authenticator until a recovery code or an admin")
    func blocking() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, codes) = try await server.enrolled()
            var now: Int64 = 60
            func guess(_ count: Int) async {
                for round in 0..<count {
                    if round.isMultiple(of: 10) { now += 900 }
                    server.moveClock(to: now)
                    let answer = await server.logInStep(
                        device: "thief-\(now)-\(round)", #","code":"\#(authenticator.wrongCode)""#)
                    #expect(answer.string("code") == "wrong_second_factor", "\(round)")
                }
            }
            await guess(50)
            now += 900
            server.moveClock(to: now)
            let blocked = await server.logInStep(#","code":"\#(authenticator.code())""#)
            #expect(blocked.status == 403)
            #expect(blocked.string("code") == "second_factor_blocked")

            #expect(await server.logInStep(#","code":"\#(codes[0])""#).status == 200)
            #expect(await server.logInStep(#","code":"\#(authenticator.code())""#).status == 200)
            await guess(50)
            now += 900
            server.moveClock(to: now)
            #expect(await server.logInStep(#","code":"\#(authenticator.code())""#).status == 403)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/unlock").status == 200)
            #expect(await server.logInStep(#","code":"\#(authenticator.code())""#).status == 200)
        }
    }

    @Test("A recovery code counts once, however it is typed, and leaves a session that is no proof of two factors")
    func recovery() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, codes) = try await server.enrolled()
            server.moveClock(to: 60)
            let typed = codes[0].lowercased().replacing("-", with: " ").replacing("0", with: "o")
            let login = await server.logInStep(#","code":"\#(typed)""#)
            #expect(login.status == 200)
            let claims = try Answer.claims(of: try Tokens(login).access)
            #expect(claims.strings("amr") == ["pwd"])
            #expect(claims.string("acr") == nil)
            let again = await server.logInStep(device: "phone-3", #","code":"\#(codes[0])""#)
            #expect(again.string("code") == "wrong_second_factor")

            // The session may replace what was lost, and nothing else.
            let bearer = try Tokens(login).access
            #expect(await server.call(.post, "/v1/me/recovery-codes", "{}", bearer: bearer).status == 401)
            #expect(await server.call(.delete, "/v1/me/totp/\(authenticator.id)", bearer: bearer).status == 401)
            let added = await server.call(.post, "/v1/me/totp", "{}", bearer: bearer)
            #expect(added.status == 201)
            let new = try Authenticator(added, server)
            let confirmed = await server.call(
                .post, "/v1/me/totp/\(new.id)/confirm", #"{"code":"\#(new.code())"}"#, bearer: bearer)
            #expect(confirmed.status == 200)
            #expect(confirmed.strings("recovery_codes") == nil)
            let left = await server.call(.get, "/v1/me/totp", bearer: bearer)
            #expect(left.integer("recovery_codes_left") == 7)
            // Password and code of the new authenticator are two factors.
            let made = await server.call(.post, "/v1/me/recovery-codes", "{}", bearer: bearer)
            #expect(made.strings("recovery_codes")?.count == 8)
            for code in made.strings("recovery_codes") ?? [] { server.keepSecret(code) }
            #expect(await server.logInStep(device: "phone-4", #","code":"\#(codes[1])""#).status == 401)
        }
    }

    @Test("Factors of one user open no session of another one")
    func otherUser() async throws {
        try await EndpointsFixture.with { server in
            let (_, authenticator, codes) = try await server.enrolled()
            let made = await server.admin(
                .post, "/admin/v1/users", #"{"username":"ben","password":"other password 1"}"#)
            #expect(made.status == 201)
            server.keepSecret("other password 1")
            let ben = await server.call(
                .post, "/v1/login", #"{"username":"ben","password":"other password 1","device":{"id":"b"}}"#)
            let bearer = try Tokens(ben).access
            #expect(await server.call(.delete, "/v1/me/totp/\(authenticator.id)", bearer: bearer).status == 404)
            #expect(await server.call(.post, "/v1/me/totp", "{}", bearer: bearer).status == 201)
            server.moveClock(to: 60)
            #expect(await server.logInStep(#","code":"\#(codes[0])""#).status == 200)
        }
    }
}
