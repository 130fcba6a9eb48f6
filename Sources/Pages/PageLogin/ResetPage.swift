/// A rule that a new password does not fulfil.
public enum PasswordProblem: Hashable, Sendable {
    /// Fewer characters than required.
    case tooShort(min: Int)
    /// More bytes than the server takes.
    case tooLong
    /// On the list of passwords that are guessed first.
    case tooCommon
    /// The username, or the name of the service.
    case isName
    /// With a character that no password has.
    case unusable

    func sentence(_ words: any Words) -> String {
        switch self {
        case .tooShort(let min): words.passwordTooShort(min: min)
        case .tooLong: words.passwordTooLong
        case .tooCommon: words.passwordTooCommon
        case .isName: words.passwordIsName
        case .unusable: words.passwordUnusable
        }
    }
}

/// A new password, by a reset token. The link in the message is `/reset#TOKEN`: a fragment is sent to no server and stands
/// in no log. `page.js` moves it into the form; without script there is a field to paste the link into.
public struct ResetPage: HTMLPage {
    /// What was wrong with the form.
    public enum Message: Hashable, Sendable {
        /// The form counted for nothing.
        case stale(StaleForm)
        /// The reset token is unknown, used or expired.
        case tokenRefused
        /// The new password is not allowed.
        case password(PasswordProblem)
        /// Too many attempts from this address.
        case tooManyAttempts(seconds: Int)
        /// The server cannot set it at the moment.
        case unavailable
    }

    /// The hidden fields.
    public var form: FormState
    /// The reset token of the form that was refused; nil: the page asks for the link.
    public var token: String?
    /// Whether the browser has proven the mailbox by a code, so that the page asks for no link.
    public var isProven: Bool
    /// Asks for the mailbox of a forgotten password; nil: the server sends no mails.
    public var forgot: PagePath?
    /// The smallest length of a password.
    public var lengthMin: Int
    /// What was wrong.
    public var message: Message?

    /// A page for a new password.
    public init(
        form: FormState, token: String? = nil, isProven: Bool = false, forgot: PagePath? = nil, lengthMin: Int = 8,
        message: Message? = nil
    ) {
        self.form = form
        self.token = token
        self.isProven = isProven
        self.forgot = forgot
        self.lengthMin = lengthMin
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let isOver = message == .tokenRefused
        let title = isOver ? words.resetOverTitle : words.newPasswordTitle
        let form = Controls.form(.reset, form, fields(words), id: "reset")
        // A link that is spent stays so: the form waits behind another link.
        let again: HTML? = forgot.map { Controls.linkButton(PageURL($0), "\(words.newMail)") + "\n" }
        let content: HTML =
            isOver
            ? "\(again)<details class=\"ask\"><summary>\(words.resetOtherLink)</summary>\n\(form)</details>\n"
            : form
        return PageFrame(
            words: words, language: language, title: title, isError: notice(words)?.kind == .error || isOver,
            ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(title)</h1>
                <p class="lead">\(isOver ? words.resetTokenRefused : words.newPasswordBody)</p>
                \(notice(words)?.html)\(content)
                """
        ).html
    }

    private func fields(_ words: any Words) -> HTML {
        var isWrongPassword = false
        if case .password = message { isWrongPassword = true }
        let link = TextField(
            field: .token, label: words.resetLink, autocomplete: "one-time-code", hint: words.resetLinkHint)
        let password = TextField(
            field: .newPassword, label: words.newPassword, type: "password", autocomplete: "new-password",
            hint: words.newPasswordHint(min: lengthMin), isWrong: isWrongPassword, minLength: lengthMin,
            shows: words.showPassword)
        return """
            \(isProven ? nil : token.map { Controls.hidden(.token, $0) + "\n" } ?? link.html)\(password.html)\
            \(Controls.button(words.savePassword))
            """
    }

    private func notice(_ words: any Words) -> Notice? {
        switch message {
        case .stale(let stale)?: stale.notice(words)
        case .password(let problem)?: Notice(kind: .error, text: "\(problem.sentence(words))")
        case .tooManyAttempts(let seconds)?:
            Notice(kind: .error, text: "\(words.tooManyAttempts(seconds: seconds))")
        case .unavailable?: Notice(kind: .error, text: "\(words.serverBusy)")
        case .tokenRefused?, nil: nil
        }
    }
}

/// The new password is stored.
public struct PasswordSavedPage: HTMLPage {
    /// Where the user signs in.
    public var next: PagePath

    /// A confirmation.
    public init(next: PagePath = .account) { self.next = next }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.passwordSaved,
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(words.passwordSaved)</h1>
                <p class="lead">\(words.passwordSavedBody)</p>
                \(Controls.linkButton(PageURL(next), "\(words.signIn)"))
                """
        ).html
    }
}
