import SojournClient
import SojournTestKit

/// The chapter of the mails: an account and a new password without a backend of one's own.
extension DemoStory {
    private static let mailbox = "anna@mail.example"

    mutating func signUpByMail() async throws {
        begin("Anna signs up by mail on a laptop, and forgets her password")
        try admin("PATCH", "/clients/mobile", ["sign_up": true])
        say("The app has no backend. The server sends the mails, here to a small mail server inside this program.")
        let laptop = try DemoPhone("laptop", in: world)
        await laptop.sojourn.start()
        let asked = try await laptop.sojourn.signUp(email: Self.mailbox)
        let first = try await world.mails.mail(to: Self.mailbox) { $0.code != nil }
        say("The mail: “\(first.subject)”. There is no account yet. Anna mistypes the code once.")
        try await failed("a wrong code costs one of five tries") { _ = try await asked.confirm(code: "00000000") }
        let code = first.code ?? ""
        try await asked.confirm(code: code)
        let account = try await laptop.sojourn.finishSignUp(password: "a password that nobody remembers")
        try expect(account.email == Self.mailbox, "account, proven mailbox and session began in one step")
        await laptop.sojourn.signOut()
        world.pass(.seconds(20 * 86_400))

        say("Three weeks later Anna does not know her password any more.")
        let reset = try await laptop.sojourn.requestPasswordReset(email: Self.mailbox)
        let second = try await world.mails.mail(to: Self.mailbox) { $0.code != nil && $0.code != code }
        try await reset.confirm(code: second.code ?? "")
        try await laptop.sojourn.resetPassword(to: "a better password for Anna")
        try expect(laptop.sojourn.state == .signedOut(.byUser), "the mail alone signs in nowhere")
        try await laptop.sojourn.signIn(username: Self.mailbox, password: "a better password for Anna")
        try expect(account.userID == laptop.sojourn.state.account?.userID, "the new password does")
    }
}

extension SessionState {
    /// The user of the session.
    fileprivate var account: Account? {
        if case .signedIn(let account, _) = self { account } else { nil }
    }
}
