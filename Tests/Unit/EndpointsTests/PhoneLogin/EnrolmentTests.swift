import Cryptography
import HTTP
import Sessions
import Testing

@testable import Endpoints

/// A phone without an account makes one by an invitation: the whole way on both listeners.
struct EnrolmentTests {
    static let password = "a brand new horse"

    @Test("An invitation makes an account with its first password, and the phone's session")
    func wholeWay() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(
                .post, "/admin/v1/invitations",
                #"{"username":"ada","email":"ada@example.org","announce_info":{"what":"shop"}}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.string("qr")?.hasPrefix("HTTPS://LOGIN.EXAMPLE/E/") == true)
            #expect(made.integer("expires_at") == EndpointsFixture.start + 86_400)
            let phone = try await InvitedPhone(server, made)
            #expect(phone.claimed.bool("enrolment", "is_registration") == true)
            #expect(phone.claimed.string("enrolment", "state") == "WAITING_FOR_USER_INPUT")
            #expect(phone.claimed.string("enrolment", "input") == "WAIT_FOR_CONFIRMATION")
            #expect(phone.claimed.string("enrolment", "announce_info", "what") == "shop")
            #expect(phone.claimed.string("enrolment", "second_factor") == "set")
            #expect(phone.claimed.bool("enrolment", "number_required") == false)
            let confirmed = await phone.act("confirm")
            #expect(confirmed.string("input") == "WAIT_FOR_SECOND_FACTOR", "\(confirmed.text)")
            #expect(await server.admin(.get, "/admin/v1/users/username:ada").status == 404)
            let done = await phone.finish(#""password":"\#(Self.password)","authentication_mode":"PASSWORD""#)
            let tokens = try Tokens(done)
            #expect(tokens.sessionID == phone.id && tokens.userID == confirmed.string("user_id"))
            #expect(phone.claimed.string("enrolment", "user_id") == tokens.userID)
            let user = await server.admin(.get, "/admin/v1/users/username:ada")
            #expect(user.string("email") == "ada@example.org" && user.string("user_id") == tokens.userID)
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).string("username") == "ada")
            #expect(await server.refresh(tokens.refresh).status == 200)
            let row = await phone.row()
            #expect(row.string("state") == "DONE" && row.string("history") == "LOGGED_IN_ONE_SHOT")
            let events = await server.admin(.get, "/admin/v1/events?session_id=\(phone.id)&limit=200").items
            #expect(
                events.compactMap { $0.string("event") }.sorted()
                    == ["login_approved", "login_claimed", "login_requested", "session_started"])
            let login = await server.call(
                .post, "/v1/login", #"{"username":"ada","password":"\#(Self.password)","device":{"id":"phone-9"}}"#)
            #expect(try Tokens(login).userID == tokens.userID)
        }
    }

    @Test("An invitation of a user is among the user's logins before a phone has it, for admins alone")
    func unclaimed() async throws {
        try await EndpointsFixture.with { server in
            let tokens = try await server.logIn()
            let made = await server.admin(.post, "/admin/v1/invitations", #"{"user":"username:anna"}"#)
            let id = try #require(made.string("login_id"), "\(made.text)")
            _ = await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#)
            func found(_ query: String) async -> [String] {
                await server.admin(.get, "/admin/v1/logins?user=username:anna\(query)").items
                    .compactMap { $0.string("login_id") }
            }
            #expect(await found("") == [id])
            #expect(await found("&phase=requested") == [id])
            #expect(await found("&phase=approved").isEmpty)
            #expect(await server.call(.get, "/v1/me/logins", bearer: tokens.access).items.isEmpty)
            _ = try await InvitedPhone(server, made)
            #expect(await found("") == [id])
            #expect(await found("&phase=requested").isEmpty)
        }
    }

    @Test("A retry of any act with its key gets the same answer; the tokens for ten minutes")
    func retries() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#)
            let phone = try await InvitedPhone(server, made, key: "c")
            let again = try await InvitedPhone(server, made, key: "c")
            #expect(again.token == phone.token)
            let answers = [await phone.act("confirm", key: "k"), await phone.act("confirm", key: "k")]
            #expect(answers[0].text == answers[1].text && answers[0].status == 200)
            let body = #""password":"\#(Self.password)""#
            let first = try Tokens(await phone.finish(body, key: "f"))
            let second = try Tokens(await phone.finish(body, key: "f"))
            #expect(first.sessionID == second.sessionID && first.refresh == second.refresh)
            #expect(await phone.finish(body, key: "other").string("code") == "session_terminated")
            server.moveClock(to: 601)
            #expect(await phone.finish(body, key: "f").string("code") == "spent")
            let sessions = await server.admin(.get, "/admin/v1/users/username:ada/sessions").items
            #expect(sessions.count == 1)
        }
    }

    @Test("A second phone ends the invitation for both")
    func contested() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#)
            let phone = try await InvitedPhone(server, made)
            let thief = await InvitedPhone.claim(server, made, device: "thief-1", key: "t")
            #expect(thief.string("code") == "contested", "\(thief.text)")
            #expect(await phone.act("confirm").string("code") == "session_terminated")
            #expect(await phone.finish(#""password":"\#(Self.password)""#).string("code") == "session_terminated")
            #expect(await phone.row().string("cause") == "contested")
            #expect(await InvitedPhone.claim(server, made, device: "third-1", key: "u").status == 404)
        }
    }

    @Test("A wrong code, another's token and a code of a login get nothing; wrong codes are limited")
    func strangers() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#)
            let phone = try await InvitedPhone(server, made)
            let path = "/v1/enrolments/\(phone.id)"
            #expect(await server.call(.get, path, bearer: "sje_wrong").status == 401)
            #expect(await server.call(.get, path).status == 401)
            #expect(await server.call(.post, path + "/confirm", bearer: "sje_wrong").status == 401)
            let user = try await server.logIn()
            #expect(await server.call(.post, "/v1/me/logins/\(phone.id)/confirm", bearer: user.access).status == 404)
            let qr = try #require(made.string("qr"))
            let claim = await server.call(
                .post, "/v1/me/logins", #"{"code":"\#(qr)","source":"qr"}"#, bearer: user.access)
            #expect(claim.status == 404)
            for number in 0...10 {
                let wrong = await server.call(
                    .post, "/v1/enrolments",
                    #"{"code":"\#(String(repeating: "A", count: 26))","source":"qr","device_id":"x"}"#)
                #expect(wrong.status == (number < 10 ? 404 : 429))
            }
        }
    }

    @Test("A picture may come by the system's camera; a link not by the app's")
    func sources() async throws {
        try await EndpointsFixture.with { server in
            for (member, source, status) in [
                ("qr", "deep_link", 200), ("link", "deep_link", 200), ("push", "push", 200), ("link", "qr", 404),
                ("push", "deep_link", 404), ("qr", "push", 404),
            ] {
                let made = await server.admin(.post, "/admin/v1/invitations", #"{"source":"push"}"#)
                let claim = await InvitedPhone.claim(server, made, source: source, member: member)
                #expect(claim.status == status, "\(member) \(source)")
            }
        }
    }

    @Test("Time ends an unused invitation, and one that its phone does not complete")
    func timeOuts() async throws {
        try await EndpointsFixture.with { server in
            let unused = await server.admin(.post, "/admin/v1/invitations", #"{"expires_in":120}"#)
            let claimed = await server.admin(.post, "/admin/v1/invitations", #"{"expires_in":120}"#)
            server.moveClock(to: 119)
            let phone = try await InvitedPhone(server, claimed)
            server.moveClock(to: 120)
            #expect(await InvitedPhone.claim(server, unused).status == 404)
            server.moveClock(to: 718)
            #expect(await phone.act("confirm").status == 200)
            server.moveClock(to: 719)
            #expect(await phone.act("confirm").string("code") == "session_terminated")
            _ = try await server.endpoints.services.phoneLogins.sweep()
            for id in [unused.string("login_id"), phone.id] {
                let row = await server.admin(.get, "/admin/v1/logins/\(id ?? "")")
                #expect(row.string("cause") == "timed_out" && row.string("history") == "ABORTED")
            }
        }
    }

    @Test("The user names the account, if the invitation does not; a taken name can be replaced")
    func names() async throws {
        try await EndpointsFixture.with { server in
            #expect(
                await server.admin(.post, "/admin/v1/invitations", #"{"username":"anna"}"#).string("code")
                    == "username_taken")
            let phone = try await InvitedPhone(server, await server.admin(.post, "/admin/v1/invitations", "{}"))
            _ = await phone.act("confirm")
            let body = #""password":"\#(Self.password)""#
            #expect(await phone.finish(body).string("member") == "username")
            #expect(await phone.finish(body + #","username":"anna""#).string("code") == "username_taken")
            #expect(await phone.finish(#""password":"short","username":"eve""#).string("member") == "password")
            _ = try Tokens(await phone.finish(body + #","username":"eve""#))
        }
    }

    @Test("A further phone of a user takes the user's password, three times at most")
    func furtherPhone() async throws {
        try await EndpointsFixture.with { server in
            let invite = #"{"user":"username:anna"}"#
            let phone = try await InvitedPhone(server, await server.admin(.post, "/admin/v1/invitations", invite))
            #expect(phone.claimed.string("enrolment", "second_factor") == "verify")
            _ = await phone.act("confirm")
            let wrong = await phone.finish(#""password":"wrong horse""#)
            #expect(wrong.string("code") == "wrong_second_factor" && wrong.integer("attempts_left") == 2)
            let tokens = try Tokens(await phone.finish(#""password":"\#(EndpointsFixture.password)""#))
            #expect(await server.call(.get, "/v1/me", bearer: tokens.access).string("username") == "anna")
            let other = try await InvitedPhone(server, await server.admin(.post, "/admin/v1/invitations", invite))
            _ = await other.act("confirm")
            for left in [2, 1, 0] {
                #expect(await other.finish(#""password":"wrong horse""#).integer("attempts_left") == Int64(left))
            }
            #expect(await other.row().string("cause") == "second_factor_failed")
            #expect(await other.finish(#""password":"\#(EndpointsFixture.password)""#).status == 409)
        }
    }

    @Test("A presence key is the first factor, if it has signed the login")
    func presenceKey() async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#)
            let phone = try await InvitedPhone(server, made)
            let userID = try #require(await phone.act("confirm").string("user_id"))
            let (finger, anna) = (ProvingDevice(.eddsa), try await server.logIn())
            func touch(_ login: String) -> String {
                finger.assertion(server, anna) { draft in
                    for (name, value) in [("iss", phone.id), ("sub", userID), ("login", login)] {
                        draft.set(name, value)
                    }
                }
            }
            let members = #""authentication_mode":"BIOMETRIC","presence_key":\#(finger.jwk)"#
            let wrong = touch(anna.sessionID)
            #expect(
                await phone.finish(members + #","user_assertion":"\#(wrong)""#).string("code")
                    == "wrong_second_factor")
            let right = touch(phone.id)
            let tokens = try Tokens(await phone.finish(members + #","user_assertion":"\#(right)""#))
            #expect(tokens.answer.string("authentication_mode") == "BIOMETRIC")
            #expect(await phone.finish(members).status == 409)
        }
    }

    @Test("A refusal by the user, by the admin or by revoke-all ends an invitation")
    func refusals() async throws {
        try await EndpointsFixture.with { server in
            let phone = try await InvitedPhone(server, await server.admin(.post, "/admin/v1/invitations", "{}"))
            #expect(await phone.act("stop").string("history") == "ABORTED")
            let taken = await server.admin(.post, "/admin/v1/invitations", "{}")
            let id = try #require(taken.string("login_id"))
            #expect(await server.admin(.delete, "/admin/v1/logins/\(id)").status == 204)
            #expect(await InvitedPhone.claim(server, taken).status == 404)
            let late = try await InvitedPhone(
                server, await server.admin(.post, "/admin/v1/invitations", #"{"username":"ada"}"#))
            _ = await late.act("confirm")
            server.moveClock(to: 1)
            _ = await server.admin(.post, "/admin/v1/revoke-all")
            #expect(await late.finish(#""password":"\#(Self.password)""#).status == 401)
        }
    }

    @Test("The page of a code explains, and the code stays unused", arguments: ["e", "E"])
    func page(_ segment: String) async throws {
        try await EndpointsFixture.with { server in
            let made = await server.admin(.post, "/admin/v1/invitations", "{}")
            let code = try #require(made.string("qr")?.split(separator: "/").last)
            let page = await Browser(server).get("/\(segment)/\(code)")
            #expect(page.status == 200 && page.text.contains("This invitation is for the app"))
            #expect(await InvitedPhone.claim(server, made).status == 200)
        }
    }
}

/// A phone that has claimed an invitation.
struct InvitedPhone {
    let server: EndpointsFixture
    let claimed: Answer
    let id: String
    let token: String

    init(_ server: EndpointsFixture, _ made: Answer, key: String = "claim") async throws {
        self.server = server
        claimed = await Self.claim(server, made, key: key)
        #expect(claimed.status == 200, "\(claimed.text)")
        id = try #require(claimed.string("enrolment", "login_id"))
        token = try #require(claimed.string("enrolment_token"))
    }

    static func claim(
        _ server: EndpointsFixture, _ made: Answer, source: String = "qr", member: String = "qr",
        device: String = "new-1", key: String = "claim"
    ) async -> Answer {
        await server.call(
            .post, "/v1/enrolments",
            #"{"code":"\#(made.string(member) ?? "")","source":"\#(source)","device_id":"\#(device)"}"#,
            fields: ["Idempotency-Key": key])
    }

    func act(_ act: String, key: String? = nil) async -> Answer {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await server.call(.post, "/v1/enrolments/\(id)/\(act)", bearer: token, fields: fields)
    }

    func finish(_ members: String, key: String? = nil) async -> Answer {
        var fields = Fields()
        if let key { fields.append("Idempotency-Key", key) }
        return await server.call(
            .post, "/v1/enrolments/\(id)/second-factor", #"{"device":{"id":"new-1"},\#(members)}"#, bearer: token,
            fields: fields)
    }

    func row() async -> Answer { await server.admin(.get, "/admin/v1/logins/\(id)") }
}
