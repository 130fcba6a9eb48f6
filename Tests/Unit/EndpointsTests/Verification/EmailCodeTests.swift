import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Logins by a code that is mailed.
@Suite struct EmailCodeTests {
    private static func with(_ body: (MailboxFixture) async throws -> Void) async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let answer = await world.server.admin(
                .patch, "/admin/v1/clients/mobile", #"{"login_methods":["password","email"]}"#)
            #expect(answer.status == 200, "\(answer.text)")
            try await body(world)
        }
    }

    private func logIn(_ asked: MailboxFixture.Asked, _ world: MailboxFixture, device: String, code: String? = nil)
        async
        -> Answer
    {
        let code = code.map { #","code":"\#($0)""# } ?? ""
        return await world.server.call(
            .post, "/v1/login",
            #"{"verification_token":"\#(asked.token)"\#(code),"device":{"id":"\#(device)"}}"#)
    }

    @Test("a code logs in once, with amr and acr email, on probation in a new place")
    func login() async throws {
        try await Self.with { world in
            let asked = try await world.ask("sign_in", "anna@example.org")
            #expect(try await world.mails().map(\.kind) == [.signIn])
            let early = await logIn(asked, world, device: "new")
            #expect(early.string("code") == "verification_over")
            let code = try await world.code(asked)
            let tokens = try Tokens(await logIn(asked, world, device: "new", code: code))
            #expect(await logIn(asked, world, device: "new", code: code).string("code") == "verification_over")
            let id = try #require(Identifier<Session>(tokens.sessionID))
            let session = try #require(try await world.server.store.session(id)?.session)
            #expect(session.authenticationMethods == ["email"])
            #expect(session.isOnProbation(at: world.server.context.clock.now))
            let barred = await world.server.call(
                .put, "/v1/me/password", #"{"old_password":"correct horse","new_password":"battery staple"}"#,
                bearer: tokens.access)
            #expect(barred.status == 403)
        }
    }

    @Test("a device that the user has used before is not on probation")
    func knownPlace() async throws {
        try await Self.with { world in
            let before = try await world.server.logIn(device: "own")
            _ = await world.server.call(.post, "/v1/logout", bearer: before.access)
            world.server.moveClock(to: 1)
            let asked = try await world.ask("sign_in", "anna@example.org")
            let tokens = try Tokens(await logIn(asked, world, device: "own", code: try await world.code(asked)))
            let id = try #require(Identifier<Session>(tokens.sessionID))
            let session = try #require(try await world.server.store.session(id)?.session)
            #expect(session.probationUntil == nil)
        }
    }

    @Test("a client takes no codes unless its login methods name them")
    func off() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let answer = await world.server.call(
                .post, "/v1/verifications", #"{"purpose":"sign_in","email":"anna@example.org"}"#)
            #expect(answer.status == 403 && answer.string("code") == "login_method_not_allowed")
        }
    }

    @Test("an unknown mailbox gets the mail of a sign-up, which its proof finishes")
    func unknownMailbox() async throws {
        try await Self.with { world in
            let asked = try await world.proven("sign_in", "b@example.org")
            #expect(try await world.mails().map(\.kind) == [.signUp])
            let login = await logIn(asked, world, device: "new")
            #expect(login.status == 409 && login.string("code") == "account_missing")
            #expect(await world.signUp(by: asked).status == 200)
        }
    }

    @Test("a code logs in to no account that has another mailbox meanwhile")
    func changedMailbox() async throws {
        try await Self.with { world in
            let asked = try await world.proven("sign_in", "anna@example.org")
            _ = try await world.server.store.updateUser(.username("anna")) {
                $0.user.profile.email = "other@example.org"
                $0.user.profile.isEmailVerified = true
            }
            let login = await logIn(asked, world, device: "new")
            #expect(login.string("code") == "verification_over", "\(login.text)")
        }
    }

    @Test("a disabled user gets no code")
    func disabled() async throws {
        try await Self.with { world in
            _ = await world.server.admin(.post, "/admin/v1/users/username:anna/disable", "{}")
            let asked = try await world.ask("sign_in", "anna@example.org")
            #expect(try await world.mails().isEmpty)
            let login = await logIn(asked, world, device: "new", code: try await world.code(asked))
            #expect(login.string("code") == "invalid_code")
        }
    }
}
