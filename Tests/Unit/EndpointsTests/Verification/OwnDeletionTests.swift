import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Accounts that their users delete.
@Suite struct OwnDeletionTests {
    private func delete(_ world: MailboxFixture, _ tokens: Tokens) async -> Answer {
        await world.server.call(
            .delete, "/v1/me", #"{"password":"\#(EndpointsFixture.password)"}"#, bearer: tokens.access)
    }

    private func sweep(_ world: MailboxFixture) async throws -> Int {
        try await world.server.store.deleteDueAccounts(at: world.server.context.clock.now, limit: 100)
    }

    @Test("an account goes on without logins for the days of the configuration, and is deleted then")
    func wholeWay() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let tokens = try await world.server.logIn()
            let answer = await delete(world, tokens)
            let end = EndpointsFixture.start + 7 * EndpointsFixture.day
            #expect(answer.status == 202 && answer.integer("delete_at") == end, "\(answer.text)")
            #expect(try await world.mails().map(\.kind) == [.deletion])
            #expect(await world.server.refresh(tokens.refresh).status == 400)
            let login = await world.logIn("anna", EndpointsFixture.password)
            #expect(login.status == 409 && login.string("code") == "deletion_pending", "\(login.text)")
            #expect(await world.logIn("anna", "wrong password").status == 401)
            world.server.moveClock(to: 7 * EndpointsFixture.day - 1)
            #expect(try await sweep(world) == 0)
            world.server.moveClock(to: 7 * EndpointsFixture.day)
            #expect(try await sweep(world) == 1)
            #expect(try await world.server.store.user(.username("anna")) == nil)
        }
    }

    /// What keeps an account.
    enum Keeping: CaseIterable { case login, link, ownSwitch, admin }

    @Test("a full login, the link, the own switch or an admin keeps the account", arguments: Keeping.allCases)
    func kept(_ keeping: Keeping) async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let accounts = Services(world.server.context).accounts
            let user = try #require(try await world.server.store.user(.username("anna")))
            #expect(await delete(world, try await world.server.logIn()).status == 202)
            let deleteAt = try #require(try await accounts.pendingDeletion(of: user.id))
            switch keeping {
            case .login:
                let answer = await world.logIn("anna", EndpointsFixture.password, more: #","cancel_deletion":true"#)
                #expect(answer.status == 200, "\(answer.text)")
            case .link:
                let token = world.server.context.verificationSecrets.token(.keep, of: user.id, until: deleteAt)
                #expect(try await accounts.pendingDeletion(by: token) == deleteAt)
                try await accounts.keepAccount(token, from: .system)
                await #expect(throws: ServiceError.verificationOver) {
                    try await accounts.keepAccount(token, from: .system)
                }
            case .ownSwitch:
                _ = try await accounts.setLogins(
                    of: user.id, shownBy: .password(hash: user.passwordHash), disabled: false, effective: .immediate,
                    from: .system)
            case .admin:
                let answer = await world.server.admin(
                    .post, "/admin/v1/users/username:anna/enable", #"{"include_own_switch":true}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
            #expect(try await accounts.pendingDeletion(of: user.id) == nil)
            world.server.moveClock(to: 8 * EndpointsFixture.day)
            #expect(try await sweep(world) == 0)
            #expect(await world.logIn("anna", EndpointsFixture.password).status == 200)
            let kinds = try await world.server.store.events(
                after: 0, limit: 1000, userID: user.id, sessionID: nil
            ).map(\.event.kind)
            #expect(kinds.filter { $0 == .deletionCancelled }.count == 1)
        }
    }

    @Test("a login by the code of an authenticator keeps the account, although a wrong code was counted")
    func keptByCode() async throws {
        try await MailboxFixture.with { world in
            let (tokens, authenticator, _) = try await world.server.enrolled()
            let accounts = Services(world.server.context).accounts
            let user = try #require(try await world.server.store.user(.username("anna")))
            #expect(await delete(world, tokens).status == 202)
            world.server.moveClock(to: 60)
            for (code, status) in [(authenticator.wrongCode, 401), (authenticator.code(), 200)] {
                let answer = await world.logIn(
                    "anna", EndpointsFixture.password, more: #","cancel_deletion":true,"code":"\#(code)""#)
                #expect(answer.status == status, "\(answer.text)")
            }
            #expect(try await accounts.pendingDeletion(of: user.id) == nil)
            world.server.moveClock(to: 8 * EndpointsFixture.day)
            #expect(try await sweep(world) == 0)
        }
    }

    @Test("zero days and an anonymous user are deleted at once, and a stolen token alone deletes nothing")
    func atOnce() async throws {
        try await MailboxFixture.with({ $0.deletionDelay = .zero }) { world in
            let tokens = try await world.server.logIn()
            world.server.moveClock(to: 301)
            let refused = await world.server.call(.delete, "/v1/me", bearer: tokens.access)
            #expect(refused.status == 401 && refused.string("code") == "insufficient_user_authentication")
            #expect(await delete(world, tokens).status == 204)
            #expect(try await world.server.store.user(.username("anna")) == nil)
        }
        try await MailboxFixture.with { world in
            try await world.server.allowAnonymousUsers()
            let tokens = try Tokens(await world.server.anonymous())
            #expect(await world.server.call(.delete, "/v1/me", bearer: tokens.access).status == 204)
            #expect(await world.server.anonymousUsers() == 0)
        }
    }
}
