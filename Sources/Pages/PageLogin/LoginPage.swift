/// The login page: one card with every way to sign in that the client allows.
public struct LoginPage: HTMLPage {
    /// An account that this browser has signed in to before.
    public struct RecognizedAccount: Hashable, Sendable {
        /// The name to show, and to send as username.
        public var name: String
        /// Shows the page without the account.
        public var notYou: PagePath

        /// An account.
        public init(name: String, notYou: PagePath) {
            self.name = name
            self.notYou = notYou
        }
    }

    /// An identity provider. It is a link, so that `form-action` need not name its origin.
    public struct Provider: Hashable, Sendable {
        /// The name to show.
        public var name: String
        /// Leads to the provider, for example `/login/provider?name=…&r=…`.
        public var path: PagePath

        /// A provider.
        public init(name: String, path: PagePath) {
            self.name = name
            self.path = path
        }
    }

    /// What the page says above its fields.
    public enum Message: Hashable, Sendable {
        /// The form counted for nothing.
        case stale(StaleForm)
        /// The username or the password is wrong.
        case wrongCredentials
        /// The user has paused all logins.
        case loginsPaused
        /// An admin has disabled the user.
        case loginsBlocked
        /// Too many attempts from this address.
        case tooManyAttempts(seconds: Int)
        /// The provider of this name did not confirm the user.
        case providerFailed(String)
        /// The passkey was not accepted.
        case passkeyFailed
        /// The way takes no second factor, and one is demanded.
        case secondFactorNeeded
        /// The page that the user wants needs a login of the last minutes.
        case signInAgain
        /// What the user has asked for needs a login of the last minutes, and happens after it.
        case signInToFinish
        /// The server cannot answer at the moment.
        case unavailable

        var isError: Bool { ![.stale(.pressAgain), .signInAgain, .signInToFinish].contains(self) }
    }

    /// The app to sign in to; nil for the account pages.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The account that the browser is known for.
    public var account: RecognizedAccount?
    /// The account of the browser's session, with which the user may go on. The page then offers nothing else.
    public var choice: RecognizedAccount?
    /// The options of `navigator.credentials.get` as JSON (`PublicKeyCredentialRequestOptionsJSON`); nil: no passkeys.
    public var passkey: String?
    /// Whether the page asks for username and password.
    public var asksForPassword: Bool
    /// What the name beside the password may be.
    public var names: Names
    /// The username to begin with: from `login_hint`, or from the form that was refused.
    public var username: String
    /// Whether the box "Keep me signed in" is ticked; nil: the client does not allow it.
    public var remember: Bool?
    /// Identity providers.
    public var providers: [Provider]
    /// Whether the page offers a login with the phone.
    public var offersPhone: Bool
    /// Asks for the mailbox of a forgotten password; nil: the server sends no mails.
    public var forgot: PagePath?
    /// Asks for the mailbox of a new account; nil: the client takes none.
    public var signUp: PagePath?
    /// Asks for the mailbox of a login by e-mail; nil: the client takes none.
    public var email: PagePath?
    /// What happened.
    public var message: Message?
    /// Whether the connection has no TLS (development on a loopback address).
    public var isWithoutTLS: Bool

    /// A login page.
    public init(
        app: PageApp?, form: FormState, account: RecognizedAccount? = nil, choice: RecognizedAccount? = nil,
        passkey: String? = nil, asksForPassword: Bool = true, names: Names = .both, username: String = "",
        remember: Bool? = nil, providers: [Provider] = [], offersPhone: Bool = false,
        forgot: PagePath? = nil, signUp: PagePath? = nil, email: PagePath? = nil,
        message: Message? = nil, isWithoutTLS: Bool = false
    ) {
        self.app = app
        self.form = form
        self.account = account
        self.choice = choice
        self.passkey = passkey
        self.asksForPassword = asksForPassword
        self.names = names
        self.username = username
        self.remember = remember
        self.providers = providers
        self.offersPhone = offersPhone
        self.forgot = forgot
        self.signUp = signUp
        self.email = email
        self.message = message
        self.isWithoutTLS = isWithoutTLS
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let ways =
            choice == nil ? [asksForPassword ? passwordForm(words) : nil, otherWays(words)].compactMap(\.self) : []
        let title: HTML = app.map { words.signIn(to: DisplayName($0.name)) } ?? "\(words.signIn)"
        return PageFrame(
            words: words, language: language, title: words.signIn, app: app, isError: message?.isError ?? false,
            modules: passkey == nil || choice != nil ? [] : [.passkey],
            account: choice ?? account == nil ? nil : form.request.map(PagePath.loginPage) ?? .login,
            ways: choice == nil ? signUpLink(words) : [],
            content: """
                \(isWithoutTLS ? Notice(kind: .note, text: "\(words.withoutTLS)", hasID: false).html : nil)<h1>\(title)</h1>
                \(accountCard(choice ?? account, words))\(notice(words)?.html)\
                \(choice.map { _ in Controls.form(.loginAccount, form, Controls.button(words.goOn)) })\
                \(choice == nil ? passkeyForm(words, isAlone: ways.isEmpty) : nil)\(joined(ways, by: Controls.or(words)))
                """
        ).html
    }

    private func signUpLink(_ words: any Words) -> [HTML] {
        signUp.map { [Controls.link($0, words.mailboxTitle(.signUp))] } ?? []
    }

    private func joined(_ ways: [HTML], by separator: HTML) -> [HTML] {
        Array(ways.flatMap { [separator, $0] }.dropFirst())
    }

    private func notice(_ words: any Words) -> Notice? {
        message.map { message in
            let text: HTML =
                switch message {
                case .stale(let stale): stale.notice(words).text
                case .wrongCredentials: "\(words.wrongCredentials)"
                case .loginsPaused:
                    "\(words.loginsPaused) \(Controls.link(.accountSecurity, words.resume))"
                case .loginsBlocked: "\(words.loginsBlocked)"
                case .tooManyAttempts(let seconds): "\(words.tooManyAttempts(seconds: seconds))"
                case .providerFailed(let name): words.providerFailed(DisplayName(name))
                case .passkeyFailed: "\(words.passkeyFailed)"
                case .secondFactorNeeded: "\(words.factorNeeded)"
                case .signInAgain: "\(words.signInAgain)"
                case .signInToFinish: "\(words.signInToFinish)"
                case .unavailable: "\(words.unavailable)"
                }
            return Notice(kind: message.isError ? .error : .note, text: text)
        }
    }

    private func accountCard(_ account: RecognizedAccount?, _ words: any Words) -> HTML? {
        account.map { account in
            let name = DisplayName(account.name)
            return """
                <div class="account"><span class="avatar" aria-hidden="true">\(name.initial)</span>
                <span class="who">\(name)</span> <a href="\(account.notYou)">\(words.notYou)</a></div>

                """
        }
    }

    /// The button is hidden until `passkey.js` has found that the browser knows passkeys, with the line under it.
    private func passkeyForm(_ words: any Words, isAlone: Bool) -> HTML? {
        passkey.map { options in
            let look: Controls.Look = asksForPassword ? .secondary : .primary
            // The box stands in the form of the password, from which the script takes it.
            let remembered: HTML? = remember.map {
                asksForPassword
                    ? Controls.hidden(.remember, "") + "\n"
                    : Controls.checkbox(.remember, words.keepMeSignedIn, isOn: $0) + "\n"
            }
            let content: HTML = """
                <input type="hidden" name="\(FormField.credential)">
                \(remembered)<button type="button" class="\(look.rawValue)" data-options="\(options)">\(words.signInWithPasskey)</button>
                """
            return """
                <div hidden>\(Controls.form(.loginPasskey, form, content, id: "passkey"))\
                \(isAlone ? nil : Controls.or(words))</div>
                \(isAlone ? "<p id=\"no-passkeys\">\(words.needsPasskeys)</p>\n" as HTML : nil)
                """
        }
    }

    private func passwordForm(_ words: any Words) -> HTML {
        let isWrong = message == .wrongCredentials
        let autocomplete = passkey == nil ? "username" : "username webauthn"
        let name: HTML =
            account.map {
                """
                <input type="text" name="\(FormField.username)" value="\($0.name)" autocomplete="\(autocomplete)" hidden>

                """
            }
            ?? TextField(
                field: .username, label: names.label(words), value: username, autocomplete: autocomplete,
                isWrong: isWrong
            ).html
        let password = TextField(
            field: .password, label: words.password, type: "password", autocomplete: "current-password",
            isWrong: isWrong && account != nil, shows: words.showPassword)
        return Controls.form(
            .loginPassword, form,
            """
            \(name)\(password.html)\(options(words))
            \(passkey.map { _ in Controls.hidden(.offer, "") + "\n" })\(Controls.button(words.signIn))
            """)
    }

    private func options(_ words: any Words) -> HTML? {
        guard remember != nil || forgot != nil else { return nil }
        let box = remember.map { Controls.checkbox(.remember, words.keepMeSignedIn, isOn: $0) }
        let link = forgot.map { Controls.link($0, words.mailboxTitle(.reset)) }
        return "<div class=\"options\">\(box)\(link)</div>"
    }

    private func otherWays(_ words: any Words) -> HTML? {
        guard !providers.isEmpty || offersPhone || email != nil else { return nil }
        let links = providers.map {
            Controls.linkButton(PageURL($0.path), words.signIn(with: DisplayName($0.name, max: 30)), .secondary) + "\n"
        }
        let phone = Controls.form(.loginPhone, form, Controls.button(words.useYourPhone, .secondary))
        let mail = email.map { Controls.linkButton(PageURL($0), "\(words.mailboxTitle(.signIn))", .secondary) + "\n" }
        return HTML(links + [mail, offersPhone ? phone : nil].compactMap(\.self))
    }
}

extension LoginPage {
    /// What the name beside the password may be. The label promises no address that is not confirmed.
    public enum Names: String, CaseIterable, Sendable {
        case username, email, both

        func label(_ words: any Words) -> String {
            switch self {
            case .username: words.usernameAlone
            case .email: words.emailAddress
            case .both: words.username
            }
        }
    }
}
