/// What the account pages have in common: the name of the account, the way to the other pages, and out.
public struct AccountHeader: Sendable {
    /// The name of the account.
    public var name: String
    /// The hidden fields.
    public var form: FormState
    /// The events of the session, which a page follows whose session depends on a phone; nil: the page does not.
    public var events: PagePath?
    /// The brand of the service; nil: it has none.
    public var brand: PageApp?

    /// A header.
    public init(name: String, form: FormState, events: PagePath? = nil, brand: PageApp? = nil) {
        self.name = name
        self.form = form
        self.events = events
        self.brand = brand
    }

    enum Tab: CaseIterable {
        case devices, profile, security, activity

        var path: PagePath {
            switch self {
            case .devices: .account
            case .profile: .accountProfile
            case .security: .accountSecurity
            case .activity: .accountActivity
            }
        }

        func title(_ words: any Words) -> String {
            switch self {
            case .devices: words.devices
            case .profile: words.profile
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
    ///
    /// - Parameter title: the title of a page below that of the tab.
    func page(
        _ tab: Tab, _ language: PageLanguage, title: String? = nil, isError: Bool = false, notice: Notice? = nil,
        modules: [PageAsset] = [],
        content: HTML
    ) -> HTML {
        let words = language.words
        let title = title ?? tab.title(words)
        return PageFrame(
            words: words, language: language, title: title, app: brand, width: .wide, isError: isError,
            modules: modules + (events == nil ? [] : [.account]), account: tab.path,
            navigation: navigation(tab, words),
            content: """
                <h1>\(title)</h1>
                \(notice?.html)\(content)
                """
        ).html
    }
}
