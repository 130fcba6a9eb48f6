import Endpoints
import HTTP
import Sessions
import Testing

@Suite struct AdminTests {
    @Test func usersAreMadeReadChangedAndDeleted() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/users",
                #"{"username":"Bert","password":"long enough","email":"b@x.org","country":"FR","offline_session_max":60}"#
            )
            #expect(made.status == 201)
            let id = try #require(made.string("user_id"))
            #expect(made.field("Location") == "/admin/v1/users/\(id)")
            #expect(made.bool("has_password") == true)
            #expect(made.integer("offline_session_max") == 60)
            #expect(made.integer("created_at") == EndpointsFixture.start)
            for reference in [id, "username:bert", "username:BERT"] {
                #expect(await server.admin(.get, "/admin/v1/users/\(reference)").text == made.text)
            }
            let taken = await server.admin(.post, "/admin/v1/users", #"{"username":"bert"}"#)
            #expect(taken.status == 409)
            #expect(taken.string("code") == "username_taken")
            let moved = await server.admin(.patch, "/admin/v1/users/\(id)", #"{"username":"anna"}"#)
            #expect(moved.status == 409)
            let changed = await server.admin(
                .patch, "/admin/v1/users/\(id)", #"{"username":"berta","offline_session_max":null,"country":null}"#)
            #expect(changed.string("username") == "berta")
            #expect(!changed.names.contains("offline_session_max"))
            #expect(!changed.names.contains("country"))
            #expect(changed.string("email") == "b@x.org")
            #expect(await server.admin(.delete, "/admin/v1/users/\(id)").status == 204)
            #expect(await server.admin(.delete, "/admin/v1/users/\(id)").status == 404)
        }
    }

    @Test func whatDoesNotExistIs404() async throws {
        try await EndpointsFixture.with { server in
            let unknown = String(repeating: "0", count: 32)
            for user in [unknown, "username:nobody", "anna", "username:", "%00"] {
                for (method, rest, body) in [
                    (.get, "", nil), (.patch, "", "{}"), (.delete, "", nil), (.post, "/disable", nil),
                    (.post, "/enable", nil), (.post, "/revoke", nil), (.post, "/sessions", nil),
                    (.put, "/password", #"{"new_password":"long enough"}"#), (.post, "/password-reset", nil),
                ] as [(Method, String, String?)] {
                    let answer = await server.admin(method, "/admin/v1/users/\(user)\(rest)", body)
                    #expect(answer.status == 404, "\(method) \(user)\(rest)")
                }
            }
            for path in ["sessions/\(unknown)", "sessions/x", "clients/none", "admin-keys/none"] {
                #expect(await server.admin(.delete, "/admin/v1/" + path).status == 404)
            }
            #expect(await server.admin(.get, "/admin/v1/sessions/\(unknown)").status == 404)
            #expect(await server.admin(.get, "/admin/v1/clients/none").status == 404)
            #expect(await server.admin(.patch, "/admin/v1/clients/none", "{}").status == 404)
        }
    }

    @Test func listsComeInPages() async throws {
        try await EndpointsFixture.with { server in
            for name in ["b&r+_ü", "carl", "dora"] {
                #expect(await server.admin(.post, "/admin/v1/users", #"{"username":"\#(name)"}"#).status == 201)
            }
            var (names, cursor): ([String], String?) = ([], nil)
            repeat {
                let page = await server.admin(
                    .get, "/admin/v1/users?limit=1" + (cursor.map { "&cursor=\($0)" } ?? ""))
                #expect(page.status == 200)
                names += page.items.compactMap { $0.string("username") }
                cursor = page.string("next_cursor")
            } while cursor != nil
            #expect(names == ["anna", "b&r+_ü", "carl", "dora"])
            let found = await server.admin(.get, "/admin/v1/users?query=CAR").items
            #expect(found.map { $0.string("username") } == ["carl"])
            #expect(await server.admin(.get, "/admin/v1/users?query=").items.count == 4)
            _ = await server.admin(.patch, "/admin/v1/users/username:anna", #"{"phone_number":"+433161234"}"#)
            for (number, names) in [("%2b43%20316%201234", ["anna"]), ("3161234", []), ("%2b43316", [])] {
                let found = await server.admin(.get, "/admin/v1/users?phone_number=\(number)").items
                #expect(found.compactMap { $0.string("username") } == names, "\(number)")
            }
            for rest in ["query=a", "cursor=YQ"] {
                let both = await server.admin(.get, "/admin/v1/users?phone_number=1&\(rest)")
                #expect(both.status == 400 && both.string("member") == "phone_number", "\(rest)")
            }

            for query in [
                "limit=0", "limit=201", "limit=-1", "limit=+5", "limit=1e2", "limit=x", "limit=5&limit=5", "order=up",
                "query=%00", "cursor=%21", "query=a%0ab", "query=%ff", "cursor=\(String(repeating: "c", count: 257))",
            ] {
                #expect(await server.admin(.get, "/admin/v1/users?\(query)").status == 400, "\(query)")
            }
            for query in [
                "cursor=x", "cursor=-1", "user=nobody", "session_id=x", "cursor=99999999999999999999",
                "cursor=00000000000000000001",
            ] {
                #expect(await server.admin(.get, "/admin/v1/events?\(query)").status == 400, "\(query)")
            }
            #expect(await server.admin(.get, "/admin/v1/events?user=username:nobody").status == 404)
        }
    }

    @Test func sessionsAreListedShownMintedAndEnded() async throws {
        try await EndpointsFixture.with { server in
            let first = try await server.logIn(device: "phone")
            server.moveClock(to: 300)
            let minted = await server.admin(
                .post, "/admin/v1/users/username:anna/sessions",
                #"{"device":{"id":"kiosk","name":"Hall"},"authentication_mode":"PASSWORD","scope":"read"}"#)
            #expect(minted.status == 200)
            #expect(minted.field("Pragma") == "no-cache")
            let second = try Tokens(minted)
            #expect(minted.string("scope") == "read")
            #expect(minted.string("authentication_mode") == "PASSWORD")
            #expect(await server.call(.get, "/v1/me", bearer: second.access).status == 200)
            let madeUp = await server.admin(.post, "/admin/v1/users/username:anna/sessions")
            #expect(madeUp.string("device_id")?.utf8.count == 32)

            let list = await server.admin(.get, "/admin/v1/users/username:anna/sessions?limit=2")
            #expect(list.items.count == 2)
            let cursor = try #require(list.string("next_cursor"))
            let rest = await server.admin(.get, "/admin/v1/users/username:anna/sessions?cursor=\(cursor)")
            #expect(rest.items.count == 1)
            // An empty list would say that the user is signed in nowhere.
            for damaged in ["x", "1", "\(cursor)0", "\(cursor.dropLast())", "x\(cursor)", "\(cursor).1", "1."] {
                let refused = await server.admin(.get, "/admin/v1/users/username:anna/sessions?cursor=\(damaged)")
                #expect(refused.status == 400, "\(damaged)")
            }
            let shown = await server.admin(.get, "/admin/v1/sessions/\(second.sessionID)")
            #expect(
                shown.names == [
                    "session_id", "user_id", "client_id", "device", "authentication_mode", "started_at",
                    "last_refreshed_at", "session_idle_expires_at", "session_expires_at", "limits",
                ])
            #expect(shown.string("device", "id") == "kiosk")
            #expect(shown.string("device", "name") == "Hall")
            #expect(shown.integer("session_expires_at") == EndpointsFixture.start + 300 + 180 * EndpointsFixture.day)

            for _ in 1...2 {
                #expect(await server.admin(.delete, "/admin/v1/sessions/\(second.sessionID)").status == 204)
            }
            let tombstone = await server.admin(.get, "/admin/v1/sessions/\(second.sessionID)")
            #expect(tombstone.integer("ended_at") == EndpointsFixture.start + 300)
            #expect(tombstone.string("ended_reason") == "revoked_by_admin")
            let revoked = await server.admin(.post, "/admin/v1/users/\(first.userID)/revoke")
            #expect(revoked.integer("revoked") == 2)
            #expect(await server.refresh(first.refresh).string("reason") == "revoked_by_admin")

            // An end by the clock shows without a request for the session.
            let idle = try await server.logIn()
            server.moveClock(to: 300 + 14 * EndpointsFixture.day)
            let ended = await server.admin(.get, "/admin/v1/sessions/\(idle.sessionID)")
            #expect(ended.string("ended_reason") == "idle_expired")
            #expect(ended.integer("ended_at") == EndpointsFixture.start + 300 + 14 * EndpointsFixture.day)
        }
    }

    @Test func revokeAllEndsEverythingAndLaterLoginsLive() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            #expect(await server.admin(.post, "/admin/v1/revoke-all", "{}").status == 204)
            #expect(await server.call(.get, "/v1/verify", bearer: tokens.access).string("code") == "revoked_by_admin")
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
            let later = try await server.logIn(device: "tablet")
            #expect(await server.refresh(later.refresh).status == 200)
        }
    }

    @Test func settingsKeepWhatIsLeftOut() async throws {
        try await EndpointsFixture.with { server in
            let before = await server.admin(.get, "/admin/v1/settings/sessions")
            #expect(
                before.text
                    == #"{"absolute_max_lifetime":31536000,"offline_session_idle":1209600,"offline_session_max":15552000,"offline_session_max_limited":true,"refresh_after":3600,"rotation_interval":120}"#
            )
            #expect(await server.admin(.put, "/admin/v1/settings/sessions", before.text).text == before.text)
            #expect(await server.admin(.put, "/admin/v1/settings/sessions").text == before.text)
            let after = await server.admin(.put, "/admin/v1/settings/sessions", #"{"rotation_interval":0}"#)
            #expect(after.integer("rotation_interval") == 0)
            #expect(after.integer("offline_session_idle") == 1_209_600)
            #expect(await server.admin(.get, "/admin/v1/settings/sessions").text == after.text)
        }
    }

    @Test func clientsAreMadeReadChangedAndDeleted() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/clients",
                #"""
                {"client_id":"app","client_name":"App","token_endpoint_auth_method":"client_secret_post","scope":"a b",
                 "grant_types":["refresh_token","client_credentials"],"offline_session_idle":7200,
                 "offline_session_max":86400,"access_token_lifetime":3600,"refresh_after":60}
                """#)
            #expect(made.status == 201)
            let secret = try #require(made.string("client_secret"))
            #expect(made.strings("grant_types") == ["refresh_token", "client_credentials"])
            let shown = await server.admin(.get, "/admin/v1/clients/app")
            #expect(shown.names == made.names.subtracting(["client_secret"]))
            #expect(shown.integer("access_token_lifetime") == 3600)
            let again = await server.admin(.post, "/admin/v1/clients", #"{"client_id":"app"}"#)
            #expect(again.status == 409)
            #expect(again.string("code") == "client_exists")

            let inherits = await server.admin(
                .patch, "/admin/v1/clients/app",
                #"{"offline_session_idle":null,"access_token_lifetime":0,"client_name":null}"#)
            #expect(!inherits.names.contains("offline_session_idle"))
            #expect(!inherits.names.contains("client_name"))
            #expect(inherits.string("scope") == "a b")
            #expect(!inherits.names.contains("client_secret"))
            let rotated = await server.admin(.patch, "/admin/v1/clients/app", #"{"rotate_secret":true}"#)
            let newSecret = try #require(rotated.string("client_secret"))
            let grant = "grant_type=client_credentials&client_id=app&client_secret="
            #expect(await server.form("/oauth/token", grant + secret).status == 401)
            #expect(await server.form("/oauth/token", grant + newSecret).status == 200)

            let ids = await server.admin(.get, "/admin/v1/clients").items.map { $0.string("client_id") }
            #expect(ids == ["app", "mobile"])
            let tokens = try Tokens(
                await server.admin(.post, "/admin/v1/users/username:anna/sessions", #"{"client_id":"mobile"}"#))
            #expect(await server.admin(.delete, "/admin/v1/clients/mobile").status == 204)
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
        }
    }

    @Test func adminKeysOpenUntilTheyAreDeleted() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/admin-keys", #"{"name":"ci"}"#)
            #expect(made.status == 201)
            let (id, key) = (try #require(made.string("id")), try #require(made.string("admin_key")))
            let list = await server.admin(.get, "/admin/v1/admin-keys").items
            #expect(list.count == 2)
            #expect(
                list.map(\.names) == [
                    ["id", "name", "scope", "created_at", "last_used_at"], ["id", "name", "scope", "created_at"],
                ])
            let use = {
                await server.send(
                    Request(.get, "/admin/v1/users", fields: ["Authorization": "bearer \(key)"]), on: .admin
                ).status
            }
            #expect(await use() == 200)
            #expect(await server.admin(.delete, "/admin/v1/admin-keys/\(id)").status == 204)
            #expect(await use() == 401)
            // The trail names keys by their ids, because a name may be that of a person.
            let told = await server.admin(.get, "/admin/v1/events?limit=200").items.filter {
                $0.string("event")?.hasPrefix("admin_key_") == true
            }
            #expect(told.suffix(2).map { $0.string("reason") } == [id, id])
            #expect(told.allSatisfy { $0.string("reason")?.contains(" ") == false })
        }
    }

    @Test func theTrailNamesActorActAndUser() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            _ = await server.admin(.post, "/admin/v1/users/username:anna/disable", #"{"reason":"lost"}"#)
            _ = await server.admin(.post, "/admin/v1/users", #"{"username":"bert"}"#)
            let all = await server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(all.map { $0.integer("id") ?? 0 } == (all.map { $0.integer("id") ?? 0 }).sorted())
            let disabled = try #require(all.first { $0.string("event") == "logins_disabled" })
            #expect(disabled.string("actor")?.hasPrefix("admin:") == true)
            #expect(disabled.string("user_id") == tokens.userID)
            #expect(disabled.string("reason") == "lost")
            #expect(disabled.string("remote_address") == "192.0.2.1")
            #expect(disabled.string("request_id")?.utf8.count == 16)

            let ofUser = await server.admin(.get, "/admin/v1/events?user=username:anna").items
            #expect(ofUser.map { $0.string("event") } == ["user_created", "session_started", "logins_disabled"])
            let ofSession = await server.admin(.get, "/admin/v1/events?session_id=\(tokens.sessionID)").items
            #expect(ofSession.map { $0.string("event") } == ["session_started"])

            var (paged, cursor): ([Int64], String?) = ([], nil)
            repeat {
                let page = await server.admin(
                    .get, "/admin/v1/events?limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""))
                paged += page.items.compactMap { $0.integer("id") }
                cursor = page.string("next_cursor")
            } while cursor != nil
            #expect(paged == all.compactMap { $0.integer("id") })
        }
    }
}
