public import HTTP

/// A page: a value with all that it shows.
public protocol HTMLPage: Sendable {
    /// The whole document.
    func html(in language: PageLanguage) -> HTML
}

/// Why a form counted for nothing.
public enum StaleForm: Hashable, Sendable {
    /// Its token was stale.
    case pressAgain
    /// The browser has not shown the cookie of the page, not even after the form was shown again.
    case cookiesBlocked

    func notice(_ words: any Words) -> Notice {
        switch self {
        case .pressAgain: Notice(kind: .note, text: "\(words.pressAgain)")
        case .cookiesBlocked: Notice(kind: .error, text: "\(words.cookiesBlocked)")
        }
    }
}

extension HTMLPage {
    /// The page as a response with the fields of `PageHeaders`. `PagePath.place` completes its body.
    ///
    /// - Parameter targets: where the answers to the forms of this page may redirect to: the validated redirect URI of the
    ///   request, and the hops that its client registered.
    public func response(
        _ status: Status, in language: PageLanguage, submittingTo targets: [PageURL] = []
    ) -> Response {
        Response(
            status: status, fields: PageHeaders.fields(in: language, submittingTo: targets),
            body: html(in: language).marked)
    }
}

/// The app (a client in the words of OAuth) for which a page is shown, or the service.
public struct PageApp: Hashable, Sendable {
    /// The registered name.
    public var name: String
    /// Whether this is the service, of which a page shows the logo and no name.
    public var isService = false
    /// Its picture, served by this server.
    public var logo: PagePath?
    /// Its color.
    public var accent: AccentColor?
    /// The way back to it: its redirect URI with `error=access_denied`, its `initiate_login_uri` or its `client_uri`.
    public var back: PageURL?
    /// Its privacy policy (`policy_uri`).
    public var policy: PageURL?
    /// Its terms of service (`tos_uri`).
    public var terms: PageURL?
    /// A page with help.
    public var support: PageURL?
    /// A mailbox for questions.
    public var supportEmail: String?

    /// An app.
    public init(
        name: String, logo: PagePath? = nil, accent: AccentColor? = nil, back: PageURL? = nil, policy: PageURL? = nil,
        terms: PageURL? = nil, support: PageURL? = nil, supportEmail: String? = nil
    ) {
        self.name = name
        self.logo = logo
        self.accent = accent
        self.back = back
        self.policy = policy
        self.terms = terms
        self.support = support
        self.supportEmail = supportEmail
    }

    /// The app without a way back to `url`, because a button of the page leads there.
    func exceptBack(to url: PageURL?) -> PageApp {
        var app = self
        if back == url { app.back = nil }
        return app
    }
}

/// The hidden fields of every form on a page.
public struct FormState: Sendable {
    /// The token against cross-site request forgery, for each path to which a form of the page submits.
    public var csrf: @Sendable (PagePath) -> String
    /// The sealed authorization request; nil on the account pages.
    public var request: String?
    /// Whether the form is shown again, because its token was stale.
    public var isShownAgain = false

    /// One token for every path.
    public init(csrf: String, request: String? = nil) { self.init(request: request) { _ in csrf } }

    /// A token for each path.
    public init(request: String? = nil, csrf: @escaping @Sendable (PagePath) -> String) {
        self.csrf = csrf
        self.request = request
    }
}
