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
    /// What has ended.
    public var ending: Ending

    /// What has ended for the browser.
    public enum Ending: Sendable {
        /// Its session, at its user's wish.
        case session
        /// Its session, with that of the phone that had let it in.
        case withPhone
        /// Nothing: it had no session.
        case nothing
    }

    /// A signed-out page.
    public init(app: PageApp? = nil, signIn: PageURL? = nil, ending: Ending = .session) {
        self.app = app
        self.signIn = signIn
        self.ending = ending
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let (title, body) =
            switch ending {
            case .session: (words.signedOut, words.signedOutBody)
            case .withPhone: (words.signedOut, words.signedOutWithPhone)
            case .nothing: (words.notSignedIn, words.notSignedInBody)
            }
        return PageFrame(
            words: words, language: language, title: title, app: app,
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(title)</h1>
                <p class="lead">\(body)</p>
                \(Controls.linkButton(signIn ?? PageURL(.account), "\(words.signIn)", .secondary))
                """
        ).html
    }
}
