/// An error that no redirect can carry to the app, because the app or its redirect URI is unknown, or because the request
/// belongs to no app.
public struct ErrorPage: HTMLPage {
    /// What is wrong.
    public enum Kind: CaseIterable, Hashable, Sendable {
        /// No client has this id.
        case unknownClient
        /// The redirect URI is not registered, or is missing.
        case unregisteredRedirect
        /// The request is malformed, or too large.
        case invalidRequest
        /// A form was submitted by another site.
        case otherSite
        /// There is nothing at this address.
        case notFound
        /// Too many requests from this address.
        case tooManyRequests
        /// The server is overloaded or stopping.
        case serverBusy
        case serverFailed
    }

    /// What is wrong.
    public var kind: Kind
    /// The app, if it is known.
    public var app: PageApp?
    /// What the developers of the app need to know, as the API would say it in English.
    public var detail: String?
    /// The id of the request in the log.
    public var requestID: String?
    /// Where the login can begin anew.
    public var startOver: PageURL?

    /// An error page.
    public init(
        _ kind: Kind, app: PageApp? = nil, detail: String? = nil, requestID: String? = nil, startOver: PageURL? = nil
    ) {
        self.kind = kind
        self.app = app
        self.detail = detail
        self.requestID = requestID
        self.startOver = startOver
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let hasWay = startOver != nil || app?.back != nil
        return PageFrame(
            words: words, language: language, title: words.errorTitle, app: app,
            ways: hasWay ? [] : [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.errorTitle)</h1>
                <p class="lead">\(sentence(words))</p>
                \(hasWay ? nil : "<p>\(words.yourPart)</p>\n")\(details(words))\
                \(startOver.map { Controls.linkButton($0, "\(words.startOver)") + "\n" })
                """
        ).html
    }

    private func sentence(_ words: any Words) -> String {
        switch kind {
        case .unknownClient: words.unknownClient
        case .unregisteredRedirect: words.unregisteredRedirect
        case .invalidRequest: words.invalidRequest
        case .otherSite: words.otherSite
        case .notFound: words.notFound
        case .tooManyRequests: words.tooManyRequests
        case .serverBusy: words.serverBusy
        case .serverFailed: words.serverFailed
        }
    }

    private func details(_ words: any Words) -> HTML? {
        guard detail != nil || requestID != nil else { return nil }
        return Controls.details(detail, requestID, words)
    }
}

/// The page that has taken too long: its sealed request has expired.
public struct ExpiredPage: HTMLPage {
    /// The app.
    public var app: PageApp?
    /// Where the login goes on: `initiate_login_uri`, or the redirect URI with `error=access_denied`.
    public var next: PageURL?

    /// An expired page.
    public init(app: PageApp?, next: PageURL?) {
        self.app = app
        self.next = next
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let label: HTML =
            app?.back == next ? app.map { words.back(to: DisplayName($0.name, max: 30)) } ?? "" : "\(words.startOver)"
        let way: HTML = next.map { Controls.linkButton($0, label) } ?? "<p>\(words.closeThisWindow)</p>"
        return PageFrame(
            words: words, language: language, title: words.tookAWhile, app: app?.exceptBack(to: next),
            content: """
                <h1>\(words.tookAWhile)</h1>
                <p class="lead">\(words.tookAWhileBody)</p>
                \(way)
                """
        ).html
    }
}

/// The answer 421 to a page that was asked for without TLS and not on a loopback address.
public struct NeedsTLSPage: HTMLPage {
    /// This page over `https`, if the server knows its public address.
    public var secure: PageURL?

    /// A page that says what is missing.
    public init(secure: PageURL? = nil) { self.secure = secure }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.needsTLSTitle,
            content: """
                <h1>\(words.needsTLSTitle)</h1>
                <p class="lead">\(words.needsTLSBody)</p>
                \(secure.map { Controls.linkButton($0, "\(words.goOn)") + "\n" })\
                <details><summary>\(words.forDevelopers)</summary>
                <p>\(words.needsTLSForOperators) <code>server.tls_certificate</code> <code>X-Forwarded-Proto</code></p>
                </details>
                """
        ).html
    }
}
