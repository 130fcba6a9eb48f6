/// The page that an app opens in a browser to sign it in (AppLogin). The link is `/login/app#NONCE`: a fragment is sent to no
/// server and stands in no log. `page.js` sends it; without script the field is there to paste it into. The page asks before it
/// signs in, because a link that was sent to a stranger must not let that person into the sender's account.
public struct AppLoginPage: HTMLPage {
    /// What the page shows.
    public enum State: Hashable, Sendable {
        /// The field for the nonce.
        case opened
        /// The field for the nonce: the form counted for nothing.
        case stale(StaleForm)
        /// The nonce is unknown, used or too old.
        case tooLate
        /// The question whether to sign in to that account.
        case question(account: String)
        /// The browser is signed in to that account already, and the app to another one.
        case otherAccount(account: String)
    }

    /// The app for which the browser is signed in, if it is known.
    public var app: PageApp?
    /// The hidden fields: on the question the nonce is the request.
    public var form: FormState
    /// What the page shows.
    public var state: State
    /// What was typed into the field.
    public var typed: String

    /// A page.
    public init(app: PageApp? = nil, form: FormState, state: State, typed: String = "") {
        self.app = app
        self.form = form
        self.state = state
        self.typed = typed
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.appLoginTitle, app: app,
            isError: notice(words)?.kind == .error, account: showsAccount ? .loginApp : nil,
            ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.appLoginTitle)</h1>
                \(content(words))
                """
        ).html
    }

    private var showsAccount: Bool {
        switch state {
        case .question, .otherAccount: true
        case .opened, .stale, .tooLate: false
        }
    }

    private func notice(_ words: any Words) -> Notice? {
        switch state {
        case .tooLate: Notice(kind: .error, text: "\(words.appLoginTooLate)")
        case .stale(let stale): stale.notice(words)
        case .opened, .question, .otherAccount: nil
        }
    }

    private func content(_ words: any Words) -> HTML {
        switch state {
        case .opened, .stale, .tooLate:
            let token = TextField(
                field: .token, label: words.appLoginCode, value: typed, autocomplete: "one-time-code",
                hint: words.appLoginCodeHint)
            let fields: HTML = "\(token.html)\(Controls.button(words.appLoginContinue))"
            return """
                <p class="lead">\(words.appLoginBody)</p>
                \(notice(words)?.html)\(Controls.form(.loginApp, form, fields, id: "app-login"))
                """
        case .question(let account):
            return """
                <p class="lead">\(words.appLoginQuestion(DisplayName(account)))</p>
                <p>\(words.appLoginWarning)</p>
                \(Controls.form(.loginApp, form, Controls.button(words.appLoginContinue)))
                """
        case .otherAccount(let account):
            return """
                <p class="lead">\(words.appLoginOther(DisplayName(account)))</p>
                \(Controls.linkButton(PageURL(.logout), "\(words.signOut)", .secondary))
                """
        }
    }
}
