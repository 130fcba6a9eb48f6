/// A rule that a new password does not fulfil.
public enum PasswordProblem: Hashable, Sendable {
    /// Fewer characters than required.
    case tooShort(min: Int)
    /// On the list of passwords that are guessed first.
    case tooCommon
    /// The username, or the name of the service.
    case isName
    /// Another rule: too long, or with control characters.
    case refused

    func sentence(_ words: any Words) -> String {
        switch self {
        case .tooShort(let min): words.passwordTooShort(min: min)
        case .tooCommon: words.passwordTooCommon
        case .isName: words.passwordIsName
        case .refused: words.passwordRefused
        }
    }
}

/// A new password, by a reset token. The link in the message is `/reset#TOKEN`: a fragment is sent to no server and stands
/// in no log. `page.js` moves it into the field; without script the field is there to paste it into.
public struct ResetPage: HTMLPage {
    /// What was wrong with the form.
    public enum Message: Hashable, Sendable {
        /// The token of the form was stale.
        case pressAgain
        /// The reset token is unknown, used or expired.
        case tokenRefused
        /// The new password is not allowed.
        case password(PasswordProblem)
        /// Too many attempts from this address.
        case tooManyAttempts(seconds: Int)
    }

    /// The app from which the user came, if it is known.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The reset token, from the form that was refused.
    public var token: String
    /// The smallest length of a password.
    public var lengthMin: Int
    /// What was wrong.
    public var message: Message?

    /// A page for a new password.
    public init(
        app: PageApp? = nil, form: FormState, token: String = "", lengthMin: Int = 8, message: Message? = nil
    ) {
        self.app = app
        self.form = form
        self.token = token
        self.lengthMin = lengthMin
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        var isWrongPassword = false
        if case .password = message { isWrongPassword = true }
        let token = TextField(
            field: .token, label: words.resetToken, value: token, autocomplete: "one-time-code",
            hint: words.resetTokenHint, isWrong: message == .tokenRefused)
        let password = TextField(
            field: .newPassword, label: words.newPassword, type: "password", autocomplete: "new-password",
            hint: words.newPasswordHint(min: lengthMin), isWrong: isWrongPassword, minLength: lengthMin,
            shows: words.showPassword)
        let fields: HTML = "\(token.html)\(password.html)\(Controls.button(words.savePassword))"
        return PageFrame(
            words: words, language: language, title: words.newPasswordTitle, app: app,
            isError: message != nil && message != .pressAgain,
            ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.newPasswordTitle)</h1>
                \(notice(words)?.html)\(Controls.form(.reset, form, fields, id: "reset"))
                """
        ).html
    }

    private func notice(_ words: any Words) -> Notice? {
        switch message {
        case .pressAgain?: Notice(kind: .note, text: "\(words.pressAgain)")
        case .tokenRefused?: Notice(kind: .error, text: "\(words.resetTokenRefused)")
        case .password(let problem)?: Notice(kind: .error, text: "\(problem.sentence(words))")
        case .tooManyAttempts(let seconds)?:
            Notice(kind: .error, text: "\(words.tooManyAttempts(seconds: seconds))")
        case nil: nil
        }
    }
}

/// The new password is stored.
public struct PasswordSavedPage: HTMLPage {
    /// The app to which the user may go back.
    public var app: PageApp?

    /// A confirmation.
    public init(app: PageApp? = nil) { self.app = app }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.passwordSaved, app: app,
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(words.passwordSaved)</h1>
                <p class="lead">\(words.passwordSavedBody)</p>
                \(Controls.linkButton(PageURL(.account), "\(words.signIn)"))
                """
        ).html
    }
}
