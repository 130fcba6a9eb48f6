import Cryptography
import HTTP
import JSON
import Sessions
import Testing

@testable import Endpoints

/// Step-up authentication: RFC 9470, for sessions that ask for their user.
@Suite struct RFC9470Tests {
    private static let sentence = "The session goes on after the user has proved to be present. It is kept."

    /// Mode, how often the client asks, seconds after the login, whether a refresh and a call are silent then, and whether
    /// resuming by the device's key is.
    @Test(arguments: [
        (AuthenticationMode.no, nil, Int64(9000), true, true), (.no, 600, 9000, true, true),
        (.biometric, nil, 9000, true, true), (.biometric, 600, 599, true, true), (.biometric, 600, 600, false, false),
        (.biometric, 0, 9000, true, true), (.password, nil, 3599, true, false), (.password, nil, 3600, false, false),
        (.password, 600, 599, true, false), (.password, 600, 600, false, false), (.password, nil, 1, true, false),
        // A client that asks seldom makes no password last longer.
        (.biometric, 1_209_600, 9000, true, true), (.password, 1_209_600, 3599, true, false),
        (.password, 1_209_600, 3600, false, false),
    ])
    func whenTheUserIsAskedFor(
        _ mode: AuthenticationMode, every ageMax: Int64?, at seconds: Int64, isSilent: Bool, resumes: Bool
    ) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, mode, ageMax: ageMax)
            server.moveClock(to: seconds)
            #expect(await server.call(.get, "/v1/me", bearer: phone.tokens.access).status == (isSilent ? 200 : 401))
            #expect(await server.call(.get, "/v1/verify", bearer: phone.tokens.access).status == (isSilent ? 200 : 401))
            #expect(await phone.refresh().status == (isSilent ? 200 : 400))
            let json = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(phone.tokens.refresh)"}"#)
            #expect(json.status == (isSilent ? 200 : 401))
            #expect(await phone.resume().status == (resumes ? 200 : 400))
            // Asking again and again ends nothing, and the password opens every way.
            for _ in 0..<3 { _ = await phone.refresh() }
            #expect(await phone.resume("&password=correct+horse").status == 200)
            #expect(await phone.refresh("&password=correct+horse").status == 200)
            #expect(await server.call(.get, "/v1/me", bearer: phone.tokens.access).status == 200)
        }
    }

    @Test func section3_theChallengeNamesWhatWouldDo() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric, ageMax: 600)
            server.moveClock(to: 600)
            let challenge =
                #"Bearer realm="sojourn", error="insufficient_user_authentication", error_description="\#(Self.sentence)", acr_values="presence password", max_age="600""#
            let call = await server.call(.get, "/v1/me", bearer: phone.tokens.access)
            #expect(call.response.fields.values("WWW-Authenticate").first == challenge)
            #expect(call.string("code") == "insufficient_user_authentication")
            #expect(call.integer("max_age") == 600)
            #expect(call.string("acr_values") == "presence password")
            #expect(call.bool("reauthenticate") == false)
            let json = await server.call(.post, "/v1/refresh", #"{"refresh_token":"\#(phone.tokens.refresh)"}"#)
            #expect(json.response.fields.values("WWW-Authenticate").first == challenge)
            let refresh = await phone.refresh()
            #expect(refresh.string("error") == "insufficient_user_authentication")
            #expect(refresh.string("reason") == "insufficient_user_authentication")
            #expect(refresh.integer("max_age") == 600)
            #expect(refresh.bool("reauthenticate") == false)
        }
    }

    @Test func section6_tokensAndIntrospectionTellWhenAndHow() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric, ageMax: 600)
            let secret = try #require(
                try await server.makeClient(
                    #"{"client_id":"api","token_endpoint_auth_method":"client_secret_basic","grant_types":["client_credentials"]}"#
                ))
            func asked(_ token: String) async -> Answer {
                await server.form("/oauth/introspect", "token=\(token)", basic: "api:\(secret)")
            }
            server.moveClock(to: 1000)
            // A token of a user that is away is active; the API sees when the user was there.
            let before = await asked(phone.tokens.access)
            #expect(before.bool("active") == true)
            #expect(before.integer("auth_time") == EndpointsFixture.start)
            #expect(!before.names.contains("acr"))
            #expect(await asked(phone.tokens.refresh + "&token_type_hint=refresh_token").bool("active") == true)
            let answer = await phone.refresh("&user_assertion=\(phone.touch())")
            let token = try #require(answer.string("access_token"))
            let after = await asked(token)
            #expect(after.integer("auth_time") == EndpointsFixture.start + 1000)
            #expect(after.string("acr") == "presence")
            let claims = try Answer.claims(of: token)
            #expect(claims.integer("auth_time") == EndpointsFixture.start + 1000)
            #expect(claims.string("acr") == "presence")
            server.moveClock(to: 2000)
            let typed = await phone.refresh("&password=correct+horse")
            #expect(await asked(try #require(typed.string("access_token"))).string("acr") == "password")
            let metadata = await server.call(.get, "/.well-known/oauth-authorization-server")
            let values = ["phr", "presence", "password", "id_token", "phone", "email", "mfa"]
            #expect(metadata.strings("acr_values_supported") == values)
        }
    }

    @Test func anAssertionShowsPresenceOnceAndForThisSessionAlone() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric, ageMax: 600)
            let other = try await server.logIn(device: "phone-2")
            server.moveClock(to: 1000)
            let now = EndpointsFixture.start + 1000
            let bad: [(String, (inout ProofDraft) -> Void)] = [
                ("iss", { $0.set("iss", other.sessionID) }), ("no iss", { $0.claims["iss"] = nil }),
                ("sub", { $0.set("sub", other.sessionID) }), ("aud", { $0.set("aud", "https://evil.example") }),
                ("exp has passed", { $0.claims["exp"] = "\(now)" }), ("exp far", { $0.claims["exp"] = "\(now + 316)" }),
                ("iat ahead", { $0.claims["iat"] = "\(now + 16)" }), ("no jti", { $0.claims["jti"] = nil }),
                ("typ", { $0.header["typ"] = #""at+jwt""# }), ("none", { $0.header["alg"] = #""none""# }),
                ("no signature", { $0.signature = [] }),
                ("zeroes", { $0.signature = [UInt8](repeating: 0, count: 64) }),
            ]
            for (text, edit) in bad {
                let assertion = phone.finger.assertion(server, phone.tokens, edit: edit)
                #expect(await phone.refresh("&user_assertion=\(assertion)").status == 400, "\(text)")
                let shown = await phone.show(#"{"user_assertion":"\#(assertion)"}"#)
                #expect(shown.string("code") == "insufficient_user_authentication", "\(text)")
            }
            let byDevice = phone.device.assertion(server, phone.tokens)
            #expect(await phone.refresh("&user_assertion=\(byDevice)").status == 400)
            // Nor does the presence key resume by itself.
            let resumed = await server.form(
                "/oauth/token", "grant_type=\(GuardedPhone.jwtBearer)&client_id=mobile&assertion=\(phone.touch())")
            #expect(resumed.string("reason") == "invalid_assertion")
            // By a clock that is ahead as far as may be.
            let assertion = phone.finger.assertion(server, phone.tokens) {
                $0.claims["iat"] = "\(now + 15)"
                $0.claims["exp"] = "\(now + 315)"
            }
            #expect(await phone.refresh("&user_assertion=\(assertion)").status == 200)
            // A retry after a lost answer brings it again, and is not asked for more.
            #expect(await phone.refresh("&user_assertion=\(assertion)").status == 200)
            #expect(await phone.show(#"{"user_assertion":"\#(assertion)"}"#).status == 401)
            #expect(await phone.show("{}").string("code") == "invalid_request")
        }
    }

    @Test func aThiefIsFoundOutAlsoWhileTheUserIsAway() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .biometric, ageMax: 600)
            var token = phone.tokens.refresh
            for seconds in [200, 400, 590] as [Int64] {
                server.moveClock(to: seconds)
                token = try #require(await server.refresh(token).string("refresh_token"))
            }
            server.moveClock(to: 5000)
            #expect(await server.refresh(token).string("error") == "insufficient_user_authentication")
            #expect(await phone.refresh().string("reason") == "refresh_token_reused")
            #expect(await server.refresh(token).string("reason") == "refresh_token_reused")
        }
    }

    @Test func theLimitsOfASessionHoldForAPresentUser() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            server.moveClock(to: 14 * EndpointsFixture.day - 1)
            #expect(await phone.resume("&password=correct+horse").status == 200)
            server.moveClock(to: 28 * EndpointsFixture.day - 1)
            #expect(await phone.resume("&password=correct+horse").string("reason") == "idle_expired")
        }
    }

    /// `invalid_grant` is the word at which clients throw their tokens away, so a mistyped password must not cause it. It is
    /// the answer to a request that begins a session, and to a token that is good for nothing whatever the password.
    @Test(arguments: [
        (AuthenticationMode.password, "password", 3600), (.biometric, "presence password", 600), (.no, "password", 300),
    ])
    func aMistypedPasswordKeepsTheSession(_ mode: AuthenticationMode, ways: String, ageMax: Int64) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, mode, ageMax: mode == .biometric ? 600 : nil)
            server.moveClock(to: 4000)
            for answer in [await phone.refresh("&password=wrong"), await phone.resume("&password=wrong")] {
                #expect(answer.status == 400)
                #expect(answer.string("error") == "insufficient_user_authentication", "\(answer.text)")
                #expect(answer.string("reason") == "insufficient_user_authentication")
                #expect(answer.string("error_description") == "The password is wrong. The session is kept.")
                #expect(answer.string("acr_values") == ways)
                #expect(answer.integer("max_age") == ageMax)
                #expect(answer.bool("reauthenticate") == false)
            }
            let json = await server.call(
                .post, "/v1/refresh", #"{"refresh_token":"\#(phone.tokens.refresh)","password":"wrong"}"#)
            #expect(json.status == 401)
            #expect(json.string("code") == "invalid_credentials")
            #expect(json.bool("reauthenticate") == false)
            #expect(await phone.refresh("&password=correct+horse").status == 200)
            // A login is another thing.
            _ = try await server.makeClient(#"{"client_id":"old","grant_types":["password","refresh_token"]}"#)
            let login = await server.form(
                "/oauth/token", "grant_type=password&client_id=old&username=anna&password=wrong")
            #expect(login.string("error") == "invalid_grant")
            #expect(login.bool("reauthenticate") == nil)
            #expect(await server.call(.post, "/v1/logout", bearer: phone.tokens.access).status == 204)
            #expect(await phone.refresh("&password=wrong").string("reason") == "logged_out")
        }
    }

    /// Only `reauthenticate` says that a login is needed: it is, where nothing else that is asked for can be shown.
    @Test(arguments: [
        (AuthenticationMode.password, true, true), (.biometric, true, false), (.biometric, false, true),
    ])
    func aUserWithoutThePasswordIsToldToLogInAgain(
        _ mode: AuthenticationMode, hasKey: Bool, logsIn: Bool
    ) async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, mode, ageMax: 600, key: hasKey)
            let id = try #require(Identifier<User>(phone.tokens.userID))
            server.moveClock(to: 9000)
            for isLost in [false, true] {
                if isLost { _ = try await server.store.updateUser(.id(id)) { $0.user.passwordHash = nil } }
                let json = #"{"refresh_token":"\#(phone.tokens.refresh)"}"#
                for answer in [
                    await phone.refresh(), await phone.resume(), await server.call(.post, "/v1/refresh", json),
                    await server.call(.get, "/v1/me", bearer: phone.tokens.access),
                    await phone.refresh(isLost ? "&password=correct+horse" : ""),
                ] {
                    #expect(
                        answer.string("error") ?? answer.string("code") == "insufficient_user_authentication",
                        "\(answer.text)")
                    #expect(answer.bool("reauthenticate") == (isLost && logsIn), "\(answer.text)")
                }
            }
        }
    }

    @Test func aWrongPasswordIsCountedAndEndsNothing() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await GuardedPhone(server, .password)
            server.moveClock(to: 4000)
            var last = await phone.refresh("&password=wrong")
            #expect(last.string("error") == "insufficient_user_authentication")
            for _ in 0..<12 { last = await phone.refresh("&password=wrong") }
            #expect(last.status == 429)
            #expect(await phone.refresh("&password=correct+horse").status == 429)
            server.moveClock(to: 9000)
            #expect(await phone.refresh("&password=correct+horse").status == 200)
            // What ends things takes no user's presence.
            server.moveClock(to: 20_000)
            #expect(await server.call(.get, "/v1/me", bearer: phone.tokens.access).status == 401)
            #expect(await server.call(.post, "/v1/logout", bearer: phone.tokens.access).status == 204)
        }
    }
}
