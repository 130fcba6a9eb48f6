public import HTTP

/// A page of the admins' console: what it shows, as blocks from the top down.
public struct ConsolePage: HTMLPage {
    /// The sections of the console, in the order of the navigation.
    public enum Tab: String, CaseIterable, Sendable {
        case find = "Find"
        case users = "Users"
        case now = "Now"
        case logins = "Logins"
        case clients = "Clients"
        case settings = "Settings"
        case keys = "Keys"
        case events = "Events"
        case deliveries = "Deliveries"
        case bulk = "Bulk"
    }

    /// What stands above the title.
    public struct Header: Sendable {
        /// The name of the admin key.
        public var keyName: String
        /// Its scope.
        public var scope: String

        /// The header for an admin key.
        public init(keyName: String, scope: String) {
            self.keyName = keyName
            self.scope = scope
        }
    }

    /// The admin of the session; nil: none.
    public var header: Header?
    /// The hidden fields of forms.
    public var form: FormState?
    /// The section that the page belongs to.
    public var tab: Tab?
    /// The title of the window.
    public var title: String
    /// The heading, if it is not the title.
    public var heading: ConsoleText?
    /// The sentence below.
    public var lead: ConsoleText?
    /// What was done, or what went wrong.
    public var notice: (look: ConsoleLook, text: ConsoleText)?
    /// The content.
    public var blocks: [ConsoleBlock]
    /// After how many seconds the browser loads the page again; nil: never.
    public var reloadsAfter: Int?

    /// A page.
    public init(
        header: Header?, form: FormState?, tab: Tab?, title: String, heading: ConsoleText? = nil,
        lead: ConsoleText? = nil,
        notice: (look: ConsoleLook, text: ConsoleText)? = nil, blocks: [ConsoleBlock], reloadsAfter: Int? = nil
    ) {
        self.header = header
        self.form = form
        self.tab = tab
        self.title = title
        self.heading = heading
        self.lead = lead
        self.notice = notice
        self.blocks = blocks
        self.reloadsAfter = reloadsAfter
    }

    /// The page as a response. The console is in English, whatever the browser prefers.
    public func response(_ status: Status = .ok) -> Response {
        var response = response(status, in: .english)
        if let reloadsAfter { response.fields.append("Refresh", "\(reloadsAfter)") }
        return response
    }

    /// The title of the page without a section.
    public static let ownTitle = "Sojourn console"

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        """
        <!doctype html>
        <html lang="en" dir="ltr">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex">
        <title>\(DisplayName(title).text)\(title == Self.ownTitle ? "" : " · \(Self.ownTitle)")</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="\(PageAsset.style.path)">
        <link rel="stylesheet" href="\(PageAsset.consoleStyle.path)">
        <script type="module" src="\(PageAsset.page.path)"></script>
        <script type="module" src="\(PageAsset.console.path)"></script>
        </head>
        \(header == nil ? "<body class=\"console entry\">" : "<body class=\"console\" data-account=\"\">" as HTML)
        \(header.map(top))<main>
        <h1 id="content">\(heading?.html ?? "\(DisplayName(title).text)")</h1>
        \(notice.map { Self.notice($0.look, $0.text) })\(lead.map { "<p class=\"lead\">\($0.html)</p>\n" as HTML })\
        \(blocks.map { $0.html(form) })</main>
        </body>
        </html>

        """
    }

    private static func notice(_ look: ConsoleLook, _ text: ConsoleText) -> HTML {
        let kind: Notice.Kind =
            switch look {
            case .good: .success
            case .plain: .note
            case .bad: .error
            }
        return Notice(kind: kind, text: text.html).html
    }

    private func top(_ header: Header) -> HTML {
        let tabs = Tab.allCases.map { tab -> HTML in
            """
            <a href="\(tab.path)"\(attribute: "aria-current", tab == self.tab ? "page" : nil)>\(tab.rawValue)</a>

            """
        }
        return """
            <a class="skip" href="#content">Skip to the content</a>
            <header class="bar"><nav aria-label="Sections"><span class="logo">Sojourn</span>
            \(tabs)</nav>
            <div class="key"><span><strong>\(DisplayName(header.keyName, max: 30))</strong> \
            <span class="badge plain">\(header.scope)</span></span>
            \(form.map { Controls.form(.consoleLeave, $0, "<button class=\"link\">Leave</button>") })</div></header>

            """
    }
}

extension ConsolePage.Tab {
    /// The path of the section.
    public var path: PagePath {
        switch self {
        case .find: .console
        case .users: .consoleUsers
        case .now: .consoleNow
        case .logins: .consoleLogins
        case .clients: .consoleClients
        case .settings: .consoleSettings
        case .keys: .consoleKeys
        case .events: .consoleEvents
        case .deliveries: .consoleDeliveries
        case .bulk: .consoleBulk
        }
    }
}

extension PagePath {
    /// The first page of the console.
    public static let console = PagePath("/console")
    /// Takes an admin key, or the token of a link.
    public static let consoleEnter = PagePath("/console/enter")
    /// Ends the stay in the console.
    public static let consoleLeave = PagePath("/console/leave")
    /// Takes whatever is searched for.
    public static let consoleFind = PagePath("/console/find")
    /// The users.
    public static let consoleUsers = PagePath("/console/users")
    /// A user that is not there yet.
    public static let consoleNewUser = PagePath("/console/new-user")
    /// What happens at present.
    public static let consoleNow = PagePath("/console/now")
    /// The logins with a phone.
    public static let consoleLogins = PagePath("/console/logins")
    /// The clients.
    public static let consoleClients = PagePath("/console/clients")
    /// A client that is not there yet.
    public static let consoleNewClient = PagePath("/console/new-client")
    /// The session settings.
    public static let consoleSettings = PagePath("/console/settings")
    /// Signing keys and admin keys.
    public static let consoleKeys = PagePath("/console/keys")
    /// What is sent to other programs.
    public static let consoleDeliveries = PagePath("/console/deliveries")
    /// Sessions of many users.
    public static let consoleBulk = PagePath("/console/bulk")
    /// The audit trail.
    public static let consoleEvents = PagePath("/console/events")
    /// The sessions.
    public static let consoleSessions = PagePath("/console/sessions")
}
