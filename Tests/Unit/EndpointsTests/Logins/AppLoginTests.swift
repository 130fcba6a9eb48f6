import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A web session for the phone's own app.
struct AppLoginTests {
    private static func prove(_ stage: EndpointsFixture, _ phone: Tokens, _ id: String, key: String = "k") async
        -> Answer
    {
        await stage.call(
            .post, "/v1/me/app-login", #"{"login_id":"\#(id)","password":"\#(EndpointsFixture.password)"}"#,
            bearer: phone.access, fields: ["Idempotency-Key": key])
    }

    private static func exchange(_ stage: EndpointsFixture, _ nonce: String) async -> Answer {
        await stage.form(
            "/oauth/token", "grant_type=\(DeviceLogin.grant)&client_id=tv&device_code=\(nonce)&device_id=web-1")
    }

    @Test("It goes straight to the second factor, and the nonce opens a session once")
    func wholeWay() async throws {
        try await DeviceLogin.with { stage, phone in
            let opened = await stage.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
            #expect(opened.string("login", "state") == "WAITING_FOR_USER_INPUT", "\(opened.text)")
            #expect(opened.string("login", "input") == "WAIT_FOR_SECOND_FACTOR")
            #expect(opened.bool("login", "is_app_login") == true && opened.string("web_nonce") == nil)
            let id = try #require(opened.string("login", "login_id"))
            let wrong = await stage.call(
                .post, "/v1/me/app-login", #"{"login_id":"\#(id)","password":"wrong horse"}"#, bearer: phone.access)
            #expect(wrong.string("code") == "wrong_second_factor" && wrong.integer("attempts_left") == 2)
            let proved = await Self.prove(stage, phone, id)
            let nonce = try #require(proved.string("web_nonce"))
            #expect(proved.integer("expires_in") == 30)
            #expect(proved.string("url") == "https://login.example/login/app#" + nonce)
            #expect(await Self.prove(stage, phone, id).string("web_nonce") == nonce)
            let tokens = try Tokens(await Self.exchange(stage, nonce))
            #expect(tokens.userID == phone.userID && tokens.sessionID == id)
            #expect(await Self.exchange(stage, nonce).string("error") == "invalid_grant")
            _ = await stage.call(.post, "/v1/logout", bearer: phone.access)
            #expect(await stage.refresh(tokens.refresh).string("reason") == "parent_ended")
        }
    }

    @Test("A nonce is dead after thirty seconds, and after a logout of the phone")
    func nonceEnds() async throws {
        try await DeviceLogin.with { stage, phone in
            for isLate in [true, false] {
                let opened = await stage.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
                let id = try #require(opened.string("login", "login_id"))
                let nonce = try #require(await Self.prove(stage, phone, id).string("web_nonce"))
                if isLate {
                    stage.moveClock(to: 30)
                } else {
                    _ = await stage.call(.post, "/v1/logout", bearer: phone.access)
                }
                #expect(await Self.exchange(stage, nonce).string("error") == "expired_token")
            }
        }
    }

    @Test("Another session does not get the nonce, and a client without the grant none")
    func strangers() async throws {
        try await DeviceLogin.with { stage, phone in
            let opened = await stage.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
            let id = try #require(opened.string("login", "login_id"))
            let other = try await stage.logIn(device: "phone-2")
            #expect(await Self.prove(stage, other, id).status == 403)
            let refused = await stage.call(.post, "/v1/me/app-login", #"{"client_id":"mobile"}"#, bearer: phone.access)
            #expect(refused.string("code") == "unauthorized_client")
        }
    }
}
