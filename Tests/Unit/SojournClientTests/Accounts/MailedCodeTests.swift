import SojournClient
import SojournTestKit
import Testing

/// Forgotten passwords, logins by a code of a mail, and another mailbox.
struct MailedCodeTests {
    private let email = "anna@example.org"

    @Test("a reset takes a code and a new password, and signs in nowhere")
    func reset() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.requestPasswordReset(email: email)
        let early = await failure { try await phone.sojourn.resetPassword(to: "a new password") }
        #expect(word(of: early) == "no_verification_pending")
        try await asked.confirm(code: try phone.code(to: email))
        #expect(word(of: await failure { try await phone.sojourn.resetPassword(to: "short") }) == "invalid_request")
        phone.wire.next(Wire.loseAnswer)
        try await phone.other().sojourn.resetPassword(to: "a new password")
        #expect(phone.sojourn.state == .signedOut(.never))
        #expect(phone.record?.verifications.isEmpty == true)
        #expect(phone.server.mails(to: email).map(\.kind) == ["reset", "password_changed"])
        #expect(
            word(of: await failure { try await phone.sojourn.signIn(username: "anna", password: "pw") })
                == "invalid_credentials")
        try await phone.sojourn.signIn(username: email, password: "a new password")
    }

    @Test("a mailbox without an account gets no mail, and the app the same answer")
    func unknown() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.requestPasswordReset(email: "stranger@example.org")
        #expect(asked.codeLength == 8 && phone.server.mails(to: "stranger@example.org").isEmpty)
        #expect(word(of: await failure { try await asked.confirm(code: "12345678") }) == "invalid_code")
    }

    @Test("a reset ends the session of this device, and the app hears why")
    func resetWhileSignedIn() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        let asked = try await phone.sojourn.requestPasswordReset(email: email)
        try await asked.confirm(code: try phone.code(to: email))
        try await phone.sojourn.resetPassword(to: "a new password")
        #expect(await failure { try await phone.sojourn.accessToken() } == .ended(.passwordChanged))
    }

    @Test("a login by a code begins a session, in one call")
    func login() async throws {
        let phone = try await Phone.mailed()
        let methods = await failure { try await phone.sojourn.signIn(emailCodeFor: email) }
        guard case .misconfigured("login_method_not_allowed", _)? = methods else {
            Issue.record("\(String(describing: methods))")
            return
        }
        try await phone.server.setLoginMethods(["password", "email"])
        _ = try await phone.sojourn.signIn(emailCodeFor: email)
        let wrong = await failure { try await phone.sojourn.signIn(code: "00000000") }
        #expect(word(of: wrong) == "invalid_code")
        phone.wire.next(Wire.loseAnswer)
        let account = try await phone.other().sojourn.signIn(code: try phone.code(to: email))
        #expect(account.username == "anna")
        #expect(phone.record?.session?.account == account && phone.record?.verifications.isEmpty == true)
        let none = await failure { try await phone.sojourn.signIn(code: "12345678") }
        #expect(word(of: none) == "no_verification_pending")
    }

    @Test("a login by a code of a mailbox without an account goes on as a sign-up")
    func loginThatBecomesASignUp() async throws {
        let phone = try await Phone.mailed()
        try await phone.server.setLoginMethods(["password", "email"])
        _ = try await phone.sojourn.signIn(emailCodeFor: "carl@example.org")
        let code = try phone.code(to: "carl@example.org")
        #expect(word(of: await failure { try await phone.sojourn.signIn(code: code) }) == "account_missing")
        let account = try await phone.other().sojourn.finishSignUp(password: "a first password")
        #expect(account.email == "carl@example.org")
    }

    @Test("another mailbox counts once its code is shown, in the session that asked")
    func changedEmail() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        let change = try await phone.sojourn.changeEmail(to: "anna@new.example")
        #expect(change.email == "anna@new.example" && change.codeLength == 8)
        #expect(phone.server.mails(to: email).map(\.kind) == ["email_old"])
        #expect(word(of: await failure { try await phone.sojourn.confirmEmail(code: "00000000") }) == "invalid_code")
        let code = try phone.code(to: "anna@new.example")
        phone.wire.next(Wire.loseAnswer)
        let account = try await phone.other().sojourn.confirmEmail(code: code)
        #expect(account.email == "anna@new.example" && phone.record?.session?.account.email == "anna@new.example")
        #expect(phone.server.mails(to: email).last?.kind == "email_changed_old")
    }

    @Test("another mailbox needs the user, or the password beside it")
    func guardedEmail() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        try await phone.server.letPass(.seconds(301))
        let error = await failure { try await phone.sojourn.changeEmail(to: "anna@new.example") }
        guard case .presenceRequired(let requirement)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(requirement.ways.contains("password"))
        // The session goes on meanwhile.
        #expect(phone.sojourn.state == .signedIn(try #require(phone.record?.session?.account), .current))
        _ = try await phone.sojourn.changeEmail(to: "anna@new.example", password: "pw")
    }

    @Test("a mailbox of another user by then is refused")
    func takenEmail() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        _ = try await phone.sojourn.changeEmail(to: "berta@example.org")
        let code = try phone.code(to: "berta@example.org")
        try await phone.server.setVerifiedEmail("berta@example.org", of: "berta")
        #expect(word(of: await failure { try await phone.sojourn.confirmEmail(code: code) }) == "email_taken")
    }

    @Test("a second call sends the same code once more")
    func resentEmail() async throws {
        let phone = try await Phone.mailed(signedIn: true)
        _ = try await phone.sojourn.changeEmail(to: "anna@new.example")
        try await phone.server.letPass(.seconds(60))
        _ = try await phone.sojourn.changeEmail(to: "anna@new.example")
        let codes = phone.server.mails(to: "anna@new.example").map(\.code)
        #expect(codes.count == 2 && Set(codes).count == 1)
    }
}
