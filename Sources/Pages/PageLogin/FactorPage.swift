/// The second step of a login: the code of an authenticator app, or a recovery code. A user without an authenticator adds one.
public struct FactorPage: HTMLPage {
    /// An authenticator that the user adds with this login.
    public struct Enrolment: Hashable, Sendable {
        /// The seed in base32, for typing.
        public var secret: String
        /// The picture that the app scans; nil: the server cannot draw one.
        public var code: QRPicture?

        /// An authenticator to add.
        public init(secret: String, code: QRPicture?) { (self.secret, self.code) = (secret, code) }
    }

    /// What the page says above its field.
    public enum Message: Hashable, Sendable {
        /// The form counted for nothing.
        case stale(StaleForm)
        /// The code is wrong, or was used before.
        case wrongCode
        /// The code is that of another time.
        case clockDiffers
        /// Too many wrong codes: the next one has to wait.
        case tooManyAttempts(seconds: Int)
        /// Too many wrong codes: only a recovery code or a passkey helps.
        case blocked
    }

    /// The app to sign in to; nil for the account pages.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The sealed first step.
    public var loginToken: String
    /// Whether the user stays signed in; nil: the client does not allow it.
    public var remember: Bool?
    /// The authenticator to add; nil: the user has one, or has just scanned it.
    public var enrolment: Enrolment?
    /// The login page, which takes the passkey of the user instead; nil: the user has none.
    public var passkey: PagePath?
    /// Whether a code can be typed: false for a user that has a passkey alone.
    public var takesCode: Bool
    /// What happened.
    public var message: Message?

    /// A page.
    public init(
        app: PageApp?, form: FormState, loginToken: String, remember: Bool? = nil, enrolment: Enrolment? = nil,
        passkey: PagePath? = nil, takesCode: Bool = true, message: Message? = nil
    ) {
        (self.app, self.form, self.loginToken, self.remember) = (app, form, loginToken, remember)
        (self.enrolment, self.passkey, self.takesCode) = (enrolment, passkey, takesCode)
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let title = enrolment == nil ? words.factorTitle : words.factorAddTitle
        return PageFrame(
            words: words, language: language, title: title, app: app, isError: message != nil,
            content: """
                <h1>\(title)</h1>
                \(notice(words)?.html)\(enrolment.map { $0.html(words, lead: words.factorAddBody) })\
                \(passkey.map { passkeyLink($0, words) })\(takesCode ? codeForm(words) : nil)
                """
        ).html
    }

    private func notice(_ words: any Words) -> Notice? {
        message.map { message in
            let text: HTML =
                switch message {
                case .stale(let stale): stale.notice(words).text
                case .wrongCode: "\(words.factorWrong)"
                case .clockDiffers: "\(words.factorClock)"
                case .tooManyAttempts(let seconds): "\(words.tooManyAttempts(seconds: seconds))"
                case .blocked: "\(words.factorBlocked)"
                }
            return Notice(kind: .error, text: text)
        }
    }

    private func passkeyLink(_ path: PagePath, _ words: any Words) -> HTML {
        """
        \(Controls.linkButton(PageURL(path), "\(words.signInWithPasskey)", takesCode ? .secondary : .primary))
        \(takesCode ? Controls.or(words) : nil)
        """
    }

    private func codeForm(_ words: any Words) -> HTML {
        let isNew = enrolment != nil
        let field = TextField(
            field: .code, label: isNew ? words.factorNewCode : words.factorCode, autocomplete: "one-time-code",
            hint: isNew ? nil : words.factorHint, isWrong: message == .wrongCode || message == .clockDiffers,
            hasFocus: true)
        return Controls.form(
            .loginFactor, form,
            """
            \(Controls.hidden(.loginToken, loginToken))
            \(remember == true ? Controls.hidden(.remember, "1") + "\n" : nil)\(field.html)\(Controls.button(words.goOn))
            """)
    }
}

extension FactorPage.Enrolment {
    func html(_ words: any Words, lead: String) -> HTML {
        """
        <p class="lead">\(lead)</p>
        \(code.map { $0.html(words.factorPicture) })<p>\(words.factorSecret)<br><code>\(grouped)</code></p>

        """
    }

    /// The seed in groups of four, for reading.
    private var grouped: String {
        stride(from: 0, to: secret.count, by: 4)
            .map { String(secret.dropFirst($0).prefix(4)) }.joined(separator: " ")
    }
}

/// The picture of a QR code, drawn into the page, so that no other request shows the seed.
public struct QRPicture: Hashable, Sendable {
    /// The modules on each side, with the light ones around the code.
    public var side: Int
    /// The dark modules, as the path of SVG.
    public var path: String

    /// A picture.
    public init(side: Int, path: String) { (self.side, self.path) = (side, path) }

    func html(_ label: String) -> HTML {
        """
        <svg class="qr" viewBox="0 0 \(side) \(side)" width="220" height="220" role="img" aria-label="\(label)" \
        shape-rendering="crispEdges"><rect width="\(side)" height="\(side)" fill="#fff"></rect>\
        <path d="\(path)" fill="#000"></path></svg>

        """
    }
}
