import Cryptography
import HTTP
import SQLiteStore
import Sessions
import Testing

@testable import Endpoints

/// Forgotten passwords, by a mail.
@Suite struct MailedResetTests {
    private func reset(_ member: String, _ token: String, in world: MailboxFixture) async -> Answer {
        await world.server.call(
            .post, "/v1/password-reset", #"{"\#(member)":"\#(token)","new_password":"battery staple"}"#)
    }

    @Test("the proven mailbox sets a new password, ends every session, and starts none")
    func wholeWay() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let session = try await world.server.logIn()
            let asked = try await world.ask("reset", "ANNA@example.org")
            #expect(try await world.mails().map(\.kind) == [.reset])
            #expect(await reset("verification_token", asked.token, in: world).string("member") == "reset_token")
            #expect(await world.type(try await world.code(asked), for: asked).status == 200)

            let answer = await reset("verification_token", asked.token, in: world)

            #expect(answer.status == 204, "\(answer.text)")
            #expect(await world.server.refresh(session.refresh).status == 400)
            #expect(await world.logIn("anna", EndpointsFixture.password).status == 401)
            #expect(await world.logIn("anna", "battery staple").status == 200)
            #expect(await reset("verification_token", asked.token, in: world).status == 400)
        }
    }

    @Test("the link works in every browser, once")
    func link() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let asked = try await world.ask("reset", "anna@example.org")
            let token = try await world.link(.prove, asked)
            #expect(await reset("reset_token", token, in: world).status == 204)
            #expect(await reset("reset_token", token, in: world).string("member") == "reset_token")
            let cancel = try await world.link(.cancel, try await world.ask("reset", "anna@example.org"))
            #expect(await reset("reset_token", cancel, in: world).status == 400)
        }
    }

    @Test("a mailbox without an account gets no mail, and the same answer")
    func unknown() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let known = try await world.ask("reset", "anna@example.org")
            let unknown = try await world.ask("reset", "nobody@example.org")
            #expect(known.answer.names == unknown.answer.names)
            #expect(known.answer.integer("expires_at") == unknown.answer.integer("expires_at"))
            #expect(try await world.mails().count == 1)
            // What is queued is one row for each, and the code of the unknown one proves nothing.
            #expect(try await world.allMails().count == 2)
            let answer = await world.type(try await world.code(unknown), for: unknown)
            #expect(answer.string("code") == "invalid_code")
        }
    }

    /// What an account has beside an address that it has not verified.
    enum Beside: CaseIterable { case nothing, identity, passkey, factor, noPassword, namesake }

    @Test(
        "an unverified mailbox resets an account of a password alone, and is verified by that",
        arguments: Beside.allCases)
    func unverified(_ beside: Beside) async throws {
        let passkeys = PasskeyPolicy(rpID: "example.org", origins: ["https://example.org"])
        try await MailboxFixture.with(passkeys: passkeys) { world in
            let store = world.server.store
            let anna = try #require(try await store.user(.username("anna")))
            switch beside {
            case .nothing: break
            case .identity:
                let key = try #require(Identity.Key(provider: "acme", subject: "s"))
                try await store.write(.nothing) { (transaction) throws(TransactionError) in
                    _ = try transaction.insert(Identity(key, userID: anna.id, linkedAt: anna.createdAt)).value()
                }
            case .passkey: _ = try await world.server.passkey(of: try await world.server.logIn())
            case .factor:
                let factor = TOTPFactor(
                    id: Identifier(random: .system), userID: anna.id, name: "app", sealedSeed: [1],
                    createdAt: anna.createdAt, confirmedAt: anna.createdAt)
                try await store.write(.nothing) { (transaction) throws(TransactionError) in transaction.insert(factor) }
            case .noPassword: _ = try await store.updateUser(.id(anna.id)) { $0.user.passwordHash = nil }
            case .namesake:
                let answer = await world.server.admin(
                    .post, "/admin/v1/users", #"{"username":"other","email":"Anna@example.org"}"#)
                #expect(answer.status == 201)
            }
            let asked = try await world.ask("reset", "anna@example.org")
            let isMeant = beside == .nothing
            #expect(try await world.mails().map(\.kind) == [isMeant ? .reset : .resetBySupport])
            #expect(await world.type(try await world.code(asked), for: asked).status == (isMeant ? 200 : 400))
            if isMeant { #expect(await reset("verification_token", asked.token, in: world).status == 204) }
            #expect(try await store.user(.id(anna.id))?.profile.isEmailVerified == isMeant)
        }
    }

    @Test("a proof sets no password once the account has another address, or another way in", arguments: [false, true])
    func changedAccount(_ hasAddress: Bool) async throws {
        try await MailboxFixture.with { world in
            let store = world.server.store
            let anna = try #require(try await store.user(.username("anna")))
            let asked = try await world.proven("reset", "anna@example.org")
            if hasAddress {
                _ = try await store.updateUser(.id(anna.id)) { $0.user.profile.email = "other@example.org" }
            } else {
                let key = try #require(Identity.Key(provider: "acme", subject: "s"))
                try await store.write(.nothing) { (transaction) throws(TransactionError) in
                    _ = try transaction.insert(Identity(key, userID: anna.id, linkedAt: anna.createdAt)).value()
                }
            }
            let answer = await reset("verification_token", asked.token, in: world)
            #expect(answer.status == 400 && answer.string("member") == "reset_token", "\(answer.text)")
            #expect(try await store.user(.id(anna.id))?.profile.isEmailVerified == false)
        }
    }

    @Test("the link of an admin works once, and goes to the mailbox alone if it is sent")
    func byAdmin() async throws {
        try await MailboxFixture.with { world in
            let path = "/admin/v1/users/username:anna/password-reset"
            let first = await world.server.admin(.post, path)
            let second = await world.server.admin(.post, path, "{}")
            let sent = await world.server.admin(.post, path, #"{"send":true}"#)
            #expect(sent.status == 202 && sent.names == ["expires_at"], "\(sent.text)")
            let mail = try #require(try await world.mails().first)
            #expect(mail.kind == .reset && mail.email == nil)
            for answer in [first, second] {
                let token = try #require(answer.string("reset_token"))
                #expect(token.hasPrefix("sjv_"))
                #expect(await reset("reset_token", token, in: world).status == 400)
            }
            let id = try #require(mail.verificationID)
            let row = try #require(
                try await world.server.store.read(.short) { (reader) throws(TransactionError) in
                    try reader.verification(id).value()
                })
            #expect(row.email == "anna@example.org")
            let token = try #require(world.server.context.verificationSecrets.token(.prove, of: row))
            #expect(await reset("reset_token", token, in: world).status == 204)
            // The mail was in the mailbox alone, which is proven by that.
            #expect(try await world.server.store.user(.username("anna"))?.profile.isEmailVerified == true)
            let none = await world.server.admin(.post, "/admin/v1/users", #"{"username":"mailless"}"#)
            #expect(none.status == 201)
            let refused = await world.server.admin(
                .post, "/admin/v1/users/username:mailless/password-reset", #"{"send":true}"#)
            #expect(refused.status == 409 && refused.string("code") == "email_missing")
        }
    }

    /// What ends the trust in a link that is on its way.
    enum End: CaseIterable { case password, endOfAll, disable, address, deletion }

    @Test(
        "a link does not outlive a new password, the end of all sessions, a switch, a new address",
        arguments: End.allCases)
    func ends(_ end: End) async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let asked = try await world.ask("reset", "anna@example.org")
            let token = try await world.link(.prove, asked)
            let user = "/admin/v1/users/username:anna"
            let answer =
                switch end {
                case .password:
                    await world.server.admin(.put, "\(user)/password", #"{"new_password":"another staple"}"#)
                case .endOfAll: await world.server.admin(.post, "\(user)/revoke")
                case .disable: await world.server.admin(.post, "\(user)/disable", "{}")
                case .address: await world.server.admin(.patch, user, #"{"email":"a@example.net"}"#)
                case .deletion: await world.server.admin(.delete, user)
                }
            #expect(answer.status < 300, "\(answer.text)")
            #expect(await reset("reset_token", token, in: world).status == 400)
        }
    }
}
