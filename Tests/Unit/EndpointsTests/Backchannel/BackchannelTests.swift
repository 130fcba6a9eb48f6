import Cryptography
import HTTP
import JOSE
import JSON
import Sessions
import Testing

@testable import Endpoints

/// A backend logs a user in by the user's phone (OpenID Connect CIBA, poll mode).
struct BackchannelTests {
    private typealias Login = BackchannelLogin

    @Test("A backend requests a login, the phone finds and approves it, and the backend gets its tokens once")
    func wholeWay() async throws {
        try await Login.with { server, basic, phone in
            let login = try await Login(
                server, basic,
                "scope=openid+email&login_hint=anna&binding_message=Order+4711&announce_info=%7B%22sum%22%3A12%7D")
            #expect(login.opened.integer("expires_in") == 180 && login.opened.integer("interval") == 5)
            #expect(await login.collect().string("error") == "authorization_pending")
            let seen = await login.look()
            #expect(seen.string("event") == "waiting" && seen.string("qr") == nil)
            let found = try await login.found(phone)
            #expect(found.string("kind") == "backchannel" && found.string("state") == "STARTING")
            #expect(found.string("binding_message") == "Order 4711" && found.integer("announce_info", "sum") == 12)
            #expect(found.string("client", "name") == "Shop" && found.string("user_id") == nil)
            #expect(found.string("place") == nil && found.string("remote_address") == nil)
            try await login.approve(phone)
            let answer = await login.collect()
            let tokens = try Tokens(answer)
            #expect(tokens.sessionID == login.id && tokens.userID == phone.userID)
            #expect(answer.string("scope") == "openid email" && !tokens.refresh.isEmpty)
            let claims = try Answer.claims(of: try #require(answer.string("id_token")))
            #expect(claims.string("sub") == phone.userID && claims.string("aud") == "shop")
            #expect(claims.string("acr") == "phone" && claims.strings("amr") == ["phone"])
            #expect(claims.string("sid") == login.id && claims.string("email") == "anna@example.org")
            #expect(claims.integer("auth_time") == EndpointsFixture.start)
            #expect(await login.collect().string("error") == "invalid_grant")
            let refreshed = await server.form(
                "/oauth/token", "grant_type=refresh_token&refresh_token=\(tokens.refresh)", basic: basic)
            #expect(refreshed.string("session_id") == login.id, "\(refreshed.text)")
            _ = await server.call(.post, "/v1/logout", bearer: phone.access)
            let child = await server.admin(.get, "/admin/v1/sessions/\(tokens.sessionID)")
            #expect(child.string("ended_reason") == "parent_ended", "\(child.text)")
        }
    }

    @Test("The request is an event for the team's sender, with the client as its actor")
    func event() async throws {
        try await Login.with { server, basic, phone in
            let login = try await Login(server, basic)
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            let event = try #require(events.first { $0.string("event") == "login_requested" })
            #expect(event.string("session_id") == login.id && event.string("user_id") == phone.userID)
            #expect(event.string("actor") == "client:shop" && event.string("client_id") == "shop")
            #expect(event.string("reason") == "backchannel")
        }
    }

    @Test("Each hint names the user: a username, a user id, an ID token that has expired")
    func hints() async throws {
        try await Login.with { server, basic, phone in
            let first = try await Login(server, basic, "scope=openid&login_hint=\(phone.userID)")
            try await first.approve(phone)
            let token = try #require(await first.collect().string("id_token"))
            server.moveClock(to: 100_000)
            let later = try await server.logIn(device: "phone-2")
            let second = try await Login(server, basic, "scope=openid&id_token_hint=\(token)")
            #expect(try await second.found(later).string("kind") == "backchannel")
            let other = try await Login.makeClient(server, "other")
            let foreign = await Login.request(server, other, "scope=openid&id_token_hint=\(token)")
            #expect(foreign.string("error") == "invalid_request")
            let access = await Login.request(server, basic, "scope=openid&id_token_hint=\(phone.access)")
            #expect(access.string("error") == "invalid_request")
        }
    }

    @Test("Only phones of that user claim it, only by the push, and a second one does not end it")
    func claims() async throws {
        try await Login.with { server, basic, phone in
            _ = await server.admin(
                .post, "/admin/v1/users", #"{"username":"berta","password":"\#(EndpointsFixture.password)"}"#)
            let berta = try Tokens(
                await server.call(
                    .post, "/v1/login",
                    #"{"username":"berta","password":"\#(EndpointsFixture.password)","device":{"id":"b-1"}}"#))
            let login = try await Login(server, basic)
            let code = try #require(try await login.found(phone).string("push"))
            #expect(await server.call(.get, "/v1/me/logins", bearer: berta.access).items.isEmpty)
            #expect(try await login.claim(berta, code: code).status == 404)
            #expect(await server.call(.get, "/v1/me/logins/\(login.id)", bearer: berta.access).status == 404)
            for source in ["qr", "deep_link"] {
                #expect(try await login.claim(phone, code: code, source: source).status == 404, "\(source)")
            }
            #expect(try await login.claim(phone, code: code).status == 200)
            let other = try await server.logIn(device: "phone-2")
            #expect(try await login.claim(other, code: code).string("code") == "taken")
            #expect(try await login.found(phone).string("push") == nil)
            let number = try #require(await login.look().integer("number"))
            #expect(await login.act("confirm", nil, phone).string("code") == "number_required")
            #expect(await login.act("confirm", #"{"number":\#(number)}"#, phone).status == 200)
        }
    }

    @Test("The poll answers pending, too fast, denied, wrong number, too late, another client")
    func results() async throws {
        try await Login.with { server, basic, phone in
            let denied = try await Login(server, basic)
            #expect(await denied.collect().string("error") == "authorization_pending")
            _ = try await denied.claim(phone)
            _ = await denied.act("stop", nil, phone)
            #expect(await denied.collect().string("error") == "access_denied")
            let wrong = try await Login(server, basic)
            _ = try await wrong.claim(phone)
            let number = try #require(await wrong.look().integer("number"))
            let refused = await wrong.act("confirm", #"{"number":\#(number == 99 ? 98 : number + 1)}"#, phone)
            #expect(refused.string("code") == "wrong_number")
            #expect(await wrong.collect().string("error") == "expired_token")
            let late = try await Login(server, basic, "scope=openid&login_hint=anna&requested_expiry=45")
            #expect(late.opened.integer("expires_in") == 45)
            _ = try await late.claim(phone)
            server.moveClock(to: 45)
            #expect(await late.collect().string("error") == "expired_token")
            let foreign = try await Login(server, basic)
            let other = try await Login.makeClient(server, "other")
            #expect(await foreign.collect(basic: other).string("error") == "invalid_grant")
            try await foreign.approve(phone)
            #expect(await foreign.collect(basic: other).string("error") == "invalid_grant")
            #expect(await foreign.collect().status == 200)
        }
    }

    @Test("A backend that polls faster than the interval is told so, and still gets its tokens")
    func slowDown() async throws {
        try await Login.with { server, basic, phone in
            let login = try await Login(server, basic)
            #expect(await login.collect().string("error") == "authorization_pending")
            #expect(await login.collect().string("error") == "slow_down")
            let second = try await Login(server, basic)
            #expect(await second.collect().string("error") == "authorization_pending")
            try await login.approve(phone)
            #expect(await login.collect().status == 200)
        }
    }

    @Test("A backend may come until the time that it was told, and a minute after a late approval")
    func collectionTime() async throws {
        try await Login.with { server, basic, phone in
            let early = try await Login(server, basic)
            try await early.approve(phone)
            server.moveClock(to: 179)
            #expect(await early.collect().status == 200)
            server.moveClock(to: 200)
            let late = try await Login(server, basic)
            server.moveClock(to: 370)
            try await late.approve(phone)
            server.moveClock(to: 429)
            #expect(await late.collect("&device_id=shop-2").status == 200)
            let lost = try await Login(server, basic)
            try await lost.approve(phone)
            server.moveClock(to: 700)
            #expect(await lost.collect().string("error") == "expired_token")
        }
    }

    @Test("Two polls at once give one session, and a retry with its Idempotency-Key gives it again")
    func races() async throws {
        try await Login.with { server, basic, phone in
            for round in 0..<10 {
                let login = try await Login(server, basic)
                try await login.approve(phone)
                let answers = await withTaskGroup(of: Answer.self) { group in
                    for _ in 0..<4 { group.addTask { await login.collect("&device_id=shop-\(round)") } }
                    var answers: [Answer] = []
                    for await answer in group { answers.append(answer) }
                    return answers
                }
                #expect(answers.count { $0.status == 200 } == 1)
                #expect(answers.filter { $0.status != 200 }.allSatisfy { $0.string("error") == "invalid_grant" })
            }
            let login = try await Login(server, basic)
            try await login.approve(phone)
            let first = await login.collect(fields: ["Idempotency-Key": "a"])
            let again = await login.collect(fields: ["Idempotency-Key": "a"])
            #expect(first.string("session_id") == login.id && again.string("session_id") == login.id)
            #expect(again.string("id_token") != nil)
        }
    }

    @Test("Three requests may wait for a user, also when many come at once; the fourth gets 429")
    func openPushes() async throws {
        try await Login.with { server, basic, phone in
            let answers = await withTaskGroup(of: Answer.self) { group in
                for _ in 0..<8 { group.addTask { await Login.request(server, basic) } }
                var answers: [Answer] = []
                for await answer in group { answers.append(answer) }
                return answers
            }
            #expect(answers.count { $0.status == 200 } == 3 && answers.count { $0.status == 429 } == 5)
            let list = await server.call(.get, "/v1/me/logins", bearer: phone.access)
            #expect(list.items.count == 3)
            let first = try #require(list.items.first?.string("login_id"))
            _ = await server.admin(.delete, "/admin/v1/logins/\(first)")
            #expect(await Login.request(server, basic).status == 200)
            #expect(await Login.request(server, basic).status == 429)
            server.moveClock(to: 180)
            #expect(await Login.request(server, basic).status == 200)
        }
    }

    @Test("The tokens are bound to the key of a proof, as elsewhere")
    func proof() async throws {
        try await Login.with(#","dpop":"required""#) { server, basic, phone in
            let login = try await Login(server, basic)
            try await login.approve(phone)
            #expect(await login.collect().string("error") == "invalid_dpop_proof")
            let device = ProvingDevice()
            let answer = await login.collect(fields: ["DPoP": device.proof(server, .post, "/oauth/token")])
            #expect(answer.string("token_type") == "DPoP", "\(answer.text)")
            let claims = try Answer.claims(of: try #require(answer.string("access_token")))
            #expect(claims.string("cnf", "jkt") == device.thumbprint)
        }
    }

    @Test("The secret of a backend's login is none of the device grant, and the other way round")
    func secrets() async throws {
        try await Login.with { server, basic, phone in
            try await DeviceLogin.makeClient(server)
            let login = try await Login(server, basic)
            let device = try await DeviceLogin(server)
            let asDevice = await server.form(
                "/oauth/token", "grant_type=\(DeviceLogin.grant)&client_id=tv&device_code=\(login.secret)")
            #expect(asDevice.string("error") == "invalid_grant")
            let asBackend = await server.form(
                "/oauth/token", "grant_type=\(Login.grant)&auth_req_id=\(device.secret)", basic: basic)
            #expect(asBackend.string("error") == "invalid_grant")
        }
    }

    @Test("A deleted user's request is over, and another node sees what this one has requested")
    func nodesAndDeletion() async throws {
        try await Login.with { server, basic, phone in
            let node = try await server.anotherNode()
            let login = try await Login(server, basic)
            try await login.approve(phone)
            let there = await node.form(
                "/oauth/token", "grant_type=\(Login.grant)&auth_req_id=\(login.secret)", basic: basic)
            #expect(there.string("session_id") == login.id, "\(there.text)")
            let other = try await Login(server, basic)
            _ = await server.admin(.delete, "/admin/v1/users/username:anna")
            #expect(await other.collect().string("error") == "expired_token")
            #expect(await server.admin(.get, "/admin/v1/logins/\(other.id)").string("cause") == "parent_ended")
        }
    }
}
