/// What surrounds the content of every page: head, brand, card, footer.
struct PageFrame {
    enum Width {
        /// One column: login and its neighbors.
        case card
        /// The account pages.
        case wide
    }

    let words: any Words
    let language: PageLanguage
    /// The title of the window, without the app.
    let title: String
    var app: PageApp?
    var width = Width.card
    /// Whether the page shows an error, which the title says first, for screen readers.
    var isError = false
    /// More modules of script.
    var modules: [PageAsset] = []
    /// The page on which the browser begins anew when it comes back to this one, which shows something of an account: the
    /// user may have signed out meanwhile.
    var account: PagePath?
    /// Whether the page loads itself anew every few seconds in a browser without script.
    var renewsWithoutScript = false
    /// What stands above the card: the navigation of the account.
    var navigation: HTML?
    /// What stands under the content: where the page leads besides its forms.
    var ways: [HTML] = []
    let content: HTML

    var html: HTML {
        """
        <!doctype html>
        <html lang="\(language.tag)" dir="\(language.direction)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex">
        <title>\(windowTitle)</title>
        \(icon)
        <link rel="stylesheet" href="\(PageAsset.style.path)">
        \(renewsWithoutScript ? Self.renewal : nil)\(app?.accent.map(Self.accent))\(scripts)</head>
        \(body)
        \(width == .wide ? brand : nil)\(navigation)<main>
        \(width == .card ? brand : nil)\(content)
        \(footer)</main>
        \(legal)</body>
        </html>

        """
    }

    private var body: HTML {
        let look = width == .wide ? "wide" : nil
        return account.map { "<body\(attribute: "class", look) data-account=\"\($0)\">" }
            ?? "<body\(attribute: "class", look)>"
    }

    private var windowTitle: String {
        let name = app.flatMap { $0.isService ? nil : " · " + DisplayName($0.name).text } ?? ""
        return (isError ? words.errorInTitle(title) : title) + name
    }

    private var icon: HTML {
        guard let logo = app?.logo else { return "<link rel=\"icon\" href=\"data:,\">" }
        return "<link rel=\"icon\" href=\"\(logo)\">"
    }

    /// It is shorter than the ten seconds for which a QR code is shown.
    private static let renewal: HTML =
        "<noscript><meta http-equiv=\"refresh\" content=\"9\"></noscript>\n"

    private static func accent(_ color: AccentColor) -> HTML { "<link rel=\"stylesheet\" href=\"\(color.path)\">\n" }

    private var scripts: [HTML] {
        ([.page] + modules).map { "<script type=\"module\" src=\"\($0.path)\"></script>\n" }
    }

    private var brand: HTML? {
        guard let app, !app.isService || app.logo != nil else { return nil }
        let name = DisplayName(app.name)
        let picture: HTML =
            app.logo.map { "<img src=\"\($0)\" alt=\"\" width=\"40\" height=\"40\">" }
            ?? "<span class=\"mark\" aria-hidden=\"true\">\(name.initial)</span>"
        return "<p class=\"brand\">\(picture)\(app.isService ? nil : "\(name)" as HTML)</p>\n"
    }

    private var footer: HTML? {
        let links = (ways + [app?.back.map { url in "<a href=\"\(url)\">\(backWords)</a>" }]).compactMap(\.self)
        return links.isEmpty ? nil : "<p class=\"ways\">\(links.map { "<span>\($0)</span> " as HTML })</p>\n"
    }

    private var backWords: HTML { words.back(to: DisplayName(app?.name ?? "", max: 30)) }

    private var legal: HTML? {
        let links: [(PageURL, String)?] = [
            app?.policy.map { ($0, words.privacyPolicy) }, app?.terms.map { ($0, words.termsOfService) },
            app?.support.map { ($0, words.help) },
        ]
        let mailbox = app?.supportEmail.map { "<span>\($0)</span>" as HTML }
        let found =
            links.compactMap(\.self).map { "<a href=\"\($0)\" rel=\"noreferrer\">\($1)</a> " as HTML }
            + [mailbox].compactMap(\.self)
        return found.isEmpty ? nil : "<footer>\(found)</footer>\n"
    }
}
