import Cryptography
import HTTP
import SQLiteStore
import Testing

@testable import Endpoints
@testable import Sessions

/// The change of a user's mailbox, and how the former one takes the account back.
@Suite struct EmailUndoTests {
    private func ask(_ world: MailboxFixture, _ email: String, _ tokens: Tokens) async -> Answer {
        await world.server.call(
            .post, "/v1/me/email", #"{"email":"\#(email)","password":"\#(EndpointsFixture.password)"}"#,
            bearer: tokens.access)
    }

    private func open(_ world: MailboxFixture, _ tokens: Tokens) async throws -> Verification {
        let userID = try #require(Identifier<User>(tokens.userID))
        return try #require(
            try await world.server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.openVerifications(of: userID).value()
            }.first { $0.purpose == .email })
    }

    private func confirm(_ world: MailboxFixture, _ tokens: Tokens) async throws -> Answer {
        let code = try #require(world.server.context.verificationSecrets.code(of: try await open(world, tokens)))
        return await world.server.call(
            .post, "/v1/me/email/confirm", #"{"code":"\#(code)"}"#, bearer: tokens.access)
    }

    @Test("the mailbox changes after its proof in the session that has asked, and the old one is told")
    func wholeWay() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let (tokens, other) = (try await world.server.logIn(), try await world.server.logIn(device: "phone-2"))
            let reset = try await world.ask("reset", "anna@example.org")
            let asked = await ask(world, "anna@example.net", tokens)
            #expect(
                asked.status == 202 && asked.names == ["code_length", "expires_at", "resend_after"], "\(asked.text)")
            #expect(Set(try await world.mails().map(\.kind)) == [.reset, .emailNew, .emailOld])
            #expect(
                await world.server.call(.get, "/v1/me", bearer: tokens.access).string("email") == "anna@example.org")
            let elsewhere = await world.server.call(
                .post, "/v1/me/email/confirm", #"{"code":"12345678"}"#, bearer: other.access)
            #expect(elsewhere.string("code") == "verification_over")

            let confirmed = try await confirm(world, tokens)

            #expect(confirmed.status == 200 && confirmed.string("email") == "anna@example.net", "\(confirmed.text)")
            let user = try #require(try await world.server.store.user(.username("anna")))
            #expect(user.profile.isEmailVerified)
            #expect(await world.type(try await world.code(reset), for: reset).string("code") == "verification_over")
            let told = try await world.mails().filter { $0.kind == .emailChangedOld }
            #expect(told.map(\.email) == ["anna@example.org"])
            // The sessions go on.
            #expect(await world.server.refresh(other.refresh).status == 200)
        }
    }

    @Test("the profile call changes no address once there are mails, and a password is needed to ask")
    func guarded() async throws {
        try await MailboxFixture.with { world in
            let tokens = try await world.server.logIn()
            let patched = await world.server.call(
                .patch, "/v1/me", #"{"email":"x@example.net","password":"correct horse"}"#, bearer: tokens.access)
            #expect(patched.status == 409 && patched.string("code") == "email_needs_proof")
            world.server.moveClock(to: 301)
            let refused = await world.server.call(
                .post, "/v1/me/email", #"{"email":"x@example.net"}"#, bearer: tokens.access)
            #expect(refused.status == 401 && refused.string("code") == "insufficient_user_authentication")
        }
    }

    @Test("beside an authenticator a new mailbox needs two factors")
    func secondFactor() async throws {
        try await MailboxFixture.with { world in
            let (tokens, authenticator, _) = try await world.server.enrolled()
            world.server.moveClock(to: 301)
            let refused = await ask(world, "anna@example.net", tokens)
            #expect(refused.status == 401 && refused.string("acr_values") == "mfa", "\(refused.text)")
            let shown = await world.server.call(
                .post, "/v1/me/presence",
                #"{"password":"\#(EndpointsFixture.password)","code":"\#(authenticator.code())"}"#,
                bearer: tokens.access)
            #expect(shown.status == 200)
            #expect(await ask(world, "anna@example.net", tokens).status == 202)
        }
    }

    @Test("a mailbox of another user is answered as any other, and its owner is told")
    func taken() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let other = await world.server.admin(
                .post, "/admin/v1/users", #"{"username":"ben","email":"ben@example.org","email_verified":true}"#)
            #expect(other.status == 201)
            let tokens = try await world.server.logIn()
            #expect(await ask(world, "Ben@example.org", tokens).status == 202)
            #expect(Set(try await world.mails().map(\.kind)) == [.haveAccount, .emailOld])
            #expect(try await confirm(world, tokens).string("code") == "invalid_code")
            let conflict = await world.server.admin(
                .patch, "/admin/v1/users/username:anna", #"{"email":"ben@example.org","email_verified":true}"#)
            #expect(conflict.status == 409 && conflict.string("code") == "email_taken", "\(conflict.text)")
        }
    }

    @Test("a stranger's change neither gets more mails for a mailbox than others nor silences it")
    func budget() async throws {
        try await MailboxFixture.with({ $0.verifications.mailsPerDay = 2 }) { world in
            try await world.verifyAnna()
            let tokens = try await world.server.logIn()
            let verifications = Services(world.server.context).verifications
            #expect(await ask(world, "ben@example.org", tokens).status == 202)
            let row = try await open(world, tokens)
            let cancel = try #require(world.server.context.verificationSecrets.token(.cancel, of: row))
            try await verifications.cancel(cancel, from: .system)
            // The cancelled change silences no mailbox, and its mail counts like that of any stranger.
            _ = try await world.ask("sign_up", "ben@example.org")
            #expect(try await world.mails().filter { $0.kind == .signUp }.count == 1)
            #expect(await ask(world, "ben@example.org", tokens).status == 202)
            #expect(try await world.mails().filter { $0.kind == .emailNew }.count == 1)
        }
    }

    @Test("the former mailbox keeps the account that a thief deletes, and loses the thief's keys")
    func undoOfDeletion() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let (store, services) = (world.server.store, Services(world.server.context))
            let tokens = try await world.server.logIn()
            let userID = try #require(Identifier<User>(tokens.userID))
            #expect(await ask(world, "thief@example.net", tokens).status == 202)
            #expect(try await confirm(world, tokens).status == 200)
            let deleted = await world.server.call(
                .delete, "/v1/me", #"{"password":"\#(EndpointsFixture.password)"}"#, bearer: tokens.access)
            #expect(deleted.status == 202, "\(deleted.text)")
            let told = try await world.mails().filter { $0.kind == .deletion }.compactMap(\.email)
            #expect(Set(told) == ["thief@example.net", "anna@example.org"])
            let now = world.server.context.clock.now
            let factor = TOTPFactor(
                id: Identifier(random: .system), userID: userID, name: "app", sealedSeed: [1], createdAt: now)
            try await store.write(.nothing) { (transaction) throws(TransactionError) in transaction.insert(factor) }
            let details = try await store.read(.short) { (reader) throws(TransactionError) in
                try reader.userDetails(userID).value()
            }
            let until = try #require(details?.formerEmailUntil)
            let token = world.server.context.verificationSecrets.token(.undo, of: userID, until: until)

            try await services.accounts.undoEmailChange(token, from: .system)

            #expect(try await services.accounts.pendingDeletion(of: userID) == nil)
            #expect(try await store.user(.id(userID))?.disabledByUser == nil)
            let left = try await store.read(.short) { (reader) throws(TransactionError) in
                try reader.totpFactors(of: userID).value()
            }
            #expect(left.isEmpty)
        }
    }

    @Test("the former mailbox takes the account back once, within seven days, unless another user has it")
    func undo() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let (accounts, secrets) = (
                Services(world.server.context).accounts, world.server.context.verificationSecrets
            )
            let tokens = try await world.server.logIn()
            let userID = try #require(Identifier<User>(tokens.userID))
            func change(to email: String, _ tokens: Tokens) async throws -> String {
                #expect(await ask(world, email, tokens).status == 202)
                #expect(try await confirm(world, tokens).status == 200)
                let details = try await world.server.store.read(.short) { (reader) throws(TransactionError) in
                    try reader.userDetails(userID).value()
                }
                return secrets.token(.undo, of: userID, until: try #require(details?.formerEmailUntil))
            }
            let token = try await change(to: "thief@example.net", tokens)
            // A second change of the thief does not take the way back from the first mailbox.
            _ = try await change(to: "thief2@example.net", tokens)
            #expect(try await accounts.emailUndo(by: token)?.former == "anna@example.org")
            #expect(try await accounts.emailUndo(by: token)?.present == "thief2@example.net")

            try await accounts.undoEmailChange(token, from: .system)

            let user = try #require(try await world.server.store.user(.id(userID)))
            #expect(
                user.profile.email == "anna@example.org" && user.profile.isEmailVerified && user.passwordHash == nil)
            #expect(await world.server.refresh(tokens.refresh).status == 400)
            let mail = try #require(try await world.mails().last { $0.kind == .reset })
            let row = try await world.server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.verification(mail.verificationID!).value()
            }
            let link = try #require(row.flatMap { secrets.token(.prove, of: $0) })
            let reset = await world.server.call(
                .post, "/v1/password-reset", #"{"reset_token":"\#(link)","new_password":"correct horse"}"#)
            #expect(reset.status == 204, "\(reset.text)")
            await #expect(throws: ServiceError.verificationOver) {
                try await accounts.undoEmailChange(token, from: .system)
            }
            let again = try await change(to: "anna@example.net", try await world.server.logIn())
            let taken = await world.server.admin(
                .post, "/admin/v1/users", #"{"username":"ben","email":"anna@example.org","email_verified":true}"#)
            #expect(taken.status == 201)
            await #expect(throws: AccountService.emailTaken) {
                try await accounts.undoEmailChange(again, from: .system)
            }
            world.server.moveClock(to: 7 * EndpointsFixture.day)
            await #expect(throws: ServiceError.verificationOver) {
                try await accounts.undoEmailChange(again, from: .system)
            }
            #expect(try await accounts.emailUndo(by: again) == nil)
        }
    }
}
