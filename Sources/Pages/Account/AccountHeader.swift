/// What the account pages have in common: the name of the account, the way to the other pages, and out.
public struct AccountHeader: Sendable {
    /// The name of the account.
    public var name: String
    /// The hidden fields.
    public var form: FormState
    /// The events of the session, which a page follows whose session depends on a phone; nil: the page does not.
    public var events: PagePath?

    /// A header.
    public init(name: String, form: FormState, events: PagePath? = nil) {
        self.name = name
        self.form = form
        self.events = events
    }

    enum Tab: CaseIterable {
        case devices, security, activity

        var path: PagePath {
            switch self {
            case .devices: .account
            case .security: .accountSecurity
            case .activity: .accountActivity
            }
        }

        func title(_ words: any Words) -> String {
            switch self {
            case .devices: words.devices
            case .security: words.security
            case .activity: words.activity
            }
        }
    }

    func navigation(_ current: Tab, _ words: any Words) -> HTML {
        let name = DisplayName(name)
        let tabs = Tab.allCases.map { tab -> HTML in
            """
            <a href="\(tab.path)"\(attribute: "aria-current", tab == current ? "page" : nil)>\(tab.title(words))</a>

            """
        }
        let header: HTML =
            events.map { path in
                "<header class=\"top\" data-events=\"\(path)\" data-logout=\"\(PagePath.logout)\">"
            } ?? "<header class=\"top\">"
        return """
            \(header)<div class="account"><span class="avatar" aria-hidden="true">\(name.initial)</span>
            <span class="who">\(name)</span>
            \(Controls.form(.logout, form, "<button class=\"link\">\(words.signOut)</button>"))</div>
            <nav aria-label="\(words.accountNavigation)">\(tabs)</nav></header>

            """
    }

    /// A whole page of the account.
    func page(
        _ tab: Tab, _ language: PageLanguage, isError: Bool = false, notice: Notice? = nil, modules: [PageAsset] = [],
        content: HTML
    ) -> HTML {
        let words = language.words
        return PageFrame(
            words: words, language: language, title: tab.title(words), width: .wide, isError: isError,
            modules: modules + (events == nil ? [] : [.account]), account: tab.path,
            navigation: navigation(tab, words),
            content: """
                <h1>\(tab.title(words))</h1>
                \(notice?.html)\(content)
                """
        ).html
    }
}
