/// The question whether to sign out: the request came without an ID token of this browser's session.
public struct LogoutPage: HTMLPage {
    /// The app that asks.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The name of the account.
    public var account: String

    /// A question.
    public init(app: PageApp?, form: FormState, account: String) {
        self.app = app
        self.form = form
        self.account = account
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let stay = app?.back ?? PageURL(.account)
        var shown = app
        // The button says it.
        shown?.back = nil
        return PageFrame(
            words: words, language: language, title: words.signOut, app: shown,
            content: """
                <h1>\(words.signOutQuestion)</h1>
                <p class="lead">\(words.signOutBody(DisplayName(account)))</p>
                \(Controls.form(.logout, form, Controls.button(words.signOut)))\
                \(Controls.linkButton(stay, "\(words.staySignedIn)", .secondary))
                """
        ).html
    }
}

/// The browser is signed out.
public struct SignedOutPage: HTMLPage {
    /// The app to which the browser may go back.
    public var app: PageApp?
    /// Where a new login begins.
    public var signIn: PageURL?
    /// Whether the browser was signed out because the phone was that had let it in.
    public var endedWithPhone: Bool

    /// A signed-out page.
    public init(app: PageApp? = nil, signIn: PageURL? = nil, endedWithPhone: Bool = false) {
        self.app = app
        self.signIn = signIn
        self.endedWithPhone = endedWithPhone
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.signedOut, app: app,
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(words.signedOut)</h1>
                <p class="lead">\(endedWithPhone ? words.signedOutWithPhone : words.signedOutBody)</p>
                \(Controls.linkButton(signIn ?? PageURL(.account), "\(words.signIn)", .secondary))
                """
        ).html
    }
}
