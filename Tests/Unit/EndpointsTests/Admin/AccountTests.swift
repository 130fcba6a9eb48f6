import Cryptography
import HTTP
import SQLiteStore
import Sessions
import Testing

/// What users do with their own account.
@Suite struct AccountTests {
    @Test func theProfileIsReadAndChangedMemberByMember() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let before = await server.call(.get, "/v1/me", bearer: tokens.access)
            #expect(before.names == ["user_id", "username", "email"])
            let changed = await server.call(
                .patch, "/v1/me", #"{"display_name":"Anna A.","country":"DE","phone_number":"+49 1"}"#,
                bearer: tokens.access)
            #expect(changed.status == 200)
            #expect(changed.string("display_name") == "Anna A.")
            #expect(changed.string("email") == "anna@example.org")
            let cleared = await server.call(
                .patch, "/v1/me", #"{"email":null,"country":null}"#, bearer: tokens.access)
            #expect(cleared.names == ["user_id", "username", "display_name", "phone_number"])
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).text == cleared.text)
            for (body, member) in [
                (#"{"email":""}"#, "email"), (#"{"email":7}"#, "email"),
                (#"{"country":"de"}"#, "country"), (#"{"display_name":"a\tb"}"#, "display_name"),
            ] {
                let answer = await server.call(.patch, "/v1/me", body, bearer: tokens.access)
                #expect(answer.status == 400)
                #expect(answer.string("member") == member)
            }
            let name = await server.call(.patch, "/v1/me", #"{"username":"eve"}"#, bearer: tokens.access)
            #expect(name.status == 409 && name.string("code") == "not_editable")
        }
    }

    @Test func theDeviceThatAsksIsListed_howeverManyWereSeenLater() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn(device: "phone")
            let user = try #require(try await server.store.user(.username("anna")))
            let epoch = try await server.store.settings().epoch
            let later = Instant(secondsSinceEpoch: EndpointsFixture.start + 100)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0...AccountService.listedSessionsMax {
                    let session = Session(
                        id: Identifier(random: .system), userID: user.id, clientID: Client.mobileID,
                        device: Device(id: "d-\(number)"), startedAt: later, epoch: epoch)
                    group.addTask {
                        _ = try await server.store.openSession(
                            userID: user.id, clientID: Client.mobileID, deviceID: session.device.id
                        ) { $0.session = session }
                    }
                }
                try await group.waitForAll()
            }
            server.moveClock(to: 200)
            let list = await server.call(.get, "/v1/me/devices", bearer: phone.access)
            #expect(list.status == 200)
            // More than the reader of the tests takes.
            let items = list.text.split(separator: "{").dropFirst()
            #expect(items.count == AccountService.listedSessionsMax + 1)
            let current = items.filter { $0.contains(#""current":true"#) }
            #expect(current.count == 1 && current.allSatisfy { $0.contains(#""device_id":"phone""#) })
            // It is renamed and ended, listed or not.
            let missing = (0...AccountService.listedSessionsMax).map { "d-\($0)" }
                .filter { !list.text.contains("\"\($0)\"") }
            let left = try #require(missing.first)
            let renamed = await server.call(
                .patch, "/v1/me/devices/\(left)", #"{"name":"x"}"#, bearer: phone.access)
            #expect(renamed.status == 200)
            #expect(await server.call(.delete, "/v1/me/devices/\(left)", bearer: phone.access).status == 204)
        }
    }

    @Test func devicesAreListedRenamedAndEnded() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn(device: "phone/1")
            server.moveClock(to: 500)
            let tablet = try await server.logIn(device: "tablet")
            let list = await server.call(.get, "/v1/me/devices", bearer: phone.access).items
            #expect(list.map { $0.string("device_id") } == ["tablet", "phone/1"])
            #expect(list.map { $0.bool("current") } == [false, true])
            #expect(list.map { $0.integer("last_seen_at") } == [EndpointsFixture.start + 500, EndpointsFixture.start])

            let renamed = await server.call(
                .patch, "/v1/me/devices/phone%2F1", #"{"name":"Anna's phone"}"#, bearer: tablet.access)
            #expect(renamed.status == 200)
            #expect(renamed.string("name") == "Anna's phone")
            #expect(renamed.bool("current") == false)
            let nameless = await server.call(
                .patch, "/v1/me/devices/phone%2F1", #"{"name":null}"#, bearer: tablet.access)
            #expect(nameless.status == 200)
            #expect(!nameless.names.contains("name"))
            #expect(
                await server.call(.patch, "/v1/me/devices/none", #"{"name":"x"}"#, bearer: phone.access).status == 404)
            #expect(await server.call(.patch, "/v1/me/devices/tablet", "{}", bearer: phone.access).status == 400)

            #expect(await server.call(.delete, "/v1/me/devices/phone%2F1", bearer: tablet.access).status == 204)
            #expect(await server.call(.delete, "/v1/me/devices/phone%2F1", bearer: tablet.access).status == 404)
            #expect(await server.refresh(phone.refresh).string("reason") == "revoked_by_user")
            #expect(await server.refresh(tablet.refresh).status == 200)
            let all = await server.call(.delete, "/v1/me/devices", bearer: tablet.access)
            #expect(all.integer("revoked") == 1)
            let dead = await server.call(.get, "/v1/me/devices", bearer: tablet.access)
            #expect(dead.status == 401)
            #expect(dead.string("code") == "revoked_by_user")
            #expect(dead.bool("reauthenticate") == true)
        }
    }

    @Test func aChangedPasswordSparesThisDeviceAlone() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await server.logIn(device: "phone")
            let tablet = try await server.logIn(device: "tablet")
            let wrong = await server.call(
                .put, "/v1/me/password", #"{"old_password":"wrong","new_password":"battery staple"}"#,
                bearer: phone.access)
            #expect(wrong.status == 401)
            #expect(wrong.string("code") == "invalid_credentials")
            for (body, member) in [
                (#"{"old_password":"correct horse","new_password":"short"}"#, "new_password"),
                (#"{"old_password":"correct horse"}"#, "new_password"),
                (#"{"new_password":"battery staple"}"#, "old_password"),
            ] {
                let answer = await server.call(.put, "/v1/me/password", body, bearer: phone.access)
                #expect(answer.status == 400)
                #expect(answer.string("member") == member)
            }
            #expect(await server.refresh(tablet.refresh).status == 200)
            let right = await server.call(
                .put, "/v1/me/password", #"{"old_password":"correct horse","new_password":"battery staple"}"#,
                bearer: phone.access)
            #expect(right.status == 204)
            #expect(await server.refresh(phone.refresh).status == 200)
            #expect(await server.refresh(tablet.refresh).string("reason") == "password_changed")
            let old = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"correct horse","device":{"id":"x"}}"#)
            #expect(old.status == 401)
            let new = await server.call(
                .post, "/v1/login", #"{"username":"anna","password":"battery staple","device":{"id":"x"}}"#)
            #expect(new.status == 200)
        }
    }

    @Test func aResetEndsEveryDeviceAndWorksOnce() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let reset = await server.admin(.post, "/admin/v1/users/username:anna/password-reset")
            #expect(reset.status == 200)
            #expect(reset.integer("expires_at") == EndpointsFixture.start + 3600)
            let token = try #require(reset.string("reset_token"))
            let body = #"{"reset_token":"\#(token)","new_password":"battery staple"}"#
            let junk = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"junk","new_password":"battery staple"}"#)
            #expect(junk.status == 400)
            #expect(junk.string("member") == "reset_token")
            #expect(await server.call(.post, "/v1/password-reset", body).status == 204)
            #expect(await server.refresh(tokens.refresh).string("reason") == "password_changed")
            #expect(await server.call(.post, "/v1/password-reset", body).string("member") == "reset_token")
        }
    }

    @Test(arguments: [(3599, 204), (3600, 400), (3601, 400)] as [(Int64, Int)])
    func aResetTokenEndsAtItsSecond(_ moment: Int64, _ status: Int) async throws {
        try await EndpointsFixture.with { server in
            let reset = await server.admin(.post, "/admin/v1/users/username:anna/password-reset", "{}")
            let token = try #require(reset.string("reset_token"))
            server.moveClock(to: moment)
            let answer = await server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"battery staple"}"#)
            #expect(answer.status == status)
        }
    }

    @Test func loggingOutWorksAgainAndAgainAndWithEitherToken() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            for _ in 1...2 {
                #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
                let refresh = await server.call(.post, "/v1/logout", #"{"refresh_token":"\#(tokens.refresh)"}"#)
                #expect(refresh.status == 204)
            }
            server.moveClock(to: 400 * EndpointsFixture.day)
            #expect(await server.call(.post, "/v1/logout", bearer: tokens.access).status == 204)
            #expect(await server.call(.post, "/v1/logout").status == 401)
            #expect(await server.call(.post, "/v1/logout", bearer: "junk").status == 401)
            #expect(await server.call(.post, "/v1/logout", #"{"refresh_token":"junk"}"#).status == 401)
            let both = await server.call(.post, "/v1/logout", #"{"refresh_token":"x"}"#, bearer: tokens.access)
            #expect(both.status == 400)
        }
    }

    @Test func everyCallOfAUserNeedsALivingToken() async throws {
        try await EndpointsFixture.with { server in
            let calls: [(Method, String, String?)] = [
                (.get, "/v1/me", nil), (.patch, "/v1/me", "{}"), (.get, "/v1/me/devices", nil),
                (.delete, "/v1/me/devices", nil), (.patch, "/v1/me/devices/x", #"{"name":"y"}"#),
                (.delete, "/v1/me/devices/x", nil),
                (.put, "/v1/me/password", #"{"old_password":"a","new_password":"b"}"#), (.get, "/v1/verify", nil),
                (.put, "/v1/me/login-settings", #"{"logins_disabled":true}"#),
            ]
            let ended = try await server.logIn()
            #expect(await server.call(.post, "/v1/logout", bearer: ended.access).status == 204)
            for (method, path, body) in calls {
                let missing = await server.call(method, path, body)
                #expect(missing.status == 401)
                #expect(missing.string("code") == "unauthenticated")
                let junk = await server.call(method, path, body, bearer: "a.b.c")
                #expect(junk.status == 401)
                #expect(junk.string("code") == "invalid_token")
                // A refresh token and an admin key open nothing here.
                #expect(await server.call(method, path, body, bearer: ended.refresh).status == 401)
                #expect(await server.call(method, path, body, bearer: server.adminKey).status == 401)
                #expect(await server.call(method, path, body, bearer: ended.access).string("code") == "logged_out")
            }
        }
    }

    /// The transaction alone shows to which user the password is to belong.
    @Test func theUsernameIsNoPassword() async throws {
        try await EndpointsFixture.with { server in
            let name = "bernadette.long"
            let user = "/admin/v1/users/username:\(name)"
            let made = await server.admin(.post, "/admin/v1/users", #"{"username":"\#(name)"}"#)
            #expect(made.status == 201)
            let token = try #require(await server.admin(.post, user + "/password-reset").string("reset_token"))
            for answer in [
                await server.admin(.put, user + "/password", #"{"new_password":"\#(name)"}"#),
                await server.call(
                    .post, "/v1/password-reset", #"{"reset_token":"\#(token)","new_password":"\#(name)"}"#),
            ] {
                #expect(answer.status == 400 && answer.string("member") == "new_password", "\(answer.text)")
            }
        }
    }
}
