import HTTP
import Sessions
import Testing

/// Switching logins off: by an admin, by the user, at once or when tokens expire.
@Suite struct DisableTests {
    @Test(arguments: [true, false], [true, false])
    func blocksLoginsAndRefreshesAndEndsNothing(_ byAdmin: Bool, _ immediate: Bool) async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let effective = immediate ? "immediate" : "on_expiry"
            if byAdmin {
                let answer = await server.admin(
                    .post, "/admin/v1/users/username:anna/disable",
                    #"{"effective":"\#(effective)","reason":"lost phone"}"#)
                #expect(answer.string("login_disabled_by_admin", "effective") == effective)
                #expect(answer.string("login_disabled_by_admin", "reason") == "lost phone")
                #expect(answer.integer("revoked") == 0)
            } else {
                let answer = await server.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":true,"effective":"\#(effective)"}"#,
                    bearer: tokens.access)
                #expect(answer.status == 200)
                #expect(answer.bool("logins_disabled") == true)
                #expect(answer.string("effective") == effective)
            }
            let code = byAdmin ? "login_disabled_by_admin" : "login_disabled_by_user"

            let verified = await server.call(.get, "/v1/verify", bearer: tokens.access)
            #expect(verified.status == (immediate ? 401 : 200))
            #expect(verified.string("code") == (immediate ? code : nil))
            #expect(await server.refresh(tokens.refresh).string("reason") == code)
            let login = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"correct horse","device":{"id":"new"}}"#)
            #expect(login.status == 403)
            #expect(login.string("code") == code)
            #expect(login.bool("reauthenticate") == false)
            // Only after the right password.
            let wrong = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"wrong","device":{"id":"new"}}"#)
            #expect(wrong.string("code") == "invalid_credentials")
            let minted = await server.admin(.post, "/admin/v1/users/\(tokens.userID)/sessions")
            #expect(minted.status == 403)

            if byAdmin {
                #expect(await server.admin(.post, "/admin/v1/users/username:anna/enable").status == 200)
            } else {
                // No token works, the password does.
                let answer = await server.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":false}"#,
                    fields: ["Authorization": "Basic YW5uYTpjb3JyZWN0IGhvcnNl"])
                #expect(answer.status == 200)
                #expect(answer.bool("logins_disabled") == false)
            }
            #expect(await server.refresh(tokens.refresh).status == 200)
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).status == 200)
        }
    }

    @Test func aDisableIsImmediateUnlessToldOtherwise() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let admin = await server.admin(.post, "/admin/v1/users/username:anna/disable")
            #expect(admin.string("login_disabled_by_admin", "effective") == "immediate")
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).status == 401)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/enable").status == 200)
            let own = await server.call(
                .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: tokens.access)
            #expect(own.string("effective") == "immediate")
        }
    }

    @Test func anAdminCanEndTheSessionsWithIt() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let answer = await server.admin(
                .post, "/admin/v1/users/username:anna/disable", #"{"revoke_sessions":true}"#)
            #expect(answer.integer("revoked") == 1)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/enable").status == 200)
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
        }
    }

    @Test func anAdminLeavesTheUsersSwitchAloneUnlessAsked() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            _ = await server.call(.put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, bearer: tokens.access)
            #expect(await server.admin(.post, "/admin/v1/users/username:anna/enable", "{}").status == 200)
            #expect(await server.refresh(tokens.refresh).string("reason") == "login_disabled_by_user")
            let both = await server.admin(
                .post, "/admin/v1/users/username:anna/enable", #"{"include_own_switch":true}"#)
            #expect(!both.names.contains("login_disabled_by_user"))
            #expect(await server.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func theOwnSwitchNeedsATokenOrThePassword() async throws {
        try await EndpointsFixture.with { server in
            let cases: [(Fields, Int)] = [
                ([:], 401), (["Authorization": "Bearer junk"], 401), (["Authorization": "Digest x"], 401),
                (["Authorization": "Basic YW5uYTp3cm9uZw=="], 401),  // anna:wrong
                (["Authorization": "Basic !"], 400),
            ]
            for (fields, status) in cases {
                let answer = await server.call(
                    .put, "/v1/me/login-settings", #"{"logins_disabled":true}"#, fields: fields)
                #expect(answer.status == status)
                if status == 401 {
                    let schemes = answer.response.fields.values("WWW-Authenticate").map { $0.prefix(6) }
                    #expect(schemes == ["Bearer", "DPoP r", "Basic "])
                }
            }
            let tokens = try await server.logIn()
            for (body, member) in [
                ("{}", "logins_disabled"), (#"{"logins_disabled":"yes"}"#, "logins_disabled"),
                (#"{"logins_disabled":true,"effective":"later"}"#, "effective"),
            ] {
                let answer = await server.call(.put, "/v1/me/login-settings", body, bearer: tokens.access)
                #expect(answer.status == 400)
                #expect(answer.string("member") == member)
            }
        }
    }
}
