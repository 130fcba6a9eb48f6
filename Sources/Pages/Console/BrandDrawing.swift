/// The top of a login page as a brand makes it, on a light and on a dark ground.
public struct BrandDrawing: Sendable {
    /// What the page shows.
    public var app: PageApp

    /// The drawing of a brand.
    public init(_ app: PageApp) { self.app = app }

    /// The colors of a page.
    private struct Ground {
        let name: String
        let card, text, link: AccentColor
    }

    /// The color of pages without a brand, which the style sheet has.
    private static let plain = AccentColor("#1f5fbf")

    var html: HTML {
        guard let accent = app.accent ?? Self.plain else { return HTML() }
        let grounds = [
            Ground(name: "light", card: .white, text: .black, link: accent.links.light),
            Ground(name: "dark", card: .darkGround, text: .white, link: accent.links.dark),
        ]
        return "<div class=\"brands\">\(grounds.map { card($0, accent) })</div>\n"
    }

    private func card(_ ground: Ground, _ accent: AccentColor) -> HTML {
        let name = DisplayName(app.name, max: 24)
        let links = [app.policy, app.terms, app.support].compactMap(\.self).count
        return """
            <figure class="drawing"><svg viewBox="0 0 320 168" role="img" \
            aria-label="The login page on a \(ground.name) ground">
            <rect width="320" height="168" rx="12"\(attribute: "fill", ground.card.hex)></rect>
            \(picture(accent))\
            <text x="72" y="46" font-size="16" font-weight="600"\(attribute: "fill", ground.text.hex)>\(name.text)</text>
            <rect x="20" y="76" width="280" height="40" rx="10"\(attribute: "fill", accent.hex)></rect>
            <text x="160" y="101" font-size="15" font-weight="600" text-anchor="middle"\
            \(attribute: "fill", accent.onAccent.hex)>Sign in</text>
            <text x="160" y="146" font-size="13" text-anchor="middle"\(attribute: "fill", ground.link.hex)>\
            \(links == 0 ? "Use your phone" : "Privacy, terms, help")</text></svg>
            <figcaption>On a \(ground.name) ground</figcaption></figure>

            """
    }

    private func picture(_ accent: AccentColor) -> HTML {
        if let logo = app.logo {
            return "<image x=\"20\" y=\"20\" width=\"40\" height=\"40\" href=\"\(logo)\"></image>\n"
        }
        return """
            <rect x="20" y="20" width="40" height="40" rx="10"\(attribute: "fill", accent.hex)></rect>\
            <text x="40" y="47" font-size="20" font-weight="600" text-anchor="middle"\
            \(attribute: "fill", accent.onAccent.hex)>\(DisplayName(app.name).initial)</text>

            """
    }
}
