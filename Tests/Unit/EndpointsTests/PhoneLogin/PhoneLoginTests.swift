import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A device is let in by a phone: the whole way on both listeners.
struct PhoneLoginTests {
    @Test("A phone lets a device in: picture, number, confirmation, second factor, session")
    func wholeWay() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(
                server, "&announce_info=%7B%22text%22%3A%22TV%22%7D&session_info=%7B%22text%22%3A%22Room+1%22%7D")
            #expect(login.opened.string("qr")?.hasPrefix("HTTPS://LOGIN.EXAMPLE/L/") == true)
            #expect(login.opened.string("verification_uri") == "https://login.example/device")
            #expect(login.opened.integer("expires_in") == 180)
            #expect(await login.look().string("event") == "waiting")
            #expect(await login.collect().string("error") == "authorization_pending")

            let claimed = await login.scan(phone)
            #expect(claimed.status == 200, "\(claimed.text)")
            #expect(claimed.string("state") == "WAITING_FOR_USER_INPUT")
            #expect(claimed.string("input") == "WAIT_FOR_CONFIRMATION")
            #expect(claimed.string("client", "name") == "TV" && claimed.string("announce_quote") == "TV")
            #expect(claimed.bool("number_required") == true && claimed.value(["session_quote"]) == nil)
            #expect(claimed.string("place") == "Graz <b>, Austria")
            let seen = await login.look()
            #expect(seen.string("event") == "number" && seen.string("qr") == nil && seen.string("user_id") == nil)

            let number = try #require(seen.integer("number"))
            let confirmed = await login.act("confirm", #"{"number":\#(number)}"#, phone)
            #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed.text)")
            let wrong = await login.act("second-factor", #"{"password":"wrong horse"}"#, phone)
            #expect(wrong.status == 403 && wrong.string("code") == "wrong_second_factor")
            #expect(wrong.integer("attempts_left") == 2)
            let right = await login.act("second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#, phone)
            #expect(right.string("state") == "ACTIVE" && right.string("history") == "FAIL", "\(right.text)")
            #expect(await login.look().string("event") == "approved")

            let tokens = try Tokens(await login.collect())
            #expect(tokens.sessionID == login.id && tokens.userID == phone.userID)
            let claims = try Answer.claims(of: tokens.access)
            #expect(claims.strings("amr") == ["phone"] && claims.string("scope") == "read")
            #expect(await login.look().string("event") == "logged_in")
            let mine = await server.call(.get, "/v1/me/logins/\(login.id)", bearer: phone.access)
            #expect(mine.string("history") == "LOGGED_IN" && mine.string("session_quote") == "Room 1")
            #expect(await server.refresh(tokens.refresh).status == 200)
            let shown = await server.admin(.get, "/admin/v1/sessions/\(phone.sessionID)")
            #expect(shown.strings("child_session_ids") == [tokens.sessionID])
            let child = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(child.string("parent_session_id") == phone.sessionID)
            #expect(child.integer("probation_until") == EndpointsFixture.start + EndpointsFixture.day)
            let kinds = await server.admin(.get, "/admin/v1/events?limit=200").items.compactMap { $0.string("event") }
            for kind in ["login_claimed", "login_approved", "session_started"] {
                #expect(kinds.contains(kind), "\(kind)")
            }
        }
    }

    @Test("A wrong number ends the login for every phone")
    func wrongNumber() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            _ = await login.scan(phone)
            let number = try await login.number()
            #expect(await login.act("confirm", nil, phone).string("code") == "number_required")
            let wrong = await login.act("confirm", #"{"number":\#(number == 99 ? 98 : number + 1)}"#, phone)
            #expect(wrong.status == 409 && wrong.string("code") == "wrong_number")
            #expect(await login.look().string("event") == "failed")
            #expect(await login.collect().string("error") == "expired_token")
            let row = await login.row()
            #expect(row.string("state") == "ERROR" && row.string("history") == "ERROR")
            #expect(row.string("cause") == "wrong_number")
        }
    }

    @Test("A refusal on the phone is an access_denied on the device")
    func denied() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            _ = await login.scan(phone)
            let stopped = await login.act("stop", nil, phone)
            #expect(stopped.string("state") == "DONE" && stopped.string("history") == "ABORTED")
            #expect(await login.collect().string("error") == "access_denied")
            #expect(await login.act("stop", nil, phone).string("code") == "session_terminated")
            #expect(await login.look().string("event") == "canceled")
        }
    }

    @Test("A login that gets no answer in time ends at the next look")
    func timeOut() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            _ = await login.scan(phone)
            server.moveClock(to: 180)
            #expect(await login.look().string("event") == "timed_out")
            #expect(await login.act("start", nil, phone).string("code") == "session_terminated")
            #expect(await login.collect().string("error") == "expired_token")
            let row = await login.row()
            #expect(row.string("history") == "ABORTED" && row.string("cause") == "timed_out")
        }
    }

    @Test("A login that the device does not collect in time gives out no session later")
    func notCollected() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            try await login.approve(phone)
            server.moveClock(to: 60)
            #expect(await login.collect().string("error") == "expired_token")
            #expect(await login.row().string("cause") == "not_collected")
        }
    }

    @Test("Every act converges on a retry with its Idempotency-Key, the collection too")
    func retries() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            let code = await login.look().string("qr")
            for _ in 0..<2 { #expect(await login.scan(phone, code: code, key: "a").status == 200) }
            let number = try await login.number()
            for _ in 0..<2 {
                #expect(await login.act("confirm", #"{"number":\#(number)}"#, phone, key: "b").status == 200)
            }
            for _ in 0..<2 {
                let proved = await login.act(
                    "second-factor", #"{"password":"\#(EndpointsFixture.password)"}"#, phone, key: "c")
                #expect(proved.status == 200, "\(proved.text)")
            }
            let first = try Tokens(await login.collect(key: "d"))
            let again = try Tokens(await login.collect(key: "d"))
            #expect(first.sessionID == again.sessionID && first.refresh == again.refresh)
            #expect(await login.collect().string("error") == "invalid_grant")
            #expect(await login.collect(key: "e").string("error") == "invalid_grant")
        }
    }

    @Test("A long poll of device and phone ends with the change")
    func longPoll() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            let version = try #require(await login.look().string("version"))
            let code = await login.look().string("qr")
            async let waiting = login.look("?wait=30&version=\(version)")
            while server.endpoints.services.phoneLogins.watch.waitingCount == 0 { await Task.yield() }
            #expect(await login.scan(phone, code: code).status == 200)
            #expect(await waiting.string("event") == "number")
            let list = await server.call(.get, "/v1/me/logins", bearer: phone.access)
            #expect(list.items.count == 1)
            let seen = try #require(list.string("version"))
            async let news = server.call(.get, "/v1/me/logins?wait=30&version=\(seen)", bearer: phone.access)
            while server.endpoints.services.phoneLogins.watch.waitingCount == 0 { await Task.yield() }
            #expect(await login.act("stop", nil, phone).status == 200)
            #expect(await news.items.isEmpty)
            let history = await server.call(.get, "/v1/me/logins?history=true", bearer: phone.access)
            #expect(history.items.map { $0.string("history") } == ["ABORTED"])
            for query in ["history=", "history=1", "limit=0", "limit=-1", "cursor=%20", "history=false&limit=201"] {
                let refused = await server.call(.get, "/v1/me/logins?\(query)", bearer: phone.access)
                #expect(refused.status == 400, "\(query)")
            }
        }
    }

    @Test("Admins list, show and end logins; the list is by user and by state")
    func admins() async throws {
        try await DeviceLogin.with { server, phone in
            let waiting = try await DeviceLogin(server)
            let (done, tokens) = try await DeviceLogin.complete(server, phone)
            func ids(_ query: String) async -> Set<String> {
                Set(await server.admin(.get, "/admin/v1/logins\(query)").items.compactMap { $0.string("login_id") })
            }
            #expect(await ids("") == [waiting.id, done.id])
            #expect(await ids("?user=username:anna") == [done.id])
            #expect(await ids("?phase=requested") == [waiting.id])
            #expect(await server.admin(.get, "/admin/v1/logins?phase=ACTIVE").status == 400)
            #expect(await server.admin(.get, "/admin/v1/logins?user=username:nobody").status == 404)
            for login in [waiting, done] {
                #expect(await server.admin(.delete, "/admin/v1/logins/\(login.id)").status == 204)
                #expect(await server.admin(.delete, "/admin/v1/logins/\(login.id)").status == 204)
            }
            #expect(await waiting.row().string("cause") == "canceled")
            #expect(await done.row().string("history") == "LOGGED_OUT")
            #expect(await server.refresh(tokens.refresh).string("reason") == "revoked_by_admin")
        }
    }

    @Test("The secret of a login opens that login alone, and the device code grant is off unless the client has it")
    func strangers() async throws {
        try await DeviceLogin.with { server, phone in
            let (one, two) = (try await DeviceLogin(server), try await DeviceLogin(server))
            #expect(await server.call(.get, "/v1/logins/\(one.id)", bearer: two.secret).status == 401)
            #expect(await server.call(.get, "/v1/logins/\(one.id)").status == 401)
            #expect(await server.call(.get, "/v1/me/logins/\(one.id)", bearer: phone.access).status == 404)
            #expect(await one.act("start", nil, phone).status == 404)
            let refused = await server.form("/oauth/device_authorization", "client_id=mobile")
            #expect(refused.string("error") == "unauthorized_client")
            let stolen = await server.form(
                "/oauth/token", "grant_type=\(DeviceLogin.grant)&client_id=mobile&device_code=\(one.secret)")
            #expect(stolen.string("error") == "unauthorized_client")
            for bad in ["&bond=for_ever", "&ping_seconds=59", "&bond=ping", "&announce_info=1", "&second_factor=maybe"]
            {
                let answer = await server.form("/oauth/device_authorization", "client_id=tv" + bad)
                #expect(answer.status == 400, "\(bad)")
            }
        }
    }
}
