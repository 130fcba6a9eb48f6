import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A code that travels by eye can be relayed. The rules against it, in the order of the manual: each is one test.
struct RelayRuleTests {
    @Test("R2: a picture changes every ten seconds and is dead after twenty, the code in a mail too")
    func pictureRotates() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            let first = try #require(login.opened.string("qr"))
            #expect(first == first.uppercased() && first.utf8.count == "HTTPS://LOGIN.EXAMPLE/L/".utf8.count + 26)
            server.moveClock(to: 10)
            let second = try #require(await login.look().string("qr"))
            #expect(first != second)
            server.moveClock(to: 20)
            #expect(await login.scan(phone, code: first).status == 404)
            #expect(await login.scan(phone, code: second).status == 200)
        }
    }

    @Test("R2: no client can make a code, and no code is good for another way than its own")
    func pictureIsSigned() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            var forged = try #require(login.opened.string("qr"))
            forged.removeLast()
            for last in "AQ" where !(login.opened.string("qr") ?? "").hasSuffix("\(last)") {
                #expect(await login.scan(phone, code: forged + "\(last)").status == 404)
            }
            for junk in ["", "https://login.example/l/", "AAAAAAAAAAAAAAAAAAAAAAAAAA"] {
                #expect([400, 404].contains(await login.scan(phone, code: junk).status), "\(junk)")
            }
        }
    }

    @Test("R3: a picture that comes as a link is refused, and so is a link that leads nowhere")
    func linkedPicture() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            #expect(await login.scan(phone, source: "deep_link").status == 404)
            #expect(await login.scan(phone, source: "push").status == 404)
            // A device that names no place to return to has no link.
            #expect(login.opened.string("link") == nil)
        }
    }

    @Test("R4: the number appears after the scan, is typed, has one try, and three wrong ones an hour close the phone")
    func numberMatching() async throws {
        try await DeviceLogin.with { server, phone in
            for _ in 0..<3 {
                let login = try await DeviceLogin(server)
                #expect(login.opened.integer("number") == nil)
                #expect(await login.scan(phone).integer("number") == nil)
                let wrong = try await login.number() == 10 ? 11 : 10
                #expect(await login.act("confirm", #"{"number":\#(wrong)}"#, phone).string("code") == "wrong_number")
            }
            let next = try await DeviceLogin(server)
            #expect(await next.scan(phone).status == 429)
            let other = try await server.logIn(device: "phone-2")
            #expect(await next.scan(other).status == 429)
        }
    }

    @Test("R4: a password does not stand in for the number")
    func numberBesidePassword() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            #expect(
                await login.scan(phone, more: #","skip_confirmation":true"#).string("input")
                    == "WAIT_FOR_SECOND_FACTOR")
            let password = #""password":"\#(EndpointsFixture.password)""#
            #expect(await login.act("second-factor", "{\(password)}", phone).string("code") == "number_required")
            let number = try await login.number()
            let right = await login.act("second-factor", "{\(password),\"number\":\(number)}", phone)
            #expect(right.string("state") == "ACTIVE", "\(right.text)")
        }
    }

    @Test("R5: the device learns nothing of the user before the approval")
    func silence() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            _ = await login.scan(phone)
            _ = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
            let seen = await login.look()
            #expect(!seen.text.contains(phone.userID) && !seen.text.contains("anna"))
            #expect(
                seen.names.isSubset(of: ["login_id", "event", "state", "history", "number", "expires_at", "version"]))
        }
    }

    @Test("R6: the phone shows client, browser and the places of both sides, and whether the browser is new")
    func places() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server, fields: ["User-Agent": "TV/1.0"])
            let claimed = await login.scan(phone)
            #expect(claimed.string("user_agent") == "TV/1.0" && claimed.string("remote_address") == "192.0.2.1")
            #expect(claimed.string("place") != nil && claimed.string("own_place") != nil)
            #expect(claimed.bool("browser_known") == false)
            let row = await login.row()
            #expect(row.string("place") != nil && row.string("own_place") == nil)
        }
    }

    @Test("R7: an unknown device takes the second factor, whatever its client asks for")
    func secondFactor() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server, "&second_factor=not_required")
            _ = await login.scan(phone)
            let confirmed = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
            #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR")
        }
    }

    @Test("R7: what the presence key signs names the login and the number")
    func signedFactor() async throws {
        try await EndpointsFixture.with { server in
            try await DeviceLogin.makeClient(server)
            let phone = try await GuardedPhone(server, .biometric)
            let login = try await DeviceLogin(server)
            _ = await login.scan(phone.tokens, more: #","skip_confirmation":true"#)
            let number = try await login.number()
            func factor(_ login: DeviceLogin, naming id: String?, _ number: Int64) async -> Answer {
                let assertion = phone.finger.assertion(server, phone.tokens) { draft in
                    if let id { draft.set("login", id) }
                    draft.claims["number"] = "\(number)"
                }
                return await login.act("second-factor", #"{"user_assertion":"\#(assertion)"}"#, phone.tokens)
            }
            #expect(await factor(login, naming: nil, number).string("code") == "wrong_second_factor")
            #expect(await factor(login, naming: "other", number).string("code") == "wrong_second_factor")
            let right = await factor(login, naming: login.id, number)
            #expect(right.string("state") == "ACTIVE", "\(right.text)")
        }
    }

    @Test("R8: for a day, a session that a phone has let in changes nothing that would outlast it")
    func probation() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, tokens) = try await DeviceLogin.complete(server, phone, scope: "read+account")
            let password = #""old_password":"\#(EndpointsFixture.password)","new_password":"another good horse""#
            let calls: [(HTTP.Method, String, String?)] = [
                (.delete, "/v1/me/devices", nil), (.delete, "/v1/me/devices/phone-1", nil),
                (.put, "/v1/me/password", "{\(password)}"), (.patch, "/v1/me", #"{"email":"eve@example.org"}"#),
                (.put, "/v1/me/authentication-mode", #"{"authentication_mode":"NO"}"#),
                (.put, "/v1/me/encryption-key", "{}"), (.delete, "/v1/me/encryption-key", nil),
                (.post, "/v1/me/passkeys", "{}"), (.post, "/v1/me/passkeys/options", "{}"),
                (.put, "/v1/me/login-settings", #"{"logins_disabled":true}"#),
                (.put, "/v1/me/pin", "{}"), (.delete, "/v1/me/pin", nil),
                (.patch, "/v1/me/devices/phone-1", #"{"name":"Eve's"}"#),
            ]
            for (method, path, json) in calls {
                let answer = await server.call(method, path, json, bearer: tokens.access)
                #expect(answer.status == 403 && answer.string("code") == "barred", "\(path): \(answer.text)")
            }
            let next = try await DeviceLogin(server)
            #expect(await next.scan(tokens).string("code") == "barred")
            #expect(await server.call(.get, "/v1/me/devices", bearer: tokens.access).status == 200)
            server.moveClock(to: EndpointsFixture.day)
            #expect(await server.call(.patch, "/v1/me", #"{"country":"CH"}"#, bearer: tokens.access).status == 200)
            let renamed = await server.call(
                .patch, "/v1/me/devices/phone-1", #"{"name":"Phone"}"#, bearer: tokens.access)
            #expect(renamed.status == 200)
        }
    }

    /// The device chose its ID, so that it may have that of another one.
    @Test("R8: a session on probation renames itself, and no other session of the device ID that it has named")
    func rename() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, tokens) = try await DeviceLogin.complete(server, phone, device: "phone-1", scope: "read+account")

            let answer = await server.call(
                .patch, "/v1/me/devices/phone-1", #"{"name":"Eve's"}"#, bearer: tokens.access)

            #expect(answer.status == 200 && answer.string("name") == "Eve's", "\(answer.text)")
            let sessions = await server.admin(.get, "/admin/v1/users/username:anna/sessions").items
            #expect(
                Dictionary(
                    sessions.map { ($0.string("session_id") ?? "", $0.string("device", "name") ?? "") },
                    uniquingKeysWith: { $1 }) == [tokens.sessionID: "Eve's", phone.sessionID: ""])
        }
    }

    @Test("R9: the session has the scope of the request, the key of the device, and the bond to the phone by default")
    func narrow() async throws {
        try await DeviceLogin.with { server, phone in
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            #expect(await login.row().string("bond") == "session")
            #expect(try Answer.claims(of: tokens.access).string("scope") == "read")
            #expect(await server.refresh(tokens.refresh, more: "&scope=write").string("error") == "invalid_scope")
            #expect(
                await server.form("/oauth/device_authorization", "client_id=tv&scope=admin").string("error")
                    == "invalid_scope")
        }
    }

    @Test("R9: a client can keep logins by phone to a part of its scope, whatever the device asks for")
    func remoteScope() async throws {
        try await DeviceLogin.with { server, phone in
            let wrong = await server.admin(.patch, "/admin/v1/clients/tv", #"{"remote_scope":"a\"b"}"#)
            #expect(wrong.status == 400, "\(wrong.text)")
            let set = await server.admin(.patch, "/admin/v1/clients/tv", #"{"remote_scope":"read"}"#)
            #expect(set.status == 200 && set.string("remote_scope") == "read", "\(set.text)")
            let login = try await DeviceLogin(server, "%20write")
            try await login.approve(phone)
            let collected = await login.collect()
            #expect(collected.string("scope") == "read", "\(collected.text)")
            #expect(try Answer.claims(of: Tokens(collected).access).string("scope") == "read")
            let cleared = await server.admin(.patch, "/admin/v1/clients/tv", #"{"remote_scope":null}"#)
            #expect(cleared.status == 200 && cleared.string("remote_scope") == nil)
            let next = try await DeviceLogin(server, "%20write")
            try await next.approve(phone)
            #expect(await next.collect("&device_id=tv-2").string("scope") == "read write")
        }
    }

    @Test("R10: the user's other devices can see it, and 'not me' undoes it and says so in the trail")
    func undo() async throws {
        try await DeviceLogin.with { server, phone in
            let other = try await server.logIn(device: "phone-2")
            let (login, tokens) = try await DeviceLogin.complete(server, phone)
            let history = await server.call(.get, "/v1/me/logins", bearer: other.access)
            let ids = history.items.compactMap { $0.string("login_id") }
            #expect(ids == [login.id])
            let stopped = await server.call(
                .post, "/v1/me/logins/\(login.id)/stop", #"{"not_me":true}"#, bearer: phone.access)
            #expect(stopped.string("history") == "LOGGED_OUT")
            #expect(await server.refresh(tokens.refresh).string("reason") == "not_me")
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            let kinds = events.compactMap { $0.string("event") }
            #expect(kinds.contains("login_reported"), "\(kinds)")
        }
    }

    @Test("R11: two phones with one code are both refused, and the trail says so")
    func contested() async throws {
        try await DeviceLogin.with { server, phone in
            let login = try await DeviceLogin(server)
            let code = await login.look().string("qr")
            #expect(await login.scan(phone, code: code).status == 200)
            // The same phone asks again.
            #expect(await login.scan(phone, code: code).status == 200)
            let other = try await server.logIn(device: "phone-2")
            #expect(await login.scan(other, code: code).string("code") == "contested")
            #expect(await login.act("start", nil, phone).string("code") == "session_terminated")
            #expect(await login.look().string("event") == "failed")
            let failed = await server.admin(.get, "/admin/v1/events?limit=200").items.filter {
                $0.string("event") == "login_failed"
            }
            #expect(failed.map { $0.string("reason") } == ["contested"])
        }
    }

    @Test("R12: an address opens so many logins a minute, and an authenticated client as many as it needs")
    func flooding() async throws {
        try await EndpointsFixture.with { server in
            try await DeviceLogin.makeClient(server)
            let secret = try await server.makeClient(
                #"{"client_id":"kiosk","token_endpoint_auth_method":"client_secret_basic","grant_types":["\#(DeviceLogin.grant)","refresh_token"]}"#
            )
            for _ in 0..<60 { _ = try await DeviceLogin(server) }
            // One more is admitted for each second that the first sixty took.
            var last = 200
            for _ in 0..<240 where last == 200 {
                last = await server.form("/oauth/device_authorization", "client_id=tv").status
            }
            #expect(last == 429)
            let basic = "kiosk:\(try #require(secret))"
            #expect(await server.form("/oauth/device_authorization", "", basic: basic).status == 200)
        }
    }

    @Test("R14: the session's amr is that of a phone, never the phone's own, and its acr is no higher")
    func assurance() async throws {
        try await DeviceLogin.with { server, phone in
            let (_, tokens) = try await DeviceLogin.complete(server, phone)
            let (own, child) = (try Answer.claims(of: phone.access), try Answer.claims(of: tokens.access))
            #expect(own.strings("amr") == ["pwd"] && child.strings("amr") == ["phone"])
            #expect(child.string("acr") == nil)
            let shown = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(shown.string("authentication_mode") == "NO")
        }
    }
}
