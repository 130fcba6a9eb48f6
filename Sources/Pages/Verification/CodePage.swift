/// Asks for the code of a mail, in the browser that had it sent. It looks alike for every mailbox.
public struct CodePage: HTMLPage {
    /// The app that waits; nil: none.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// What the mailbox is proven for.
    public var purpose: MailboxPurpose
    /// The mailbox, as it was typed; empty: the page does not name it.
    public var email: String?
    /// Asks for another mailbox.
    public var again: PagePath
    /// Whether the box "Keep me signed in" is ticked; nil: there is none.
    public var remember: Bool?
    /// What happened.
    public var message: VerificationMessage?

    /// A page that asks for a code.
    public init(
        app: PageApp? = nil, form: FormState, purpose: MailboxPurpose, email: String?, again: PagePath,
        remember: Bool? = nil, message: VerificationMessage? = nil
    ) {
        self.app = app
        self.form = form
        self.purpose = purpose
        self.email = email
        self.again = again
        self.remember = remember
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.codeTitle, app: app,
            isError: message?.notice(words).kind == .error, ways: [Controls.link(again, words.otherMailbox)],
            content: "<h1>\(words.codeTitle)</h1>\n\(content(words))"
        ).html
    }

    /// The page below its title.
    func content(_ words: any Words) -> HTML {
        let isWrong = message?.isAboutCode == true
        let code = TextField(
            field: .code, label: words.code, autocomplete: "one-time-code", hint: words.codeHint, isWrong: isWrong,
            hasFocus: !isWrong, isNumber: true, isCode: true)
        let box = remember.map {
            "<div class=\"options\">\(Controls.checkbox(.remember, words.keepMeSignedIn, isOn: $0))</div>\n" as HTML
        }
        let resend: HTML = """
            \(Controls.hidden(.act, Self.resending))
            <button class="link">\(words.codeAgain)</button>
            """
        let lead: HTML =
            email.map { words.codeSent(purpose, to: DisplayName($0, max: 120)) } ?? "\(words.mailboxBody(purpose))"
        return """
            <p class="lead">\(lead)</p>
            \(message?.notice(words).html)\
            \(Controls.form(purpose.codePath, form, "\(code.html)\(box)\(Controls.button(words.goOn))"))\
            <div class="again">\(Controls.form(purpose.codePath, form, resend))</div>
            """
    }

    /// The act of the form that has the mail sent again.
    public static let resending = "resend"
}
