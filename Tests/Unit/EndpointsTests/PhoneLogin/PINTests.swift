import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// The PIN of an app, by which its user approves logins with a phone.
@Suite struct PINTests {
    /// What a device sends for a PIN.
    private static func mac(_ byte: UInt8) -> String { Base64URL.encode([UInt8](repeating: byte, count: 32)) }
    private static let right = mac(1)
    private static let wrong = mac(2)
    private static let password = #""password":"\#(EndpointsFixture.password)""#

    private static func set(_ members: String, _ server: EndpointsFixture, _ phone: Tokens) async -> Answer {
        await server.call(.put, "/v1/me/pin", "{\(members)}", bearer: phone.access)
    }

    /// A login that waits for its second factor.
    private static func waiting(_ server: EndpointsFixture, _ phone: Tokens) async throws -> DeviceLogin {
        let login = try await DeviceLogin(server)
        _ = await login.scan(phone)
        let confirmed = await login.act("confirm", #"{"number":\#(try await login.number())}"#, phone)
        #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed.text)")
        return login
    }

    private static func prove(
        _ pin: String, _ login: DeviceLogin, _ phone: Tokens, key: String? = nil
    ) async -> Answer {
        await login.act("second-factor", #"{"pin":"\#(pin)"}"#, phone, key: key)
    }

    /// The word of an answer, and how many wrong PINs are left.
    private static func word(_ answer: Answer) -> String {
        "\(answer.status) \(answer.string("code") ?? answer.string("state") ?? "") "
            + (answer.integer("attempts_left").map(String.init) ?? "")
    }

    /// Gives `body` a phone with a PIN.
    private static func withPIN(_ body: (EndpointsFixture, Tokens) async throws -> Void) async throws {
        try await DeviceLogin.with { server, phone in
            let set = await set(#""pin":"\#(right)",\#(password)"#, server, phone)
            #expect(
                set.status == 200 && set.integer("attempts_left") == 3 && set.bool("locked") == false, "\(set.text)")
            try await body(server, phone)
        }
    }

    @Test("A PIN approves a login, and counts as no presence: neither `amr` nor the time of the last factor tell of it")
    func approves() async throws {
        try await Self.withPIN { server, phone in
            server.moveClock(to: 100)
            let before = await server.admin(.get, "/admin/v1/sessions/\(phone.sessionID)")
            let (login, profile) = (
                try await Self.waiting(server, phone), await server.call(.get, "/v1/me", bearer: phone.access)
            )
            let proved = await Self.prove(Self.right, login, phone)
            #expect(proved.string("state") == "ACTIVE" && proved.string("history") == "FAIL", "\(proved.text)")
            let tokens = try Tokens(await login.collect())
            let claims = try Answer.claims(of: tokens.access)
            #expect(claims.strings("amr") == ["phone"])
            #expect(await server.call(.get, "/v1/me", bearer: phone.access).text == profile.text)
            let after = await server.admin(.get, "/admin/v1/sessions/\(phone.sessionID)")
            #expect(after.integer("pin", "changed_at") == EndpointsFixture.start)
            #expect(after.string("authentication_mode") == before.string("authentication_mode"))
            // A proof of presence is what changes of the account ask for; the login is too long ago for them.
            server.moveClock(to: 401)
            let second = try await Self.waiting(server, phone)
            #expect(await Self.prove(Self.right, second, phone).string("state") == "ACTIVE")
            let changed = await server.call(.patch, "/v1/me", #"{"email":"eve@example.org"}"#, bearer: phone.access)
            #expect(changed.string("code") == "insufficient_user_authentication", "\(changed.text)")
        }
    }

    @Test("Three wrong PINs lock it across logins, the login goes on, and a password opens it again")
    func locks() async throws {
        try await Self.withPIN { server, phone in
            let first = try await Self.waiting(server, phone)
            #expect(Self.word(await Self.prove(Self.wrong, first, phone)) == "403 wrong_pin 2")
            #expect(Self.word(await Self.prove(Self.wrong, first, phone)) == "403 wrong_pin 1")
            _ = await first.act("stop", nil, phone)
            let second = try await Self.waiting(server, phone)
            #expect(Self.word(await Self.prove(Self.wrong, second, phone)) == "403 pin_locked 0")
            #expect(Self.word(await Self.prove(Self.right, second, phone)) == "403 pin_locked 0")
            let shown = await server.admin(.get, "/admin/v1/sessions/\(phone.sessionID)")
            #expect(shown.bool("pin", "locked") == true && shown.integer("pin", "attempts_left") == 0)
            let changed = await Self.set(
                #""pin":"\#(Self.mac(3))","old_pin":"\#(Self.right)""#, server, phone)
            #expect(Self.word(changed) == "403 pin_locked 0")

            let proved = await second.act("second-factor", "{\(Self.password)}", phone)
            #expect(proved.string("state") == "ACTIVE", "\(proved.text)")
            #expect(await server.call(.get, "/v1/me/pin", bearer: phone.access).integer("attempts_left") == 3)
            let third = try await Self.waiting(server, phone)
            #expect(await Self.prove(Self.right, third, phone).string("state") == "ACTIVE")
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            let words = events.compactMap { event in
                event.string("event").map { "\($0) \(event.string("reason") ?? "")" }
            }
            #expect(words.count { $0 == "login_failed wrong_pin" } == 3)
            #expect(words.count { $0 == "pin_locked " } == 1 && words.count { $0 == "pin_set " } == 1)
        }
    }

    @Test("A right PIN ends the count of wrong ones, and a repeated request is counted once")
    func counts() async throws {
        try await Self.withPIN { server, phone in
            let first = try await Self.waiting(server, phone)
            for _ in 0..<3 {
                #expect(Self.word(await Self.prove(Self.wrong, first, phone, key: "one")) == "403 wrong_pin 2")
            }
            #expect(Self.word(await Self.prove(Self.wrong, first, phone, key: "two")) == "403 wrong_pin 1")
            #expect(await Self.prove(Self.right, first, phone, key: "three").string("state") == "ACTIVE")
            let second = try await Self.waiting(server, phone)
            #expect(Self.word(await Self.prove(Self.wrong, second, phone)) == "403 wrong_pin 2")
            // Wrong passwords and wrong PINs are counted apart.
            let wrong = await second.act("second-factor", #"{"password":"wrong horse"}"#, phone)
            #expect(Self.word(wrong) == "403 wrong_second_factor 2")
        }
    }

    @Test("A PIN is set by a proof of presence in the same request, however fresh the login is, and changed by itself")
    func permission() async throws {
        try await DeviceLogin.with { server, phone in
            let bare = await Self.set(#""pin":"\#(Self.right)""#, server, phone)
            #expect(bare.status == 400 && bare.string("member") == "old_pin")
            let assertion = await Self.set(#""pin":"\#(Self.right)","user_assertion":"x""#, server, phone)
            #expect(assertion.string("code") == "insufficient_user_authentication")
            let wrong = await Self.set(#""pin":"\#(Self.right)","password":"wrong horse""#, server, phone)
            #expect(wrong.status == 401 && wrong.string("code") == "invalid_credentials")
            let none = await Self.set(#""pin":"\#(Self.right)","old_pin":"\#(Self.right)""#, server, phone)
            #expect(none.status == 409 && none.string("code") == "pin_not_set")
            for pin in ["", "x", Base64URL.encode([1, 2, 3]), Base64URL.encode([UInt8](repeating: 1, count: 33))] {
                let answer = await Self.set(#""pin":"\#(pin)",\#(Self.password)"#, server, phone)
                #expect(answer.status == 400 && answer.string("member") == "pin", "\(answer.text)")
            }
            #expect(await server.call(.get, "/v1/me/pin", bearer: phone.access).status == 404)
            let login = try await Self.waiting(server, phone)
            #expect(Self.word(await Self.prove(Self.right, login, phone)) == "409 pin_not_set ")

            #expect(await Self.set(#""pin":"\#(Self.right)",\#(Self.password)"#, server, phone).status == 200)
            server.moveClock(to: 50)
            let old = #""old_pin":"\#(Self.right)""#
            let both = await Self.set(#""pin":"\#(Self.wrong)",\#(old),\#(Self.password)"#, server, phone)
            #expect(both.status == 400 && both.string("member") == "old_pin")
            let missed = await Self.set(#""pin":"\#(Self.mac(3))","old_pin":"\#(Self.wrong)""#, server, phone)
            #expect(Self.word(missed) == "403 wrong_pin 2", "a wrong old PIN counts as one at a login does")
            #expect(Self.word(await Self.prove(Self.wrong, login, phone)) == "403 wrong_pin 1")
            let changed = await Self.set(#""pin":"\#(Self.mac(3))",\#(old)"#, server, phone)
            #expect(changed.integer("attempts_left") == 3, "\(changed.text)")
            #expect(changed.integer("created_at") == EndpointsFixture.start)
            #expect(changed.integer("changed_at") == EndpointsFixture.start + 50)
            #expect(Self.word(await Self.prove(Self.right, login, phone)) == "403 wrong_pin 2")
            #expect(await Self.prove(Self.mac(3), login, phone).string("state") == "ACTIVE")
        }
    }

    @Test("A change that is sent again is answered like the first, and every guess counts")
    func repeated() async throws {
        try await Self.withPIN { server, phone in
            func change(_ new: String, from old: String) async -> Answer {
                await Self.set(#""pin":"\#(new)","old_pin":"\#(old)""#, server, phone)
            }
            let new = Self.mac(3)
            let first = await change(new, from: Self.right)
            server.moveClock(to: 30)
            for _ in 0..<3 {
                let again = await change(new, from: Self.right)
                #expect(again.status == 200 && again.text == first.text, "\(again.text)")
            }
            #expect(Self.word(await change(Self.wrong, from: Self.right)) == "403 wrong_pin 2", "the old PIN alone")
            #expect(Self.word(await change(new, from: Self.wrong)) == "403 wrong_pin 1", "the new PIN alone")
            let after = await change(new, from: Self.right)
            #expect(Self.word(after) == "200  1" && after.integer("changed_at") == EndpointsFixture.start)
            #expect(Self.word(await change(new, from: Self.wrong)) == "403 pin_locked 0")
            #expect(Self.word(await change(new, from: Self.right)) == "403 pin_locked 0")
            let events = await server.admin(.get, "/admin/v1/events?limit=200").items
            #expect(events.count { $0.string("event") == "pin_changed" } == 1)
            #expect(events.count { $0.string("reason") == "wrong_pin" } == 3)
            // What a password has set has replaced no PIN.
            #expect(await Self.set(#""pin":"\#(new)",\#(Self.password)"#, server, phone).status == 200)
            #expect(Self.word(await change(new, from: Self.right)) == "403 wrong_pin 2")
        }
    }

    @Test("A locked PIN is set anew by a password, and by the presence key")
    func setAnew() async throws {
        try await EndpointsFixture.with { server in
            try await DeviceLogin.makeClient(server)
            let phone = try await GuardedPhone(server, .biometric)
            let login = try await Self.waiting(server, phone.tokens)
            let byFinger = #""user_assertion":"\#(phone.touch())""#
            for (number, proof) in [byFinger, Self.password].enumerated() {
                let pin = Self.mac(UInt8(10 + number))
                let set = await Self.set(#""pin":"\#(pin)",\#(proof)"#, server, phone.tokens)
                #expect(set.bool("locked") == false, "\(set.text)")
                for _ in 0..<3 { _ = await Self.prove(Self.wrong, login, phone.tokens) }
                #expect(Self.word(await Self.prove(pin, login, phone.tokens)) == "403 pin_locked 0")
            }
            let used = await Self.set(#""pin":"\#(Self.right)",\#(byFinger)"#, server, phone.tokens)
            #expect(used.string("code") == "insufficient_user_authentication", "an assertion counts once")
        }
    }

    @Test("A PIN is that of one session: no other device has it, and it ends with the session, or by user and admin")
    func ends() async throws {
        try await Self.withPIN { server, phone in
            let other = try await server.logIn(device: "phone-2")
            let login = try await Self.waiting(server, other)
            #expect(Self.word(await Self.prove(Self.right, login, other)) == "409 pin_not_set ")
            #expect(await server.call(.get, "/v1/me/pin", bearer: other.access).status == 404)

            let path = "/admin/v1/sessions/\(phone.sessionID)"
            for _ in 0..<2 { #expect(await server.admin(.delete, "\(path)/pin").status == 204) }
            #expect(await server.admin(.get, path).value(["pin"]) == nil)
            #expect(
                await server.admin(.delete, "/admin/v1/sessions/\(Identifier<Session>(random: .system))/pin").status
                    == 404)
            #expect(await Self.set(#""pin":"\#(Self.right)",\#(Self.password)"#, server, phone).status == 200)
            for _ in 0..<2 {
                #expect(await server.call(.delete, "/v1/me/pin", bearer: phone.access).status == 204)
            }
            #expect(await Self.set(#""pin":"\#(Self.right)",\#(Self.password)"#, server, phone).status == 200)
            let again = try await server.logIn()
            #expect(await server.call(.get, "/v1/me/pin", bearer: again.access).status == 404, "a new login, a new PIN")
            #expect(await server.admin(.get, path).value(["pin"]) == nil)
            let removed = await server.admin(.get, "/admin/v1/events?limit=200").items.filter {
                $0.string("event") == "pin_removed"
            }
            #expect(removed.count == 2 && Set(removed.compactMap { $0.string("actor") }).count == 2)
        }
    }

    @Test("A new password ends the PINs of the other devices, and keeps that of the device on which it was typed")
    func newPassword() async throws {
        try await Self.withPIN { server, phone in
            let other = try await server.logIn(device: "phone-2")
            #expect(await Self.set(#""pin":"\#(Self.right)",\#(Self.password)"#, server, other).status == 200)
            let changed = await server.call(
                .put, "/v1/me/password",
                #"{"old_password":"\#(EndpointsFixture.password)","new_password":"four very odd words"}"#,
                bearer: phone.access)
            #expect(changed.status == 204, "\(changed.text)")
            let login = try await Self.waiting(server, phone)
            #expect(await Self.prove(Self.right, login, phone).string("state") == "ACTIVE")
            #expect(await server.admin(.get, "/admin/v1/sessions/\(other.sessionID)").value(["pin"]) == nil)
            let user = "/admin/v1/users/username:anna"
            #expect(
                await server.admin(.put, user + "/password", #"{"new_password":"five words that are odd"}"#).status
                    == 204)
            #expect(await server.admin(.get, "/admin/v1/sessions/\(phone.sessionID)").value(["pin"]) == nil)
        }
    }

    @Test("A PIN opens the app's own backend, and lets no phone take over what another has let in")
    func otherActs() async throws {
        try await Self.withPIN { server, phone in
            let opened = await server.call(.post, "/v1/me/app-login", #"{"client_id":"tv"}"#, bearer: phone.access)
            let id = try #require(opened.string("login", "login_id"))
            for (pin, word) in [(Self.wrong, "403 wrong_pin 2"), (Self.right, "200  ")] {
                let answer = await server.call(
                    .post, "/v1/me/app-login", #"{"login_id":"\#(id)","pin":"\#(pin)"}"#, bearer: phone.access)
                #expect(Self.word(answer) == word && (answer.string("web_nonce") != nil) == (answer.status == 200))
            }
            let (login, _) = try await DeviceLogin.complete(server, phone)
            let adopted = await login.act("adopt", #"{"pin":"\#(Self.right)"}"#, phone)
            #expect(adopted.status == 400 && adopted.string("member") == "pin")
            let second = try await Self.waiting(server, phone)
            let both = await second.act(
                "second-factor", #"{"pin":"\#(Self.right)",\#(Self.password)}"#, phone)
            #expect(both.status == 400 && both.string("member") == "pin")
        }
    }
}
