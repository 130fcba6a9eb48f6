/// The page to which a link of a mail leads: `/v#TOKEN`, `/cancel#TOKEN`, `/undo#TOKEN`. A fragment is sent to no server and stands
/// in no log; `page.js` moves it into the form, and without script there is a field to paste the link into. Programs follow
/// the links in mails and press the first button, so that a box has to be ticked before anything is undone.
public struct MailLinkPage: HTMLPage {
    /// What the link is for.
    public enum Link: CaseIterable, Hashable, Sendable {
        /// It proves the mailbox in the browser that had the mail sent.
        case proof
        /// It ends what was begun with the mailbox.
        case cancel
        /// It takes back a change of the mailbox, or the deletion of an account.
        case undo

        /// Where the form with the link goes.
        public var path: PagePath {
            switch self {
            case .proof: .proofLink
            case .cancel: .cancelLink
            case .undo: .undoLink
            }
        }
    }

    /// What the page shows.
    public enum State: Hashable, Sendable {
        /// The field for the link.
        case opened
        /// The field for the link: the form counted for nothing.
        case stale(StaleForm)
        case tooManyAttempts(seconds: Int)
        /// The server cannot answer at the moment.
        case unavailable
        /// The link is unknown, used or expired.
        case over
        /// A later mail has taken the place of this one.
        case replaced
        /// The browser is none that had the mail sent: the code is to be typed where it was.
        case elsewhere(MailboxPurpose)
        /// The question whether to end what was begun.
        case cancel(MailboxPurpose, place: String?, askedAt: Int64)
        /// The question whether to take back the mailbox.
        case takeBack(old: String, new: String?)
        /// The question whether to keep the account, which is to be deleted at that time, in seconds since 1970.
        case keepAccount(deletedAt: Int64)
    }

    /// What the link is for.
    public var link: Link
    /// The hidden fields: in a question the token is the request.
    public var form: FormState
    /// What the page shows.
    public var state: State
    /// What was typed into the field.
    public var typed: String

    /// A page.
    public init(_ link: Link, form: FormState, state: State, typed: String = "") {
        self.link = link
        self.form = form
        self.state = state
        self.typed = typed
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let notice = notice(words)
        let title = title(words)
        return PageFrame(
            words: words, language: language, title: title, isError: notice?.kind == .error || state == .over,
            ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(title)</h1>
                \(content(words, notice))
                """
        ).html
    }

    private func notice(_ words: any Words) -> Notice? {
        switch state {
        case .stale(let stale): stale.notice(words)
        case .tooManyAttempts(let seconds): Notice(kind: .error, text: "\(words.tooManyAttempts(seconds: seconds))")
        case .unavailable: Notice(kind: .error, text: "\(words.serverBusy)")
        case .opened, .over, .replaced, .elsewhere, .cancel, .takeBack, .keepAccount: nil
        }
    }

    private func title(_ words: any Words) -> String {
        switch state {
        case .opened, .stale, .tooManyAttempts, .unavailable: words.mailLinkTitle(link)
        case .over: words.resetOverTitle
        case .replaced: words.linkReplaced
        case .elsewhere: words.linkElsewhere
        case .cancel: words.mailLinkTitle(.cancel)
        case .takeBack: words.takeBackTitle
        case .keepAccount: words.keepAccountTitle
        }
    }

    private func content(_ words: any Words, _ notice: Notice?) -> HTML {
        switch state {
        case .opened, .stale, .tooManyAttempts, .unavailable:
            let token = TextField(
                field: .token, label: words.resetLink, value: typed, autocomplete: "one-time-code",
                hint: words.resetLinkHint)
            return """
                <p class="lead">\(words.mailLinkBody(link))</p>
                \(notice?.html)\
                \(Controls.form(link.path, form, "\(token.html)\(Controls.button(words.goOn))", id: formID))
                """
        case .over: return "<p class=\"lead\">\(words.linkOverBody)</p>\n"
        case .replaced: return "<p class=\"lead\">\(words.linkReplacedBody)</p>\n"
        case .elsewhere(let purpose):
            return """
                <p class="lead">\(words.linkElsewhereBody)</p>
                <details class="ask"><summary>\(words.notAskedFor)</summary>
                <p>\(words.cancelBody(purpose))</p>
                \(cancelForm(words))</details>

                """
        case .cancel(let purpose, let place, let askedAt):
            return """
                <p class="lead">\(words.cancelBody(purpose))</p>
                <dl class="box">\(place.map { "<dt>\(words.place)</dt><dd>\(DisplayName($0))</dd>\n" as HTML })\
                <dt>\(words.askedAt)</dt><dd>\(Controls.time(askedAt, words))</dd></dl>
                \(cancelForm(words))
                """
        case .takeBack(let old, let new):
            let present: HTML? = new.map {
                "<dt>\(words.mailboxNow)</dt><dd>\(DisplayName($0, max: 120))</dd>\n"
            }
            return """
                <p class="lead">\(words.takeBackBody)</p>
                <dl class="box"><dt>\(words.mailboxBefore)</dt><dd>\(DisplayName(old, max: 120))</dd>
                \(present)</dl>
                <p>\(words.takeBackWarning)</p>
                \(question(words.takeBackBox, words.takeBack, .danger))
                """
        case .keepAccount(let deletedAt):
            return """
                <p class="lead">\(words.keepAccountBody)</p>
                <dl class="box"><dt>\(words.deletedAt)</dt><dd>\(Controls.time(deletedAt, words))</dd></dl>
                \(question(words.keepAccountBox, words.keepAccount, .primary))
                """
        }
    }

    /// The name by which `page.js` finds the form. What a link undoes is shown at once, because showing it changes nothing.
    private var formID: String { link == .proof ? "proof-link" : "act-link" }

    private func cancelForm(_ words: any Words) -> HTML {
        Controls.form(
            .cancelLink, form,
            """
            \(Controls.checkbox(.confirmed, words.cancelBox, isRequired: true))
            \(Controls.button(words.cancelIt, .danger))
            """)
    }

    private func question(_ box: String, _ button: String, _ look: Controls.Look) -> HTML {
        Controls.form(
            link.path, form,
            """
            \(Controls.checkbox(.confirmed, box, isRequired: true))
            \(Controls.button(button, look))
            """)
    }
}

/// What a link of a mail has done.
public struct MailLinkDonePage: HTMLPage {
    /// What was done.
    public enum Act: CaseIterable, Hashable, Sendable {
        /// What was begun with the mailbox is over.
        case cancelled
        /// The former mailbox is that of the account again.
        case takenBack
        /// The account stays.
        case accountKept
    }

    /// What was done.
    public var act: Act

    /// A confirmation.
    public init(_ act: Act) { self.act = act }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.mailLinkDone(act),
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(words.mailLinkDone(act))</h1>
                <p class="lead">\(words.mailLinkDoneBody(act))</p>
                \(Controls.linkButton(PageURL(.account), "\(words.yourAccount)", .secondary))
                """
        ).html
    }
}
