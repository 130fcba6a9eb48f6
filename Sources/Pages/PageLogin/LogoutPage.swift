/// The question whether to sign out: the request came without an ID token of this browser's session.
public struct LogoutPage: HTMLPage {
    /// The app that asks.
    public var app: PageApp?
    /// The hidden fields.
    public var form: FormState
    /// The name of the account.
    public var account: String
    /// Why the browser will not go back to the app.
    public var fault: RequestFault?

    /// A question.
    public init(app: PageApp?, form: FormState, account: String, fault: RequestFault? = nil) {
        self.app = app
        self.form = form
        self.account = account
        self.fault = fault
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let stay = app?.back ?? PageURL(.account)
        return PageFrame(
            words: words, language: language, title: words.signOut, app: app?.exceptBack(to: stay), account: .logout,
            content: """
                <h1>\(words.signOutQuestion)</h1>
                <p class="lead">\(words.signOutBody(DisplayName(account)))</p>
                \(Controls.form(.logout, form, Controls.button(words.signOut)))\
                \(Controls.linkButton(stay, "\(words.staySignedIn)", .secondary))
                \(fault?.html(words))
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
    /// Why the browser does not go back to the app.
    public var fault: RequestFault?

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
    public init(
        app: PageApp? = nil, signIn: PageURL? = nil, ending: Ending = .session, fault: RequestFault? = nil
    ) {
        self.app = app
        self.signIn = signIn
        self.ending = ending
        self.fault = fault
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
        let again = signIn ?? PageURL(.account)
        return PageFrame(
            words: words, language: language, title: title, app: app?.exceptBack(to: again),
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(title)</h1>
                <p class="lead">\(body)</p>
                \(Controls.linkButton(again, "\(words.signIn)", .secondary))
                \(fault?.html(words))
                """
        ).html
    }
}

/// A fault in an app's request for a logout, which keeps the browser from going back to the app.
public struct RequestFault: Sendable {
    /// What the developers of the app need to know, as the API would say it in English.
    public var detail: String
    /// The id of the request in the log.
    public var requestID: String

    /// A fault.
    public init(detail: String, requestID: String) {
        self.detail = detail
        self.requestID = requestID
    }

    func html(_ words: any Words) -> HTML {
        "<p>\(words.noWayBackToApp)</p>\n" + Controls.details(detail, requestID, words)
    }
}
