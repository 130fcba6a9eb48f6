/// The password of the account and the switch that pauses all logins.
public struct SecurityPage: HTMLPage {
    /// The state of the switch.
    public enum Logins: Hashable, Sendable {
        /// Logins are possible.
        case open
        /// The user has paused them: nothing can be renewed.
        case pausedAtOnce
        /// The user has paused them: access that was given lasts until it expires.
        case pausedOnExpiry
        /// An admin has disabled the user, who cannot change that.
        case blocked
    }

    /// What the page says at its top.
    public enum Message: Hashable, Sendable {
        /// The token of the form was stale.
        case pressAgain
        /// The new password is stored.
        case passwordSaved
        /// The current password is wrong.
        case wrongCurrentPassword
        /// The new password is not allowed.
        case password(PasswordProblem)
        /// Too many attempts.
        case tooManyAttempts(seconds: Int)
        /// Logins are paused.
        case paused
        /// Logins are possible again.
        case resumed

        var kind: Notice.Kind {
            switch self {
            case .pressAgain: .note
            case .passwordSaved, .paused, .resumed: .success
            case .wrongCurrentPassword, .password, .tooManyAttempts: .error
            }
        }
    }

    /// Name and navigation.
    public var header: AccountHeader
    /// The name that password managers store the password under.
    public var username: String
    /// Whether the account has a password.
    public var hasPassword: Bool
    /// The smallest length of a password.
    public var lengthMin: Int
    /// The state of the switch.
    public var logins: Logins
    /// What has happened.
    public var message: Message?

    /// A page for password and switch.
    public init(
        header: AccountHeader, username: String, hasPassword: Bool = true, lengthMin: Int = 8, logins: Logins = .open,
        message: Message? = nil
    ) {
        self.header = header
        self.username = username
        self.hasPassword = hasPassword
        self.lengthMin = lengthMin
        self.logins = logins
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return header.page(
            .security, language, isError: message?.kind == .error, notice: notice(words),
            content: """
                <section><h2>\(words.changePassword)</h2>
                \(hasPassword ? passwordForm(words) : "<p>\(words.noPassword)</p>")</section>
                <section><h2>\(words.pauseTitle)</h2>
                \(switchForm(words))</section>
                """)
    }

    private func notice(_ words: any Words) -> Notice? {
        message.map { message in
            let text =
                switch message {
                case .pressAgain: words.pressAgain
                case .passwordSaved: words.passwordSaved
                case .wrongCurrentPassword: words.wrongCurrentPassword
                case .password(let problem): problem.sentence(words)
                case .tooManyAttempts(let seconds): words.tooManyAttempts(seconds: seconds)
                case .paused: logins == .pausedOnExpiry ? words.pausedOnExpiry : words.pausedAtOnce
                case .resumed: words.resumed
                }
            return Notice(kind: message.kind, text: "\(text)")
        }
    }

    private func passwordForm(_ words: any Words) -> HTML {
        var isNewWrong = false
        if case .password = message { isNewWrong = true }
        let current = TextField(
            field: .password, label: words.currentPassword, type: "password", autocomplete: "current-password",
            isWrong: message == .wrongCurrentPassword, shows: words.showPassword)
        let new = TextField(
            field: .newPassword, label: words.newPassword, type: "password", autocomplete: "new-password",
            hint: words.newPasswordHint(min: lengthMin), isWrong: isNewWrong, minLength: lengthMin,
            shows: words.showPassword)
        return Controls.form(
            .accountPassword, header.form,
            """
            <p>\(words.changePasswordBody)</p>
            <input type="text" name="\(FormField.username)" value="\(username)" autocomplete="username" hidden>
            \(current.html)\(new.html)\(Controls.button(words.savePassword))
            """)
    }

    private func switchForm(_ words: any Words) -> HTML {
        switch logins {
        case .open:
            Controls.form(
                .accountLogins, header.form,
                """
                <p>\(words.pauseBody)</p>
                \(Controls.hidden(.pause, "1"))
                <fieldset aria-label="\(words.pauseTitle)">
                \(Controls.radio(.effective, "immediate", words.pauseAtOnce, isOn: true))
                \(Controls.radio(.effective, "on_expiry", words.pauseOnExpiry))
                </fieldset>
                \(Controls.checkbox(.endSessions, words.pauseEndSessions))
                \(Controls.button(words.pause, .danger))
                """)
        case .pausedAtOnce: resumeForm(words.pausedAtOnce, words)
        case .pausedOnExpiry: resumeForm(words.pausedOnExpiry, words)
        case .blocked: "<p>\(words.pausedByAdmin)</p>"
        }
    }

    private func resumeForm(_ sentence: String, _ words: any Words) -> HTML {
        Controls.form(
            .accountLogins, header.form,
            "<p>\(sentence)</p>\n\(Controls.hidden(.pause, "0"))\(Controls.button(words.resume))")
    }
}
