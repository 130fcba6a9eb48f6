import SojournClient
import SojournTestKit
import Testing

/// Accounts that strangers make: a mail, its code, and the account with its session in one step.
struct SigningUpTests {
    private let email = "carl@example.org"

    @Test("a mailbox, a code and a password make a user with a session")
    func whole() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: email)
        #expect(asked.purpose == .signUp && asked.email == email && asked.codeLength == 8 && !asked.isProven)
        #expect(phone.sojourn.state == .signedOut(.never))
        let proven = try await asked.confirm(code: try phone.code(to: email))
        #expect(proven.isProven && proven.id == asked.id)
        let account = try await phone.sojourn.finishSignUp(password: "a first password")
        #expect(account.username == email && account.email == email)
        #expect(phone.sojourn.state == .signedIn(account, .current))
        #expect(phone.record?.verifications.isEmpty == true)
        #expect(try await phone.sojourn.verification(for: .signUp) == nil)
        try await phone.other().sojourn.signIn(username: email, password: "a first password")
    }

    @Test("a new start of the app finds the code asked for, and then the proof")
    func newStart() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: email)
        let found = try #require(try await phone.other().sojourn.verification(for: .signUp))
        #expect(found == asked)
        try await found.confirm(code: try phone.code(to: email))
        let third = phone.other()
        #expect(try await third.sojourn.verification(for: .signUp)?.isProven == true)
        try await third.sojourn.finishSignUp(password: "a first password")
        #expect(phone.wire.requests("/v1/verifications").count == 1)
    }

    @Test("lost answers cost no mail, no try and no second account")
    func lostAnswers() async throws {
        let phone = try await Phone.mailed()
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        _ = await failure { try await phone.sojourn.signUp(email: email) }
        let restarted = phone.other()
        #expect(try await restarted.sojourn.verification(for: .signUp) == nil)
        let asked = try await restarted.sojourn.signUp(email: email)
        #expect(phone.server.mails(to: email).count == 1)
        #expect(Set(phone.wire.requests("/v1/verifications").map { $0["Idempotency-Key"] }).count == 1)
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer)
        #expect(try await asked.confirm(code: try phone.code(to: email)).isProven)
        phone.wire.next(Wire.loseAnswer, Wire.loseAnswer, Wire.loseAnswer)
        _ = await failure { try await restarted.sojourn.finishSignUp(password: "a first password") }
        let account = try await phone.other().sojourn.finishSignUp(password: "a first password")
        #expect(account.userID == "user3")
        let finishes = phone.wire.requests("/v1/sign-up")
        #expect(finishes.count == 4 && Set(finishes.map { $0["Idempotency-Key"] }).count == 1)
    }

    @Test("a wrong code tells the tries that are left, and the fifth ends the proof")
    func wrongCodes() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: email)
        for left in [4, 3, 2, 1, 0] {
            let error = await failure { try await asked.confirm(code: "0000 0000") }
            guard case .refused(let refusal)? = error else { continue }
            #expect(refusal.code == "invalid_code" && refusal.attemptsLeft == left)
        }
        let code = try phone.code(to: email)
        #expect(word(of: await failure { try await asked.confirm(code: code) }) == "verification_over")
        #expect(try await phone.sojourn.verification(for: .signUp) == nil)
        let again = try await phone.sojourn.signUp(email: email)
        #expect(again.id != asked.id)
        let spaced = try phone.code(to: email)
        try await again.confirm(code: "\(spaced.prefix(4)) \(spaced.suffix(4))")
    }

    @Test("a mail is sent once more after a minute, with the same code")
    func resend() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: email)
        let early = try await asked.resend()
        #expect(early.resendAfter == asked.resendAfter && phone.server.mails(to: email).count == 1)
        try await phone.server.letPass(.seconds(60))
        let late = try await asked.resend()
        let codes = phone.server.mails(to: email).map(\.code)
        #expect(codes.count == 2 && Set(codes).count == 1)
        #expect(late.resendAfter == asked.resendAfter + 60 && late.expiresAt == asked.expiresAt)
        try await late.confirm(code: try phone.code(to: email))
    }

    @Test("a code that has expired gives way to another one")
    func expired() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: email)
        let code = try phone.code(to: email)
        try await phone.server.letPass(.seconds(600))
        #expect(word(of: await failure { try await asked.confirm(code: code) }) == "verification_over")
        let again = try await phone.sojourn.signUp(email: email)
        #expect(again.id != asked.id && again.expiresAt > asked.expiresAt)
    }

    @Test("a mailbox with an account gets a mail that says so, and the app learns nothing")
    func known() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: "Anna@Example.org")
        #expect(asked.codeLength == 8)
        #expect(phone.server.mails(to: "anna@example.org").map(\.kind) == ["have_account"])
        #expect(word(of: await failure { try await asked.confirm(code: "12345678") }) == "invalid_code")
    }

    @Test("nothing is made before the proof, nor by the proof of another act")
    func unproven() async throws {
        let phone = try await Phone.mailed()
        let none = await failure { try await phone.sojourn.finishSignUp(password: "a first password") }
        #expect(word(of: none) == "no_verification_pending")
        _ = try await phone.sojourn.signUp(email: email)
        let unproven = await failure { try await phone.sojourn.finishSignUp(password: "a first password") }
        #expect(word(of: unproven) == "no_verification_pending")
        let reset = try await phone.sojourn.requestPasswordReset(email: "anna@example.org")
        try await reset.confirm(code: try phone.code(to: "anna@example.org"))
        let other = await failure { try await phone.sojourn.finishSignUp(password: "a first password") }
        #expect(word(of: other) == "no_verification_pending")
        #expect(phone.wire.requests("/v1/sign-up").isEmpty)
    }

    @Test("a refused password or username leaves the proof, and the next one is taken")
    func refused() async throws {
        let phone = try await Phone.mailed()
        let asked = try await phone.sojourn.signUp(email: email)
        try await asked.confirm(code: try phone.code(to: email))
        let short = await failure { try await phone.sojourn.finishSignUp(password: "short") }
        guard case .refused(let refusal)? = short else { return }
        #expect(refusal.code == "invalid_request" && refusal.member == "password")
        let named = await failure {
            try await phone.sojourn.finishSignUp(password: "a first password", username: "carl")
        }
        #expect(word(of: named) == "invalid_request")
        try await phone.sojourn.finishSignUp(password: "a first password")
    }

    @Test("a passkey takes the place of the password")
    func passkey() async throws {
        let phone = try await Phone.mailed()
        let keys = SoftwarePasskeys(origin: "https://sojourn.test")
        let asked = try await phone.sojourn.signUp(email: email)
        try await asked.confirm(code: try phone.code(to: email))
        keys.refuse(with: .cancelled)
        #expect(await failure { try await phone.sojourn.finishSignUp(passkey: keys) } == .cancelled)
        keys.refuse(with: nil)
        let account = try await phone.sojourn.finishSignUp(passkey: keys)
        await phone.sojourn.signOut()
        #expect(try await phone.sojourn.signIn(passkey: keys) == account)
    }

    @Test("a sign-up of an anonymous user keeps ID and session")
    func anonymous() async throws {
        let phone = try await Phone.mailed()
        try await phone.server.setAnonymousUsers(true)
        let stranger = try await phone.sojourn.signInAnonymously()
        let session = phone.record?.session?.sessionID
        let asked = try await phone.sojourn.signUp(email: email)
        try await asked.confirm(code: try phone.code(to: email))
        phone.wire.next(Wire.loseAnswer)
        let account = try await phone.sojourn.finishSignUp(password: "a first password")
        #expect(account.userID == stranger.userID && account.email == email && !account.isAnonymous)
        #expect(phone.record?.session?.sessionID == session && phone.record?.verifications.isEmpty == true)
        #expect(phone.sojourn.state == .signedIn(account, .current))
    }

    @Test("a server that takes no strangers, or sends no mails, says so")
    func closed() async throws {
        let phone = try await Phone.mailed()
        try await phone.server.change(ClientSettings(takesSignUps: false))
        #expect(word(of: await failure { try await phone.sojourn.signUp(email: email) }) == "sign_up_closed")
        #expect(
            word(of: await failure { try await phone.sojourn.signUp(email: "no mailbox") }) == "email_not_supported")
        phone.server.setMails(false)
        #expect(word(of: await failure { try await phone.sojourn.signUp(email: email) }) == "not_found")
    }

    @Test("a sign-out and a login end what was under way, and cancelling ends one proof")
    func endings() async throws {
        let phone = try await Phone.mailed()
        _ = try await phone.sojourn.signUp(email: email)
        let reset = try await phone.sojourn.requestPasswordReset(email: "anna@example.org")
        try await reset.cancel()
        #expect(phone.record?.verifications.map(\.purpose) == [.signUp])
        #expect(word(of: await failure { try await reset.confirm(code: "1") }) == "no_verification_pending")
        try await phone.sojourn.signIn(username: "anna", password: "pw")
        #expect(phone.record?.verifications.isEmpty == true)
        _ = try await phone.sojourn.signUp(email: email)
        await phone.sojourn.signOut()
        #expect(phone.record?.verifications.isEmpty == true)
    }
}
