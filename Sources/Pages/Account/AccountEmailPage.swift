/// Changes the mailbox of the account: the page asks for the new one, and then for the code that was sent there. Until the code
/// comes, nothing has changed.
public struct AccountEmailPage: HTMLPage {
    /// What the page asks for.
    public enum Step: Hashable, Sendable {
        /// The new mailbox; `typed` is what was typed before.
        case mailbox(typed: String)
        /// The code that was sent to that mailbox; empty: the page does not name it.
        case code(sentTo: String?)
    }

    /// Name and navigation.
    public var header: AccountHeader
    /// The mailbox of the account; nil: it has none.
    public var current: String?
    /// What the page asks for.
    public var step: Step
    /// What happened.
    public var message: VerificationMessage?

    /// A page for a new mailbox.
    public init(header: AccountHeader, current: String?, step: Step, message: VerificationMessage? = nil) {
        self.header = header
        self.current = current
        self.step = step
        self.message = message
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let notice = message?.notice(words)
        return header.page(
            .security, language, title: words.mailboxTitle(.email), isError: notice?.kind == .error,
            content: "<section>\(content(words, notice))</section>")
    }

    private func content(_ words: any Words, _ notice: Notice?) -> HTML {
        switch step {
        case .mailbox(let typed):
            let present: HTML? = current.map {
                """
                <dl class="box"><dt>\(words.mailboxNow)</dt><dd>\(DisplayName($0, max: 120))</dd></dl>

                """
            }
            let fields = MailboxPage.fields(words, label: words.newMailbox, typed, message)
            return """
                <p class="lead">\(words.mailboxBody(.email))</p>
                \(notice?.html)\(present)\(Controls.form(.accountEmail, header.form, fields))
                """
        case .code(let mailbox):
            return CodePage(
                form: header.form, purpose: .email, email: mailbox, again: .accountEmail, message: message
            ).content(words) + "<p>\(Controls.link(PagePath("/account/email", ["new": "1"]), words.otherMailbox))</p>\n"
        }
    }
}
