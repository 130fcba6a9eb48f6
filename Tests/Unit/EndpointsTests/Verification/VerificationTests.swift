import HTTP
import SQLiteStore
import Testing

@testable import Endpoints
@testable import Sessions

/// Codes and links of mails: their tries, their budgets, and what every mailbox has in common.
@Suite struct VerificationTests {
    // MARK: Codes

    @Test("five wrong codes end a verification, and the right one comes too late then")
    func fiveTries() async throws {
        try await MailboxFixture.with { world in
            let asked = try await world.ask("sign_up", "b@example.org")
            let code = try await world.code(asked)
            let wrong = String(code.reversed()) == code ? "00000000" : String(code.reversed())
            for left in [4, 3, 2, 1, 0] {
                let answer = await world.type(wrong, for: asked)
                #expect(answer.status == 400 && answer.string("code") == "invalid_code")
                #expect(answer.integer("attempts_left") == Int64(left))
            }
            #expect(await world.type(code, for: asked).string("code") == "verification_over")
            let state = await world.server.call(.get, "/v1/verifications/\(asked.id)", bearer: asked.token)
            #expect(state.string("state") == "over")
        }
    }

    @Test("a code ends after ten minutes, and a proven one is right again")
    func times() async throws {
        try await MailboxFixture.with { world in
            let asked = try await world.ask("sign_up", "b@example.org")
            let late = try await world.ask("sign_up", "c@example.org")
            world.server.moveClock(to: 599)
            #expect(await world.type(try await world.code(asked), for: asked).status == 200)
            #expect(await world.type(try await world.code(asked), for: asked).status == 200)
            #expect(await world.type("00000000", for: asked).string("code") == "verification_over")
            world.server.moveClock(to: 600)
            #expect(await world.type(try await world.code(late), for: late).string("code") == "verification_over")
        }
    }

    @Test("the code of another row, of another asker and of another purpose proves nothing")
    func foreignCodes() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            let mine = try await world.ask("sign_up", "b@example.org")
            let theirs = try await world.ask("sign_up", "b@example.org")
            #expect(mine.id != theirs.id)
            let crossed = await world.type(try await world.code(theirs), for: mine)
            #expect(crossed.string("code") == "invalid_code")
            // The victim types the code that an attacker has asked for: it belongs to the attacker's row alone.
            let stolen = await world.type(try await world.code(mine), for: mine, token: theirs.token)
            #expect(stolen.status == 404)
            let without = await world.server.call(.post, "/v1/verifications/\(mine.id)/code", #"{"code":"1"}"#)
            #expect(without.status == 401)
            let reset = try await world.proven("reset", "anna@example.org")
            #expect(await world.signUp(by: reset).string("code") == "verification_over")
            let login = await world.server.call(
                .post, "/v1/login", #"{"verification_token":"\#(reset.token)","device":{"id":"d"}}"#)
            #expect(login.status == 403 && login.string("code") == "login_method_not_allowed")
        }
    }

    // MARK: Mails

    @Test("asking again sends the same code a minute later, and another one after ten minutes")
    func again() async throws {
        try await MailboxFixture.with { world in
            let first = try await world.ask("sign_up", "b@example.org", key: "k")
            let repeated = try await world.ask("sign_up", "b@example.org", key: "k")
            #expect(first.id == repeated.id && first.token == repeated.token)
            #expect(try await world.mails().count == 1)
            world.server.moveClock(to: 60)
            let path = "/v1/verifications/\(first.id)/resend"
            let resent = await world.server.call(.post, path, bearer: first.token)
            #expect(resent.status == 202 && resent.string("verification_token") == nil, "\(resent.text)")
            #expect(resent.integer("resend_after") == 60)
            #expect(try await world.mails().count == 2)
            world.server.moveClock(to: 90)
            #expect(await world.server.call(.post, path, bearer: first.token).integer("resend_after") == 30)
            #expect(try await world.mails().count == 2)
            world.server.moveClock(to: 600)
            #expect(await world.server.call(.post, path, bearer: first.token).string("code") == "verification_over")
            let next = try await world.ask("sign_up", "b@example.org", key: "k")
            #expect(next.id != first.id)
        }
    }

    @Test(
        "many requests for one mailbox from as many addresses send ten mails, and a known device has five more"
    )
    func bombing() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            for number in 0..<30 {
                let email = number.isMultiple(of: 2) ? "anna@example.org" : "ANNA@example.org"
                _ = try await world.ask("reset", email, address: "10.0.0.\(number)")
            }
            #expect(try await world.mails().count == 10)
            let late = try await world.ask("reset", "anna@example.org", address: "10.1.0.1")
            #expect(late.answer.integer("resend_after") == 86_400)
            #expect(await world.type(try await world.code(late), for: late).string("code") == "invalid_code")
            _ = try await world.server.logIn(device: "own-phone")
            for number in 0..<7 {
                _ = try await world.ask(
                    "reset", "anna@example.org", more: #","device_id":"own-phone""#, address: "10.2.0.\(number)")
            }
            #expect(try await world.mails().count == 15)
            _ = try await world.ask(
                "reset", "anna@example.org", more: #","device_id":"other-phone""#, address: "10.3.0.1")
            #expect(try await world.mails().count == 15)
            world.server.moveClock(to: 86_400)
            _ = try await world.ask("reset", "anna@example.org", address: "10.4.0.1")
            #expect(try await world.mails().count == 16)
        }
    }

    @Test("strangers cannot use up the codes of a known device")
    func wrongCodesOfStrangers() async throws {
        try await MailboxFixture.with { world in
            try await world.verifyAnna()
            _ = try await world.server.logIn(device: "own-phone")
            for number in 0..<12 {
                let asked = try await world.ask("reset", "anna@example.org", address: "10.0.0.\(number)")
                let code = try await world.code(asked)
                for _ in 0..<5 { _ = await world.type(code == "00000000" ? "1" : "00000000", for: asked) }
            }
            let budget = try await world.server.store.read(.short) { (reader) throws(TransactionError) in
                try reader.mailboxBudget(world.server.context.verificationSecrets.mailbox("anna@example.org")).value()
            }
            #expect(budget?.mails == 10 && budget?.wrongCodes == 50)
            let own = try await world.ask(
                "reset", "anna@example.org", more: #","device_id":"own-phone""#, address: "10.1.0.1")
            #expect(await world.type(try await world.code(own), for: own).status == 200)
        }
    }

    @Test("one address asks for ten mails in a minute, whatever the mailboxes")
    func addressLimit() async throws {
        try await MailboxFixture.with { world in
            for number in 0..<10 { _ = try await world.ask("reset", "user\(number)@example.org") }
            let refused = await world.server.call(
                .post, "/v1/verifications", #"{"purpose":"reset","email":"x@example.org"}"#)
            #expect(refused.status == 429)
        }
    }

    @Test("a full table of verifications is answered with 503, and the open ones go on")
    func fullTable() async throws {
        try await MailboxFixture.with({ $0.verifications.countMax = 1 }) { world in
            let asked = try await world.ask("sign_up", "b@example.org")
            let refused = await world.server.call(
                .post, "/v1/verifications", #"{"purpose":"sign_up","email":"c@example.org"}"#)
            #expect(refused.status == 503)
            #expect(await world.type(try await world.code(asked), for: asked).status == 200)
        }
    }

    // MARK: Mailboxes

    @Test(
        "an address to which no relay delivers is refused before any look-up",
        arguments: [
            #"a@b>\r\nRCPT TO:<c@d"#, #"a@example.org\u0000"#, String(repeating: "a", count: 65) + "@example.org",
            #"\"a b\"@example.org"#, "a@[1.2.3.4]", "a@b", "\u{212A}arl@example.org", "a@ex\u{0131}mple.org",
            "\u{FF41}@example.org", "\u{202E}a@example.org", "e\u{0301}@example.org", "é@example.org", "a@@example.org",
            "@example.org", "a..b@example.org", "a@-example.org", "", " ",
        ])
    func unsupported(_ email: String) async throws {
        try await MailboxFixture.with { world in
            for purpose in ["sign_up", "reset"] {
                let answer = await world.server.call(
                    .post, "/v1/verifications", #"{"purpose":"\#(purpose)","email":"\#(email)"}"#)
                #expect(answer.status == 400, "\(answer.text)")
                let code = answer.string("code") ?? ""
                #expect(["email_not_supported", "invalid_request"].contains(code))
                #expect(answer.string("member") == "email")
            }
            let mails = try await world.allMails()
            #expect(mails.isEmpty)
        }
    }

    // MARK: Links

    @Test("a link proves beside its asker alone, and changes nothing when it is looked at")
    func links() async throws {
        try await MailboxFixture.with { world in
            let service = world.server.context.verificationSecrets
            let verifications = Services(world.server.context).verifications
            let (own, other) = (VerificationAsker(browser: "own"), VerificationAsker(browser: "other"))
            var request = VerificationRequest(.signUp, email: "b@example.org", language: "en")
            request.asker = own
            let ticket = try await verifications.ask(request, from: .system)
            #expect(ticket.token == nil)
            let row = try await verifications.verification(ticket.handle)
            let token = try #require(service.token(.prove, of: row))
            for _ in 0..<3 {
                guard case .own = try await verifications.link(token, by: own) else { throw Unexpected() }
                guard case .elsewhere = try await verifications.link(token, by: other) else { throw Unexpected() }
                guard case .elsewhere = try await verifications.link(token, by: nil) else { throw Unexpected() }
            }
            #expect(try await verifications.verification(ticket.handle) == row)
            await #expect(throws: ServiceError.notFound("verification")) {
                try await verifications.prove(link: token, by: other, from: .system)
            }
            let proof = try await verifications.prove(link: token, by: own, from: .system)
            #expect(proof.verification.provenAt != nil)
            let cancel = try #require(service.token(.cancel, of: row))
            await #expect(throws: ServiceError.verificationOver) {
                try await verifications.prove(link: cancel, by: own, from: .system)
            }
        }
    }

    private struct Unexpected: Error {}

    @Test("a mailbox that cancels a request gets no mail for an hour")
    func cancel() async throws {
        try await MailboxFixture.with { world in
            let verifications = Services(world.server.context).verifications
            let asked = try await world.ask("sign_up", "b@example.org")
            let token = try await world.link(.cancel, asked)
            #expect(try await verifications.cancellation(by: token)?.purpose == .signUp)
            try await verifications.cancel(token, from: .system)
            #expect(await world.type(try await world.code(asked), for: asked).string("code") == "verification_over")
            #expect(try await verifications.cancellation(by: token) == nil)
            _ = try await world.ask("sign_up", "b@example.org")
            #expect(try await world.mails().count == 1)
            world.server.moveClock(to: 3600)
            _ = try await world.ask("sign_up", "b@example.org")
            #expect(try await world.mails().count == 2)
        }
    }
}
