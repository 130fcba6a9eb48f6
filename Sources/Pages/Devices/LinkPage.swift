/// What a camera or a browser without the app shows for the code of a login: it explains, and approves nothing.
public struct LinkPage: HTMLPage {
    /// A page that explains.
    public init() {}

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.linkTitle,
            ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.linkTitle)</h1>
                <p class="lead">\(words.linkBody)</p>
                <p class="warning">\(words.linkWarning)</p>
                """
        ).html
    }
}

/// What a camera or a browser without the app shows for the code of an invitation: it explains, and approves nothing.
public struct InvitationPage: HTMLPage {
    /// A page that explains.
    public init() {}

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.invitationTitle, ways: [],
            content: """
                <h1>\(words.invitationTitle)</h1>
                <p class="lead">\(words.invitationBody)</p>
                <p class="warning">\(words.invitationWarning)</p>
                """
        ).html
    }
}

/// What a browser shows that the app has sent back to a login which did not begin in it, or which is over.
public struct OtherBrowserPage: HTMLPage {
    /// A page that leads nowhere by itself.
    public init() {}

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: words.otherBrowserTitle, isError: true,
            ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.otherBrowserTitle)</h1>
                <p class="lead">\(words.otherBrowserBody)</p>
                """
        ).html
    }
}
