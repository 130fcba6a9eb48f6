import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Accounts that strangers make by a proof of their mailbox.
@Suite struct SignUpTests {
    @Test("a proven mailbox becomes an account with its verified address, a password and a session")
    func wholeWay() async throws {
        try await MailboxFixture.with { world in
            let asked = try await world.ask("sign_up", "Berta@example.org")
            #expect(asked.answer.integer("code_length") == 8 && asked.answer.integer("resend_after") == 60)
            #expect(try await world.mails().map(\.kind) == [.signUp])
            let early = await world.signUp(by: asked)
            #expect(early.status == 400 && early.string("code") == "verification_over", "\(early.text)")
            let code = try await world.code(asked)
            let answer = await world.type("\(code.prefix(4)) - \(code.suffix(4))", for: asked)
            #expect(answer.status == 200)

            let tokens = try Tokens(await world.signUp(by: asked))

            let user = try #require(try await world.server.store.user(.username("berta@example.org")))
            #expect(user.id.description == tokens.userID && user.profile.isEmailVerified)
            #expect(user.profile.email == "Berta@example.org")
            #expect(await world.server.refresh(tokens.refresh).status == 200)
            #expect(await world.logIn("berta@EXAMPLE.org", "battery staple").status == 200)
            let events = try await world.server.store.events(
                after: 0, limit: 1000, userID: user.id, sessionID: nil
            ).map(\.event)
            #expect(events.contains { $0.kind == .userCreated && $0.reason == "sign_up" })
        }
    }

    @Test("no account is made where the operator, the domain or the client does not let strangers in")
    func closed() async throws {
        for rule in [AccountRules.SignUp.off, .domains(["example.com"])] {
            try await MailboxFixture.with(signUp: rule) { world in
                let answer = await world.server.call(
                    .post, "/v1/verifications", #"{"purpose":"sign_up","email":"b@example.org"}"#)
                #expect(answer.status == 403 && answer.string("code") == "sign_up_closed")
            }
        }
        try await MailboxFixture.with(signUp: .domains(["example.org"])) { world in
            _ = try await world.ask("sign_up", "b@EXAMPLE.org")
            _ = await world.server.admin(.patch, "/admin/v1/clients/mobile", #"{"sign_up":false}"#)
            let answer = await world.server.call(
                .post, "/v1/verifications", #"{"purpose":"sign_up","email":"b@example.org"}"#)
            #expect(answer.status == 403 && answer.string("code") == "sign_up_closed")
        }
        try await EndpointsFixture.with { server in
            let answer = await server.call(
                .post, "/v1/verifications", #"{"purpose":"reset","email":"anna@example.org"}"#)
            #expect(answer.status == 404)
        }
    }

    @Test("a sign-up after a lost answer gets the same session again, and makes no second user")
    func lostAnswer() async throws {
        try await MailboxFixture.with { world in
            let asked = try await world.proven("sign_up", "b@example.org")
            let first = try Tokens(await world.signUp(by: asked, key: "k1"))
            world.server.moveClock(to: 60)
            let again = try Tokens(await world.signUp(by: asked, key: "k1"))
            #expect(first.sessionID == again.sessionID && first.userID == again.userID)
            let other = await world.signUp(by: asked, password: "another staple")
            #expect(other.status == 400 && other.string("code") == "verification_over")
        }
    }

    @Test("a mailbox with an account gets a mail that says so, no code, and its code proves nothing")
    func haveAccount() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let asked = try await world.ask("sign_up", "Anna@Example.org")
            let mail = try #require(try await world.mails().first)
            #expect(mail.kind == .haveAccount && mail.email == "Anna@Example.org")
            let answer = await world.type(try await world.code(asked), for: asked)
            #expect(answer.status == 400 && answer.string("code") == "invalid_code")
            #expect(answer.integer("attempts_left") == 4)
        }
    }

    @Test("of two proofs of one mailbox the second one learns that there is an account")
    func twoProofs() async throws {
        try await MailboxFixture.with { world in
            let first = try await world.proven("sign_up", "b@example.org")
            let second = try await world.proven("sign_up", "B@example.org")
            #expect(await world.signUp(by: first).status == 200)
            let refused = await world.signUp(by: second)
            #expect(refused.status == 409 && refused.string("code") == "account_exists", "\(refused.text)")
        }
    }

    @Test("ten usernames that are taken end a sign-up")
    func takenNames() async throws {
        try await MailboxFixture.with({ $0.usernames = .chosen }) { world in
            let asked = try await world.proven("sign_up", "b@example.org")
            #expect(await world.signUp(by: asked).string("member") == "username")
            #expect(await world.signUp(by: asked, more: #","username":"b@example.org""#).string("member") == "username")
            for _ in 0..<10 {
                let answer = await world.signUp(by: asked, more: #","username":"ANNA""#)
                #expect(answer.status == 409 && answer.string("code") == "username_taken", "\(answer.text)")
            }
            let over = await world.signUp(by: asked, more: #","username":"berta""#)
            #expect(over.string("code") == "verification_over", "\(over.text)")
            let anew = try await world.proven("sign_up", "b@example.org")
            #expect(await world.signUp(by: anew, more: #","username":"berta""#).status == 200)
        }
    }

    @Test("an anonymous user keeps id and session")
    func anonymous() async throws {
        try await MailboxFixture.with { world in
            try await world.server.allowAnonymousUsers()
            let tokens = try Tokens(await world.server.anonymous())
            let asked = try await world.proven("sign_up", "b@example.org")
            let answer = await world.server.call(
                .post, "/v1/sign-up", #"{"verification_token":"\#(asked.token)","password":"battery staple"}"#,
                bearer: tokens.access)
            #expect(answer.status == 200 && answer.string("user_id") == tokens.userID, "\(answer.text)")
            #expect(answer.string("username") == "b@example.org")
            #expect(await world.server.refresh(tokens.refresh).status == 200)
            #expect(await world.logIn("b@example.org", "battery staple").status == 200)
        }
    }
}
