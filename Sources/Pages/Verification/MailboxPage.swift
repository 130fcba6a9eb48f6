/// What a mailbox is proven for. The raw values are on the wire.
public enum MailboxPurpose: String, CaseIterable, Hashable, Sendable {
    /// A new account.
    case signUp = "sign_up"
    /// A login by the code of a mail.
    case signIn = "sign_in"
    /// A new password.
    case reset
    /// The mailbox becomes that of the account.
    case email
}

/// What a page of a verification says above its form.
public enum VerificationMessage: Hashable, Sendable {
    /// The form counted for nothing.
    case stale(StaleForm)
    /// Too many attempts, or too many mails to the mailbox.
    case tooManyAttempts(seconds: Int)
    /// The server cannot answer at the moment.
    case unavailable
    /// The text is no mailbox to which the server writes.
    case notAMailbox
    /// The server takes no account with a mailbox of that domain.
    case mailboxRefused
    /// The mailbox is that of the account already.
    case sameMailbox
    /// The mailbox belongs to another account.
    case mailboxTaken
    /// The code is wrong. Nil: it is not known how many tries are left.
    case wrongCode(triesLeft: Int?)
    /// The code was used, or is too old.
    case codeOver
    /// The mail was sent once more.
    case sentAgain

    func notice(_ words: any Words) -> Notice {
        func error(_ text: String) -> Notice { Notice(kind: .error, text: "\(text)") }
        return switch self {
        case .stale(let stale): stale.notice(words)
        case .tooManyAttempts(let seconds): error(words.tooManyAttempts(seconds: seconds))
        case .unavailable: error(words.serverBusy)
        case .notAMailbox: error(words.notAMailbox)
        case .mailboxRefused: error(words.mailboxRefused)
        case .sameMailbox: error(words.sameMailbox)
        case .mailboxTaken: error(words.mailboxTaken)
        case .wrongCode(let tries): error(tries.map { words.wrongCode(triesLeft: $0) } ?? words.wrongCode)
        case .codeOver: error(words.codeOver)
        case .sentAgain: Notice(kind: .success, text: "\(words.codeSentAgain)")
        }
    }

    /// Whether the field of the mailbox is what the message is about.
    var isAboutMailbox: Bool { [.notAMailbox, .mailboxRefused, .sameMailbox, .mailboxTaken].contains(self) }
    /// Whether the field of the code is what the message is about.
    var isAboutCode: Bool { if case .wrongCode = self { true } else { false } }
}

/// Asks for the mailbox to which a code is written: for a new account, for a forgotten password, or for a login by e-mail. The
/// page never says whether the mailbox belongs to an account.
public struct MailboxPage: HTMLPage {
    /// The app that waits; nil: none.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// What the mailbox is proven for.
    public var purpose: MailboxPurpose
    /// The mailbox to begin with.
    public var email: String
    /// Shows the login page instead.
    public var signIn: PagePath
    /// What happened.
    public var message: VerificationMessage?

    /// A page that asks for a mailbox.
    public init(
        app: PageApp? = nil, form: FormState, purpose: MailboxPurpose, email: String = "", signIn: PagePath = .account,
        message: VerificationMessage? = nil
    ) {
        self.app = app
        self.form = form
        self.purpose = purpose
        self.email = email
        self.signIn = signIn
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let title = words.mailboxTitle(purpose)
        let notice = message?.notice(words)
        return PageFrame(
            words: words, language: language, title: title, app: app, isError: notice?.kind == .error,
            ways: [Controls.link(signIn, words.signIn)],
            content: """
                <h1>\(title)</h1>
                <p class="lead">\(words.mailboxBody(purpose))</p>
                \(notice?.html)\(Controls.form(purpose.askPath, form, Self.fields(words, email, message)))
                """
        ).html
    }

    /// The field for a mailbox, and the button that has the code sent.
    static func fields(
        _ words: any Words, label: String? = nil, _ email: String, _ message: VerificationMessage?
    ) -> HTML {
        let isWrong = message?.isAboutMailbox == true
        let field = TextField(
            field: .email, label: label ?? words.profileMember(.email), type: "email", value: email,
            autocomplete: "email", isWrong: isWrong, hasFocus: !isWrong)
        return "\(field.html)\(Controls.button(words.sendCode))"
    }
}

extension MailboxPurpose {
    /// Where the form with the mailbox goes.
    public var askPath: PagePath {
        switch self {
        case .signUp: .signUp
        case .signIn: .loginEmail
        case .reset: .forgot
        case .email: .accountEmail
        }
    }

    /// Where the form with the code goes.
    public var codePath: PagePath {
        switch self {
        case .signUp: .signUpCode
        case .signIn: .loginEmailCode
        case .reset: .forgotCode
        case .email: .accountEmailCode
        }
    }
}
