/// The last step of a sign-up, after the proof of the mailbox: a password or a passkey, and a username where users choose one.
public struct SignUpPage: HTMLPage {
    /// What was wrong with the form.
    public enum Message: Hashable, Sendable {
        /// The form counted for nothing.
        case stale(StaleForm)
        /// The password is not allowed.
        case password(PasswordProblem)
        /// The username belongs to another user.
        case usernameTaken
        /// The username has a sign that no username has.
        case usernameRefused
        /// The registration of the passkey is wrong, or too old.
        case passkeyNotAdded
        /// Too many attempts from this address.
        case tooManyAttempts(seconds: Int)
        /// The server cannot answer at the moment.
        case unavailable

        func notice(_ words: any Words) -> Notice {
            func error(_ text: String) -> Notice { Notice(kind: .error, text: "\(text)") }
            return switch self {
            case .stale(let stale): stale.notice(words)
            case .password(let problem): error(problem.sentence(words))
            case .usernameTaken: error(words.usernameTaken)
            case .usernameRefused: error(words.profileRefused(.username))
            case .passkeyNotAdded: error(words.passkeyNotAdded)
            case .tooManyAttempts(let seconds): error(words.tooManyAttempts(seconds: seconds))
            case .unavailable: error(words.serverBusy)
            }
        }
    }

    /// The app that waits; nil: none.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The mailbox, which is proven.
    public var email: String
    /// The username to begin with; nil: the mailbox is the username.
    public var username: String?
    /// The smallest length of a password; nil: the client takes none.
    public var passwordLengthMin: Int?
    /// The JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`; nil: no passkey.
    public var passkey: String?
    /// Whether the box "Keep me signed in" is ticked; nil: there is none.
    public var remember: Bool?
    /// What was wrong.
    public var message: Message?

    /// A page that asks for a password or a passkey.
    public init(
        app: PageApp? = nil, form: FormState, email: String, username: String? = nil, passwordLengthMin: Int? = 8,
        passkey: String? = nil, remember: Bool? = nil, message: Message? = nil
    ) {
        self.app = app
        self.form = form
        self.email = email
        self.username = username
        self.passwordLengthMin = passwordLengthMin
        self.passkey = passkey
        self.remember = remember
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let notice = message?.notice(words)
        return PageFrame(
            words: words, language: language, title: words.signUpTitle, app: app, isError: notice?.kind == .error,
            modules: passkey == nil ? [] : [.passkeys],
            content: """
                <h1>\(words.signUpTitle)</h1>
                <p class="lead">\(words.signUpBody(DisplayName(email, max: 120)))</p>
                \(notice?.html)\(Controls.form(.signUpFinish, form, fields(words), id: "add-passkey"))
                """
        ).html
    }

    private func fields(_ words: any Words) -> HTML {
        let box = remember.map {
            "<div class=\"options\">\(Controls.checkbox(.remember, words.keepMeSignedIn, isOn: $0))</div>\n" as HTML
        }
        return """
            \(name(words))\(box)\(passkeyButton(words))\(passwordFields(words))
            """
    }

    /// The username, which a password manager stores beside the password.
    private func name(_ words: any Words) -> HTML {
        guard let username else {
            return """
                <input type="text" name="\(FormField.username)" value="\(email)" autocomplete="username" hidden>

                """
        }
        return TextField(
            field: .username, label: words.usernameAlone, value: username, autocomplete: "username",
            hint: words.usernameHint, isWrong: [.usernameTaken, .usernameRefused].contains(message)
        ).html
    }

    /// It is hidden until `passkeys.js` has found that the browser can make a passkey.
    private func passkeyButton(_ words: any Words) -> HTML? {
        passkey.map { options in
            let isAlone = passwordLengthMin == nil
            let needs: HTML? = isAlone ? "<p id=\"no-passkeys\">\(words.needsPasskeys)</p>\n" : nil
            return """
                \(Controls.hidden(.credential, ""))
                <div hidden><button type="button" class="secondary" data-options="\(options)">\
                \(words.signUpWithPasskey)</button>
                \(isAlone ? nil : Controls.or(words))</div>
                \(needs)
                """
        }
    }

    private func passwordFields(_ words: any Words) -> HTML? {
        passwordLengthMin.map { min in
            var isWrong = false
            if case .password = message { isWrong = true }
            let field = TextField(
                field: .newPassword, label: words.password, type: "password", autocomplete: "new-password",
                hint: words.newPasswordHint(min: min), isWrong: isWrong, minLength: min, shows: words.showPassword)
            return "\(field.html)\(Controls.button(words.mailboxTitle(.signUp)))"
        }
    }
}

/// The proven mailbox belongs to an account. Only its owner sees this page.
public struct AccountExistsPage: HTMLPage {
    /// The app that waits; nil: none.
    public var app: PageApp?
    /// The mailbox.
    public var email: String
    /// Shows the login page.
    public var signIn: PagePath
    /// Asks for the mailbox of a forgotten password.
    public var forgot: PagePath

    /// A page that leads to the login.
    public init(app: PageApp? = nil, email: String, signIn: PagePath, forgot: PagePath) {
        self.app = app
        self.email = email
        self.signIn = signIn
        self.forgot = forgot
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.accountExists, app: app,
            ways: [Controls.link(forgot, words.mailboxTitle(.reset))],
            content: """
                <h1>\(words.accountExists)</h1>
                <p class="lead">\(words.accountExistsBody(DisplayName(email, max: 120)))</p>
                \(Controls.linkButton(PageURL(signIn), "\(words.signIn)"))
                """
        ).html
    }
}
