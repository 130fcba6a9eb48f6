/// Shows a device that was signed in, by a phone or in another way, and ends its session if the user did not do that. Opening the page ends nothing,
/// because programs follow the links in messages.
public struct NotMePage: HTMLPage {
    /// The app on the device.
    public var app: PageApp
    /// The hidden fields.
    public var form: FormState
    /// The name or the `User-Agent` of the device.
    public var device: String?
    /// City and country of its address.
    public var place: String?
    /// Seconds since 1970 at which the session began.
    public var signedInAt: Int64
    /// Whether a phone has let the device in.
    public var isByPhone: Bool
    /// Whether the box "every other session" is ticked.
    public var endsAll: Bool
    /// Why the form counted for nothing.
    public var stale: StaleForm?

    /// A question.
    public init(
        app: PageApp, form: FormState, device: String?, place: String?, signedInAt: Int64, isByPhone: Bool = true,
        endsAll: Bool = false, stale: StaleForm? = nil
    ) {
        self.app = app
        self.form = form
        self.device = device
        self.place = place
        self.signedInAt = signedInAt
        self.isByPhone = isByPhone
        self.endsAll = endsAll
        self.stale = stale
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let name = DisplayName(app.name)
        let content: HTML = """
            \(Controls.checkbox(.endSessions, words.notMeEverywhere, isOn: endsAll))
            \(Controls.button(words.notMeEnd, .danger))
            """
        return PageFrame(
            words: words, language: language, title: words.notMeTitle, app: app,
            isError: stale == .cookiesBlocked, ways: [Controls.link(.account, words.yourAccount)],
            content: """
                <h1>\(words.notMeTitle)</h1>
                <p class="lead">\(isByPhone ? words.notMeBody(name) : words.notMeLogin(name))</p>
                \(stale?.notice(words).html)<dl class="box">
                \(device.map { "<dt>\(words.device)</dt><dd>\(DisplayName($0, max: 120))</dd>\n" as HTML })\
                <dt>\(words.place)</dt><dd>\(place.map { "\(DisplayName($0))" } ?? "\(words.unknownPlace)" as HTML)</dd>
                <dt>\(words.signedInSince)</dt><dd>\(Controls.time(signedInAt, words))</dd></dl>
                <p>\(words.notMeElse)</p>
                \(Controls.form(.notMe, form, content))
                """
        ).html
    }
}

/// A session that has ended.
public struct SignedOutSession: Hashable, Sendable {
    /// The app; nil: the session is that of the browser itself.
    public var app: String?
    /// The name or the `User-Agent` of the device.
    public var device: String?

    /// A session of an app on a device.
    public init(app: String?, device: String?) { (self.app, self.device) = (app, device) }
}

/// The sessions of a device that the user did not let in have ended.
public struct NotMeDonePage: HTMLPage {
    /// Those that have ended.
    public var ended: [SignedOutSession]
    /// Whether all other sessions of the user have ended as well.
    public var endsAll: Bool
    /// Whether the session was over already.
    public var wasOver: Bool

    /// A confirmation.
    public init(ended: [SignedOutSession] = [], endsAll: Bool = false, wasOver: Bool = false) {
        (self.ended, self.endsAll, self.wasOver) = (ended, endsAll, wasOver)
    }

    /// The whole document.
    public func html(in language: PageLanguage) -> HTML {
        let words = language.words
        let lines = ended.map { session in
            let app: HTML = session.app.map { "\(DisplayName($0))" } ?? words.notMeBrowser
            return "<li>\(app)\(session.device.map { " · \(DisplayName($0, max: 120))" as HTML })</li>\n" as HTML
        }
        let list: HTML? =
            lines.isEmpty ? nil : "<p>\(words.notMeEnded)</p>\n<ul class=\"list\">\n\(lines)</ul>\n" as HTML
        return PageFrame(
            words: words, language: language, title: words.notMeDone,
            content: """
                <span class="tick" aria-hidden="true"></span>
                <h1>\(words.notMeDone)</h1>
                <p class="lead">\(wasOver ? words.notMeWasOver : words.notMeDoneBody)</p>
                \(list)\(endsAll ? "<p>\(words.notMeEndedAll)</p>\n" as HTML : nil)\
                \(Controls.linkButton(PageURL(.accountSecurity), "\(words.changePassword)", .secondary))
                """
        ).html
    }
}
